# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whatever happens to either process, messages stay whole."""

import os
import signal
import subprocess
import sys
import time
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.client import process

# A process that needs no TensorFlow. It doubles, asks, interrupts or dies.
_STUB = """
import os, sys, time
sys.path += sys.argv[1:]
import numpy as np
from vacl_tf.client import wire
requests, answers = sys.stdin.buffer, sys.stdout.buffer
while True:
  header, arrays = wire.read(requests)
  do = header['do']
  if do == 'ask':
    for number in range(header['times']):
      tasks = np.full([2, 1], number)
      wire.write(answers, {'ask': 'feasible'}, {'tasks': tasks})
      told, found = wire.read(requests)
      if 'failed' in told:
        break
    wire.write(answers, {'error': 'it failed'} if 'failed' in told else {})
  elif do == 'interrupt':
    for _ in range(header['times']):
      os.kill(os.getppid(), 2)
      time.sleep(0.1)
    time.sleep(header['seconds'])
    wire.write(answers, {})
  elif do == 'die':
    print('first line', file=sys.stderr)
    print('no room left', file=sys.stderr)
    os._exit(3)
  elif do == 'garble':
    answers.write(b'Hello! ' * 10)
    answers.flush()
  elif do == 'refuse':
    wire.write(answers, {'error': 'that is wrong; give another'})
  else:
    wire.write(answers, {'pid': os.getpid()}, {'x': 2 * arrays['x']})
"""

# A process of the trainer's that outlives it, with its ends of the pipes.
_FORK = """
if not os.fork():
  os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
  time.sleep(45)
  os._exit(0)
"""


class ProcessTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.object(process, '_PROGRAM', _STUB))
    self._asked = []
    self._process = process.Process(None, self._answer)
    self.addCleanup(self._process.close)

  def _answer(self, tasks):
    self._asked.append(tasks)
    return np.array([[True], [False]])

  def _double(self):
    x = np.arange(5)
    reply, arrays = self._process.exchange({'do': 'double'}, {'x': x})
    np.testing.assert_array_equal(arrays['x'], 2 * x)
    return reply['pid']

  def _is_alive(self, pid):
    try:
      with open(f'/proc/{pid}/stat') as file:
        return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
      return False

  def test_questions_come_before_the_answer(self):
    self._process.exchange({'do': 'ask', 'times': 3})
    self.assertEqual([x[0, 0] for x in self._asked], [0, 1, 2])
    self._double()

  def test_what_is_refused_harms_nothing(self):
    with self.assertRaisesWithLiteralMatch(
      ValueError, 'that is wrong; give another'
    ):
      self._process.exchange({'do': 'refuse'})
    self._double()

  def test_what_the_user_raises_is_raised(self):
    for error in (KeyError('mine'), KeyboardInterrupt()):
      with mock.patch.object(self._process, '_answer', side_effect=error):
        with self.assertRaises(type(error)) as raised:
          self._process.exchange({'do': 'ask', 'times': 3})
        self.assertIs(raised.exception, error)
      self._double()

  def test_no_request_while_it_asks(self):
    def answer(tasks):
      self._process.exchange({'do': 'double'}, {'x': tasks})

    with mock.patch.object(self._process, '_answer', answer):
      with self.assertRaisesRegex(
        process.StoppedError, 'is waiting for feasible'
      ):
        self._process.exchange({'do': 'ask', 'times': 1})
    self._double()

  def test_its_death_is_one_line(self):
    for _ in range(2):
      with self.assertRaisesWithLiteralMatch(
        process.StoppedError,
        'the process of the curriculum has ended (exit code 3: no room left); '
        'load a saved one, or make another',
      ):
        self._process.exchange({'do': 'die'})

  def test_a_kill_is_one_line(self):
    os.kill(self._double(), signal.SIGKILL)
    with self.assertRaisesRegex(process.StoppedError, r'\(signal 9\)'):
      self._double()

  def test_garble_ends_it(self):
    pid = self._double()
    with self.assertRaisesRegex(process.StoppedError, 'signal 9'):
      self._process.exchange({'do': 'garble'})
    self.assertFalse(self._is_alive(pid))

  def test_a_closed_one_says_so(self):
    pid = self._double()
    self._process.close()
    self._process.close()
    self.assertFalse(self._is_alive(pid))
    with self.assertRaisesRegex(process.StoppedError, 'is closed'):
      self._double()

  def test_ctrl_c_waits_for_the_answer(self):
    before = signal.getsignal(signal.SIGINT)
    with self.assertRaises(KeyboardInterrupt):
      self._process.exchange({'do': 'interrupt', 'times': 1, 'seconds': 0})
    self._double()
    self.assertEqual(signal.getsignal(signal.SIGINT), before)

  def test_a_second_ctrl_c_stops_it(self):
    pid = self._double()
    began = time.monotonic()
    with self.assertRaises(KeyboardInterrupt):
      self._process.exchange({'do': 'interrupt', 'times': 2, 'seconds': 60})
    self.assertLess(time.monotonic() - began, 30)
    with self.assertRaisesRegex(
      process.StoppedError, 'interrupted during a request by'
    ):
      self._double()
    self._process.close()
    self.assertFalse(self._is_alive(pid))

  def test_ctrl_c_reaches_the_function_of_the_user(self):
    def answer(tasks):
      os.kill(os.getpid(), signal.SIGINT)
      time.sleep(10)

    with mock.patch.object(self._process, '_answer', answer):
      with self.assertRaises(KeyboardInterrupt):
        self._process.exchange({'do': 'ask', 'times': 1})
    self._double()

  def test_a_fork_can_not_use_it(self):
    read, write = os.pipe()
    child = os.fork()
    if not child:
      try:
        self._double()
      except process.StoppedError as error:
        os.write(write, str(error).encode())
      finally:
        os._exit(0)
    os.waitpid(child, 0)
    self.assertIn(f'belongs to process {os.getpid()}', str(os.read(read, 999)))
    self._double()

  @parameterized.named_parameters(('alone', ''), ('forked', _FORK))
  def test_it_ends_with_the_trainer(self, before):
    program = (
      'import os, time, numpy as np\n'
      'from vacl_tf.client import process\n'
      'p = process.Process(None, None)\n'
      'try:\n'
      "  p.exchange({'do': 'nothing that there is'})\n"
      'except ValueError:\n'
      '  print(p._popen.pid, flush=True)\n'
      f'{before}\n'
      'os.kill(os.getpid(), 9)\n'
    )
    path = os.pathsep.join(x for x in sys.path if x)
    ended = subprocess.run(
      [sys.executable, '-c', program],
      stdout=subprocess.PIPE,
      env={**os.environ, 'PYTHONPATH': path},
    )
    pid, deadline = int(ended.stdout), time.monotonic() + 20
    while self._is_alive(pid) and time.monotonic() < deadline:
      time.sleep(0.05)
    self.assertFalse(self._is_alive(pid))

  def test_another_interpreter_finds_the_package_and_not_its_modules(self):
    program = (
      'import sys\n'
      'from importlib.machinery import PathFinder\n'
      "names = 'vacl_tf', 'client', 'reading', 'types'\n"
      'found = [x for x in names if PathFinder.find_spec(x, sys.argv[1:])]\n'
      "sys.exit(','.join(found) or 'nothing')\n"
    )
    with mock.patch.object(process, '_PROGRAM', program):
      other = process.Process(sys.executable, None)
    self.addCleanup(other.close)
    with self.assertRaisesRegex(
      process.StoppedError, 'exit code 1: vacl_tf\\)'
    ):
      other.exchange({'do': 'anything'})

  def test_an_interpreter_that_is_none(self):
    with self.assertRaisesWithLiteralMatch(
      process.StoppedError,
      "python='/no/python' cannot be run (No such file or directory); give "
      'the path of an interpreter',
    ):
      process.Process('/no/python', None)


if __name__ == '__main__':
  absltest.main()
