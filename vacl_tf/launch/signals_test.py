# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Signals end a command in a line, and never in the midst of a file."""

import os
import pathlib
import signal
import subprocess
import sys
import time

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import signals

_SECONDS = 60  # Far above what anything here takes.

# A main thread that is in C, and never comes back to Python.
_START = """
import ctypes
from vacl_tf.launch import signals
signals.listen()
print('ready', flush=True)
mutex = ctypes.create_string_buffer(100)
ctypes.CDLL(None).pthread_mutex_lock(mutex)
ctypes.CDLL(None).pthread_mutex_lock(mutex)
"""
# One that writes a file, slowly, while signals come.
_SAVE = """
import pathlib, sys, time
from vacl_tf.launch import signals

def save(path):
  print('ready', flush=True)
  while asked.times < 2:
    time.sleep(0.01)
  path.write_text('whole')

with signals.noted(patience=1) as asked:
  asked.whole(save)(pathlib.Path(sys.argv[1]))
  time.sleep(1000)
"""
_HANGUP = """
import time
from vacl_tf.launch import signals
signals.listen()
print('ready', flush=True)
time.sleep(1000)
"""


def _start(*command: str) -> subprocess.Popen:
  """Starts a command, and waits for its first line."""
  process = subprocess.Popen(
    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
  )
  assert process.stdout.readline() == 'ready\n', process.stderr.read()
  return process


class ListenTest(parameterized.TestCase):
  @parameterized.parameters(
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1
  )
  def test_a_process_in_c_code_ends_at_once_with_a_line(self, number):
    process = _start(sys.executable, '-c', _START)
    process.send_signal(number)
    out, err = process.communicate(timeout=_SECONDS)
    self.assertEqual(process.returncode, 128 + number)
    self.assertEqual((out, err), ('', f'error: stopped by {number.name}\n'))

  def test_a_hangup_that_is_ignored_from_the_start_stays_so(self):
    process = _start('nohup', sys.executable, '-c', _HANGUP)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=_SECONDS)
    self.assertEqual(process.returncode, 128 + signal.SIGTERM)
    self.assertIn('SIGTERM', err)

  def test_a_command_is_ready_before_it_imports_anything(self):
    # What is imported first of all raises the signal in its own process.
    folder = pathlib.Path(self.create_tempdir().full_path)
    (folder / 'numpy.py').write_text(
      'import os, signal, time\n'
      'os.kill(os.getpid(), signal.SIGINT)\n'
      'time.sleep(1000)\n'
    )
    path = os.pathsep.join([str(folder), *sys.path])
    ended = subprocess.run(
      [sys.executable, '-m', 'vacl_tf.launch.main'],
      env=os.environ | {'PYTHONPATH': path},
      capture_output=True,
      text=True,
      timeout=_SECONDS,
      check=False,
    )
    self.assertEqual(
      (ended.returncode, ended.stderr), (130, 'error: stopped by SIGINT\n')
    )


class NotedTest(absltest.TestCase):
  def test_signals_are_counted_and_left_alone_afterwards(self):
    before = signal.getsignal(signal.SIGUSR1)
    with signals.noted(patience=2) as asked:
      self.assertEqual((asked.number, asked.times), (0, 0))
      for times, number in enumerate((signal.SIGUSR1, signal.SIGTERM), 1):
        os.kill(os.getpid(), number)
        while asked.times < times:
          time.sleep(0.01)
      self.assertEqual(asked.number, signal.SIGUSR1)
    self.assertEqual(signal.getsignal(signal.SIGUSR1), before)
    with signals.noted() as asked:
      self.assertEqual(asked.times, 0)

  def test_signals_of_others_are_left_to_them(self):
    heard = []
    before = signal.signal(
      signal.SIGALRM, lambda number, _: heard.append(number)
    )
    self.addCleanup(signal.signal, signal.SIGALRM, before)
    read, write = os.pipe()  # As an event loop has one.
    os.set_blocking(write, False)
    self.addCleanup(signal.set_wakeup_fd, signal.set_wakeup_fd(write))
    with signals.noted(patience=9) as asked:
      for number in (signal.SIGALRM, signal.SIGUSR1):
        os.kill(os.getpid(), number)
      while not asked.times:
        time.sleep(0.01)
    self.assertEqual((asked.number, asked.times), (signal.SIGUSR1, 1))
    self.assertEqual(heard, [signal.SIGALRM])
    self.assertEqual(os.read(read, 9), bytes([signal.SIGALRM]))

  def test_a_second_signal_waits_for_the_file_in_hand(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'file'
    process = _start(sys.executable, '-c', _SAVE, str(path))
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)  # Two that come together may count as one.
    while process.poll() is None:
      process.send_signal(signal.SIGTERM)
      time.sleep(0.1)
    _, err = process.communicate(timeout=_SECONDS)
    self.assertEqual(process.returncode, 128 + signal.SIGTERM)
    self.assertEqual(err, 'error: stopped by SIGTERM\n')
    self.assertEqual(path.read_text(), 'whole')


if __name__ == '__main__':
  absltest.main()
