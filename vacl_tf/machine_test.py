# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import os
from unittest import mock

from absl.testing import absltest

from vacl_tf import machine


class MachineTest(absltest.TestCase):
  def test_cpus_are_those_of_the_process(self):
    with mock.patch.object(os, 'sched_getaffinity', lambda _: {5, 3}):
      self.assertEqual(machine.cpus(), [3, 5])

  def test_where_the_system_does_not_tell_all_count(self):
    affinity = os.sched_getaffinity
    del os.sched_getaffinity
    self.addCleanup(setattr, os, 'sched_getaffinity', affinity)
    self.assertLen(machine.cpus(), os.cpu_count())

  def test_threads_are_bound_by_cpus_and_by_what_is_asked_for(self):
    self.addCleanup(machine.bound_threads, machine.MANY_THREADS)
    with mock.patch.object(os, 'sched_getaffinity', lambda _: {1, 2, 3}):
      self.assertEqual(machine.threads(), 3)
      machine.bound_threads(2)
      self.assertEqual(machine.threads(), 2)
      machine.bound_threads(7)
      self.assertEqual(machine.threads(), 3)

  def test_the_processor_has_a_name(self):
    self.assertTrue(machine.processor().isprintable())


if __name__ == '__main__':
  absltest.main()
