# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What there is of memory, as Linux tells it, and what is too much."""

import math
import pathlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import command_line
from vacl_tf.launch import memory

_MACHINE = {'proc/meminfo': 'MemTotal: 9 kB\nMemAvailable:   4000 kB\n'}
_MACHINE_BYTES = 4_096_000
_STAT = {'memory.stat': 'anon 1\ninactive_file 50\ntotal_inactive_file 60'}
_V2 = {'memory.max': '900', 'memory.current': '300'} | _STAT
_V1 = {
  'memory.limit_in_bytes': '900',
  'memory.usage_in_bytes': '300',
} | _STAT


def _below(folder: str, files: dict[str, str]) -> dict[str, str]:
  return {f'{folder}/{name}': text for name, text in files.items()}


class AvailableTest(parameterized.TestCase):
  @parameterized.named_parameters(
    ('nothing is told', {}, math.inf),
    ('no group', _MACHINE, _MACHINE_BYTES),
    (
      'a group',
      {'proc/self/cgroup': '0::/job/step'} | _below('sys/fs/cgroup/job', _V2),
      650,
    ),
    (
      'a container',
      {'proc/self/cgroup': '0::/'} | _below('sys/fs/cgroup', _V2),
      650,
    ),
    (
      'no limit',
      {'proc/self/cgroup': '0::/'}
      | _below('sys/fs/cgroup', _V2 | {'memory.max': 'max'}),
      _MACHINE_BYTES,
    ),
    (
      'the older version',
      {'proc/self/cgroup': '9:cpu:/x\n4:memory:/job'}
      | _below('sys/fs/cgroup/memory/job', _V1),
      660,
    ),
  )
  def test_the_least_of_what_is_told_counts(self, files, expected):
    root = pathlib.Path(self.create_tempdir().full_path)
    if files:
      files = _MACHINE | files
    for name, text in files.items():
      (root / name).parent.mkdir(parents=True, exist_ok=True)
      (root / name).write_text(text)
    self.assertEqual(memory.available(root), expected)


class CheckTest(absltest.TestCase):
  def test_too_much_is_refused_with_what_to_lower(self):
    needed = {'ppo.a': 2.0 * 2**30, 'ppo.b or ppo.c': 3.0 * 2**30}
    with mock.patch.object(memory, 'available', return_value=4.5 * 2**30):
      with self.assertRaisesRegex(
        command_line.UsageError,
        'about 5.0 GiB of memory, but only 4.5 GiB are free; lower ppo.b or '
        'ppo.c$',
      ):
        memory.check(needed)
      memory.check({'ppo.a': 4.0 * 2**30})


if __name__ == '__main__':
  absltest.main()
