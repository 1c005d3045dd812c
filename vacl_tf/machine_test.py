# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import platform
import resource
import sys
from unittest import mock

import numpy as np
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

  def test_models_of_one_name_are_told_apart(self):
    x86 = ('model\t: 207', 'model name\t: Some CPU', 'flags\t\t: fpu avx')
    arm = ('CPU part\t: 0xd0c', 'Features\t: fp sve')
    second = ('', 'model\t: 1', 'flags\t: fpu')
    for lines, name, sets in (
      ((*x86, *second), 'Some CPU, model 207', 'fpu avx'),
      (arm, 'CPU part 0xd0c', 'fp sve'),
    ):
      text = '\n'.join(lines)
      with (
        mock.patch.object(pathlib.Path, 'exists', return_value=True),
        mock.patch.object(pathlib.Path, 'read_text', return_value=text),
        mock.patch.object(platform, 'processor', return_value=''),
      ):
        self.assertEqual(machine.processor(), name)
        self.assertEqual(machine.instruction_sets(), sets)

  def test_the_peak_memory_is_in_megabytes(self):
    peak = machine.peak_memory_mb()
    block = np.ones(200 * 2**20, np.uint8)
    self.assertBetween(peak, 5, 2**20)
    self.assertBetween(machine.peak_memory_mb(), 200, peak + 300)
    del block
    self.assertGreaterEqual(machine.peak_memory_mb(), 200)

  def test_macos_counts_the_peak_in_bytes(self):
    usage = mock.Mock(ru_maxrss=3 * 2**20)
    with mock.patch.object(resource, 'getrusage', return_value=usage):
      with mock.patch.object(sys, 'platform', 'darwin'):
        self.assertEqual(machine.peak_memory_mb(), 3)
      with mock.patch.object(sys, 'platform', 'linux'):
        self.assertEqual(machine.peak_memory_mb(), 3 * 2**10)

  def test_where_nothing_tells_there_is_no_peak(self):
    with mock.patch.dict(sys.modules, {'resource': None}):
      self.assertIsNone(machine.peak_memory_mb())


if __name__ == '__main__':
  absltest.main()
