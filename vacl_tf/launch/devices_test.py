# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A process sees the device that it is told of, and no other."""

import pathlib
import subprocess
import sys
from unittest import mock

import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import machine
from vacl_tf.launch import command_line
from vacl_tf.launch import devices
from vacl_tf.testing import commands


class DevicesTest(parameterized.TestCase):
  @parameterized.parameters(
    ('auto', 0, 1, None),
    ('auto', 2, 0, 0),
    ('auto', 2, 1, 1),
    ('auto', 2, 5, 1),
    ('cpu', 2, 1, None),
    ('gpu:0', 2, 1, 0),
    ('gpu:1', 2, 0, 1),
  )
  def test_one_gpu_or_none_is_seen(self, text, count, local_index, expected):
    gpus = [f'GPU {index}' for index in range(count)]
    with (
      mock.patch.object(tf.config, 'list_physical_devices', lambda _: gpus),
      mock.patch.object(tf.config, 'set_visible_devices') as see,
      mock.patch.object(tf.config.experimental, 'set_memory_growth') as grow,
      mock.patch.object(command_line, 'is_own_process', lambda: True),
      mock.patch.object(devices, 'DEVICE', mock.Mock(value=text)),
    ):
      devices.use(local_index)
    visible = [] if expected is None else [gpus[expected]]
    see.assert_called_once_with(visible, 'GPU')
    self.assertEqual(grow.mock_calls, [mock.call(x, True) for x in visible])

  @parameterized.parameters('gpu', 'gpu:', 'gpu:7', 'gpu:-1', 'tpu', '', '0')
  def test_what_is_not_there_is_refused(self, text):
    with (
      mock.patch.object(devices, 'DEVICE', mock.Mock(value=text)),
      self.assertRaisesRegex(command_line.UsageError, f'device={text} is not'),
    ):
      devices.use()

  def test_threads_are_bound(self):
    program = (
      'import sys; sys.argv[1:] = ["--threads=1"]\n'
      'from vacl_tf.launch import command_line, devices\n'
      'from vacl_tf import machine\n'
      'import tensorflow as tf\n'
      'import threadpoolctl\n'
      'def main():\n'
      '  devices.bound_threads()\n'
      '  threading = tf.config.threading\n'
      '  print(machine.threads(),\n'
      '    threading.get_intra_op_parallelism_threads(),\n'
      '    threading.get_inter_op_parallelism_threads())\n'
      '  from scipy import linalg\n'  # Has a BLAS of its own.
      '  print(*[x["num_threads"] for x in threadpoolctl.threadpool_info()])\n'
      'command_line.start(main, command_line.defines(devices.THREADS))\n'
    )
    environment = commands.environment()
    environment.pop('OPENBLAS_NUM_THREADS', None)  # Tests set it.
    ended = subprocess.run(
      [sys.executable, '-c', program],
      capture_output=True,
      text=True,
      env=environment,
      check=True,
    )
    self.assertEqual(ended.stdout.splitlines(), ['1 1 1', '1 1'])

  @parameterized.parameters(
    ('main', '--threads=1'), ('main', '--num_replicas=2'), ('check',)
  )
  def test_tensors_that_are_made_at_import_are_refused(self, command, *flags):
    path = pathlib.Path(self.create_tempdir().full_path, 'mine.py')
    path.write_text('import tensorflow as tf\nONE = tf.constant(1.0)\n')
    command = [f'vacl_tf.launch.{command}', f'--import={path}', *flags]
    ended = subprocess.run(
      [sys.executable, '-m', *command],
      capture_output=True,
      text=True,
      env=commands.environment(),
      cwd=path.parent,
    )
    self.assertEqual(ended.returncode, command_line.USAGE, ended.stderr)
    self.assertIn('import: a module creates tensors', ended.stderr)
    self.assertNotIn('Traceback', ended.stderr)

  def test_a_call_from_python_leaves_threads_alone(self):
    with mock.patch.object(devices, 'THREADS', mock.Mock(value=1)):
      devices.bound_threads()
    self.assertEqual(machine.threads(), len(machine.cpus()))


if __name__ == '__main__':
  absltest.main()
