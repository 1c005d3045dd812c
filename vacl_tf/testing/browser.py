# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Controls a real browser without a window: Chromium, through two pipes.

The pipes carry the Chrome DevTools Protocol,
https://chromedevtools.github.io/devtools-protocol. Each message is a JSON
object followed by a zero byte. No package is needed for that.
"""

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

_NAMES = ('chromium', 'chromium-browser', 'google-chrome')
_FLAGS = (
  '--headless',
  '--no-sandbox',  # Root can't use the sandbox, and the page is our own.
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-pipe',
)
_SECONDS = 60.0  # Longest wait for an answer.
# The browser reads from descriptor 3 and writes to descriptor 4.
_RENUMBER = """
import os, sys
pipes = [os.dup(int(number)) for number in sys.argv[1:3]]
for number, pipe in enumerate(pipes, 3):
  os.dup2(pipe, number)
  os.set_inheritable(number, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
_CLICK = {'button': 'left', 'clickCount': 1}


def find() -> str | None:
  """Returns the path of a browser, or None if there is none."""
  return next(filter(None, map(shutil.which, _NAMES)), None)


class Page:
  """A tab of the browser.

  Attributes:
    complaints: errors and warnings in the console so far, and requests for
      anything but local content.
  """

  def __init__(self, commands: int, answers: int) -> None:
    """Opens a tab.

    Args:
      commands: descriptor that the browser reads from.
      answers: descriptor that the browser writes to.
    """
    self.complaints: list[str] = []
    self._commands = commands
    self._answers = answers
    self._unread = b''
    self._number = 0
    self._session: dict[str, str] = {}
    target = self.ask('Target.createTarget', url='about:blank')['targetId']
    found = self.ask('Target.attachToTarget', targetId=target, flatten=True)
    self._session = {'sessionId': found['sessionId']}
    for part in ('Page', 'Runtime', 'Log', 'Network'):
      self.ask(f'{part}.enable')

  def ask(self, method: str, **params: Any) -> dict[str, Any]:
    """Sends a command of the protocol and returns the answer."""
    self._number += 1
    message = {'id': self._number, 'method': method, 'params': params}
    text = json.dumps(message | self._session)
    os.write(self._commands, text.encode() + b'\0')
    while True:
      answer = self._read()
      if answer.get('id') == self._number:
        if 'error' in answer:
          raise RuntimeError(f'{method}: {answer["error"]}')
        return answer['result']
      self._note(answer)

  def open(self, path: pathlib.Path, width: int, height: int = 900) -> None:
    """Shows a file in a window of this size in pixels; waits until loaded."""
    self.ask(
      'Emulation.setDeviceMetricsOverride',
      width=width,
      height=height,
      deviceScaleFactor=1,
      mobile=False,
    )
    self.ask('Page.navigate', url=path.absolute().as_uri())
    self.wait("document.readyState === 'complete'")
    self.wait_for_frames()

  def wait(self, condition: str) -> None:
    """Waits until a JavaScript expression is true."""
    end = time.monotonic() + _SECONDS
    while not self.value(condition):
      if time.monotonic() > end:
        raise TimeoutError(f'{condition} did not come true')
      time.sleep(0.05)

  def wait_for_frames(self) -> None:
    """Waits until all changes are on the screen."""
    frame = 'new Promise((done) => requestAnimationFrame(() => done()))'
    self.value(f'{frame}.then(() => {frame})')

  def value(self, expression: str) -> Any:
    """Returns the value of a JavaScript expression, as JSON."""
    found = self.ask(
      'Runtime.evaluate',
      expression=expression,
      returnByValue=True,
      awaitPromise=True,
    )
    if 'exceptionDetails' in found:
      raise RuntimeError(f'{expression}: {found["exceptionDetails"]}')
    return found['result'].get('value')

  def click(self, x: float, y: float) -> None:
    """Clicks at a position in the window, in pixels."""
    for kind in ('mousePressed', 'mouseReleased'):
      self.ask('Input.dispatchMouseEvent', type=kind, x=x, y=y, **_CLICK)
    self.wait_for_frames()

  def press(self, key: str) -> None:
    """Presses a key; the element in focus receives it."""
    code = {'ArrowLeft': 37, 'ArrowRight': 39, 'Home': 36, 'End': 35}[key]
    for kind in ('keyDown', 'keyUp'):
      self.ask(
        'Input.dispatchKeyEvent',
        type=kind,
        key=key,
        code=key,
        windowsVirtualKeyCode=code,
      )
    self.wait_for_frames()

  def picture(self, path: pathlib.Path) -> None:
    """Writes the whole page as PNG."""
    found = self.ask('Page.captureScreenshot', captureBeyondViewport=True)
    path.write_bytes(base64.b64decode(found['data']))

  def _read(self) -> dict[str, Any]:
    """Returns the next message."""
    while b'\0' not in self._unread:
      if not select.select([self._answers], [], [], _SECONDS)[0]:
        raise TimeoutError('the browser does not answer')
      found = os.read(self._answers, 1 << 16)
      if not found:
        raise RuntimeError('the browser has ended')
      self._unread += found
    message, _, self._unread = self._unread.partition(b'\0')
    return json.loads(message)

  def _note(self, event: dict[str, Any]) -> None:
    """Adds an event to `complaints` if it should not occur."""
    method, params = event.get('method'), event.get('params', {})
    if method == 'Runtime.exceptionThrown':
      self.complaints.append(json.dumps(params['exceptionDetails']))
    elif method == 'Runtime.consoleAPICalled':
      self.complaints.append(json.dumps(params['args']))
    elif method == 'Log.entryAdded':
      self.complaints.append(params['entry']['text'])
    elif method == 'Network.requestWillBeSent':
      url = params['request']['url']
      if not url.startswith(('file:', 'data:', 'about:')):
        self.complaints.append(f'asked for {url}')


@contextlib.contextmanager
def started(program: str) -> Iterator[Page]:
  """Starts a browser, yields a tab, and ends the browser afterwards."""
  to_browser, commands = os.pipe()
  answers, from_browser = os.pipe()
  with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    process = subprocess.Popen(
      [
        *(sys.executable, '-c', _RENUMBER, str(to_browser), str(from_browser)),
        *(program, *_FLAGS, f'--user-data-dir={folder}'),
      ],
      pass_fds=(to_browser, from_browser),
      stdout=subprocess.DEVNULL,
      stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
      yield Page(commands, answers)
    finally:
      os.close(commands)
      os.close(answers)
      process.terminate()
      process.wait()
