# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests and finally prints the number of cases by outcome.

The tests run under Bazel if there is one or if Debian's can be installed, and
under pytest otherwise. Start this program with the interpreter that has the
requirements; the program itself uses only the standard library.
"""

import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent import futures
from typing import Any
from xml.etree import ElementTree

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_BAZELRC = _ROOT / '.bazelrc'
_BAZEL_NAMES = ('bazel', 'bazelisk')
_DEBIAN_PACKAGE = 'bazel-bootstrap'
_INSTALL_SECONDS = 900  # For 350 MB (with the JDK) over a slow line.
_TEST_SECONDS = 900  # Bazel's time limit for a test of size "large".
# pyproject.toml leaves out the same tests.
_LEFT_OUT = ('_slow_test.py', '_gpu_test.py', '_browser_test.py')
_PYTEST_STATUS = {0: 'PASSED', 1: 'FAILED', 2: 'FAILED', 5: 'NO TESTS'}


@dataclasses.dataclass
class Count:
  """Test cases by outcome."""

  passed: int = 0
  failed: int = 0
  skipped: int = 0

  @property
  def total(self) -> int:
    """All cases."""
    return self.passed + self.failed + self.skipped

  def add(self, other: 'Count') -> None:
    """Adds the cases of `other` to these."""
    self.passed += other.passed
    self.failed += other.failed
    self.skipped += other.skipped

  def __str__(self) -> str:
    line = f'{self.passed} passed, {self.failed} failed'
    return f'{line}, {self.skipped} skipped' if self.skipped else line


def count_cases(report: pathlib.Path) -> Count:
  """Returns the cases in a JUnit report; none if it can't be read."""
  count = Count()
  try:
    cases = list(ElementTree.parse(report).iter('testcase'))
  except (OSError, ElementTree.ParseError):
    return count
  for case in cases:
    if case.get('classname') is None:
      continue  # Not a case: Bazel's entry for a test without a report.
    if case.get('name') == 'test_session':
      continue  # Not a test: a helper in tf.test.TestCase that skips itself.
    if case.find('failure') is not None or case.find('error') is not None:
      count.failed += 1
    elif case.find('skipped') is not None or case.get('status') == 'notrun':
      count.skipped += 1
    else:
      count.passed += 1
  return count


def count_target(
  label: str, reports: Iterable[pathlib.Path], has_passed: bool
) -> Count:
  """Returns the cases of one target; no case at all counts as a failure."""
  count = Count()
  for report in reports:
    count.add(count_cases(report))
  if has_passed and not count.total:
    print(f'{label}: no test case ran; does it end with absltest.main()?')
  if not count.failed and not (has_passed and count.total):
    count.failed = 1
  return count


def find_bazel() -> str | None:
  """Returns the Bazel on PATH, if any."""
  return next(filter(None, map(shutil.which, _BAZEL_NAMES)), None)


def install_bazel() -> None:
  """Tries to install Debian's Bazel, if that needs no password."""
  apt = shutil.which('apt-get')
  if not apt:
    return
  sudo = [] if os.geteuid() == 0 else ['sudo', '-n']
  if sudo and (not shutil.which('sudo') or _run_quietly([*sudo, 'true'])):
    return
  print(f'No Bazel on PATH: installing the package {_DEBIAN_PACKAGE}.')
  command = [*sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', apt, '-qq']
  command += ['-o', 'DPkg::Lock::Timeout=120']
  _run_quietly([*command, 'update'])
  _run_quietly(
    [*command, 'install', '-y', '--no-install-recommends', _DEBIAN_PACKAGE]
  )


def _run_quietly(command: list[str]) -> bool:
  """Runs a command, hides its output and returns whether it failed."""
  try:
    result = subprocess.run(
      command,
      stdin=subprocess.DEVNULL,
      stdout=subprocess.DEVNULL,
      stderr=subprocess.DEVNULL,
      timeout=_INSTALL_SECONDS,
      check=False,
    )
  except (OSError, subprocess.TimeoutExpired):
    return True
  return result.returncode != 0


def run_bazel(bazel: str) -> Count:
  """Runs the tests under Bazel.

  The build events name the targets and reports of this run. The folder
  bazel-testlogs also holds reports of earlier runs.

  Args:
    bazel: path of the Bazel program.

  Returns:
    The cases of all targets.
  """
  with tempfile.TemporaryDirectory() as folder:
    events = pathlib.Path(folder) / 'events.json'
    command = [bazel, 'test', '--keep_going']
    command.append(f'--build_event_json_file={events}')
    if not sys.stdout.isatty():
      command.append('--noshow_progress')
    # A Bazel without Bzlmod uses this interpreter and its packages.
    environment = {**os.environ, 'PYTHON_BIN_PATH': sys.executable}
    exit_code = subprocess.run(
      [*command, '//...'], cwd=_ROOT, env=environment, check=False
    ).returncode
    text = events.read_text() if events.exists() else ''
  count = _count_events([json.loads(line) for line in text.splitlines()])
  if exit_code and not count.failed:
    count.failed = 1  # The build itself failed.
  return count


def _count_events(events: list[dict[str, Any]]) -> Count:
  """Returns the cases that the build events of a run report."""
  targets = set()
  has_passed = {}
  reports = {}
  for event in events:
    kind, content = next(iter(event['id'].items()))
    label = content.get('label')
    if kind == 'targetConfigured':
      if 'testSize' in event.get('configured', {}):
        targets.add(label)
    elif kind == 'testSummary':
      status = event['testSummary']['overallStatus']
      has_passed[label] = status in ('PASSED', 'FLAKY')
    elif kind == 'testResult':
      part = (content.get('run'), content.get('shard'))
      outputs = event['testResult'].get('testActionOutput', [])
      # If there are several attempts, the last one counts.
      reports.setdefault(label, {})[part] = list(_report_paths(outputs))
  count = Count()
  for label in sorted(targets | set(has_passed)):
    paths = [path for part in reports.get(label, {}).values() for path in part]
    count.add(count_target(label, paths, has_passed.get(label, False)))
  return count


def _report_paths(outputs: list[dict[str, str]]) -> Iterator[pathlib.Path]:
  """Yields the local JUnit reports among the outputs of a test."""
  for output in outputs:
    if output['name'] == 'test.xml' and 'uri' in output:
      path = urllib.parse.urlparse(output['uri']).path
      yield pathlib.Path(urllib.request.url2pathname(path))


def run_pytest() -> Count:
  """Runs the test files under pytest, as many at once as there are cores."""
  print('No Bazel to be had: the same tests run under pytest.')
  files = [
    file
    for folder in ('examples', 'vacl_tf')
    for file in sorted(_ROOT.glob(f'{folder}/**/*_test.py'))
    if not file.name.endswith(_LEFT_OUT) and not _is_hidden(file)
  ]
  count = Count()
  with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for of_file in pool.map(_run_file, files):
      count.add(of_file)
  return count


def _run_file(file: pathlib.Path) -> Count:
  """Runs a test file under pytest, in a separate process as Bazel does."""
  name = str(file.relative_to(_ROOT))
  with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / 'test.xml'
    command = [sys.executable, '-m', 'pytest', '-q', f'--junitxml={report}']
    try:
      result = subprocess.run(
        [*command, name],
        cwd=_ROOT,
        env={**os.environ, **_test_environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
        timeout=_TEST_SECONDS,
        check=False,
      )
      exit_code, output = result.returncode, result.stdout
    except subprocess.TimeoutExpired as error:
      said = error.stdout or b''  # Bytes, even with text=True.
      exit_code, output = None, said.decode(errors='replace')
    status = 'TIMEOUT' if exit_code is None else 'CRASHED'
    status = f'{name:70} {_PYTEST_STATUS.get(exit_code, status)}'
    print(f'{"" if exit_code == 0 else output}{status}', flush=True)
    return count_target(name, [report], exit_code == 0)


def _test_environment() -> dict[str, str]:
  """Returns the variables that .bazelrc gives to tests."""
  given = {}
  for line in _BAZELRC.read_text().splitlines():
    command, *words = shlex.split(line, comments=True) or ['']
    for word in words:
      option, _, setting = word.partition('=')
      if (command, option) == ('test', '--test_env'):
        name, _, given[name] = setting.partition('=')
  return given


def _is_hidden(file: pathlib.Path) -> bool:
  """Returns whether a file is in a hidden folder, such as .venv."""
  return any(x.startswith('.') for x in file.relative_to(_ROOT).parts)


def main() -> int:
  """Runs the tests and returns the exit code."""
  sys.stdout.reconfigure(line_buffering=True)
  if not find_bazel():
    install_bazel()
  bazel = find_bazel()
  count = run_bazel(bazel) if bazel else run_pytest()
  print(count)
  return 1 if count.failed or not count.passed else 0


if __name__ == '__main__':
  sys.exit(main())
