# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A case that hangs, crashes or raises is told, and the next one is tried."""

import os
import time

from absl.testing import absltest

from vacl_tf.testing.stress import workers


def _try(case):
  if case == 'hang':
    time.sleep(1000)
  if case == 'crash':
    os._exit(7)
  if case == 'raise':
    raise KeyError(case)
  return case


class WorkersTest(absltest.TestCase):
  def test_each_case_has_its_problem(self):
    cases = ['', 'hang', 'bad', 'crash', '', 'raise', 'worse']
    found = workers.problems(_try, cases, seconds=2.0)
    self.assertEqual([found[i] for i in (0, 2, 4, 6)], ['', 'bad', '', 'worse'])
    self.assertIn('hangs', found[1])
    self.assertIn('crashes: the process ended with 7', found[3])
    self.assertIn('KeyError', found[5])


if __name__ == '__main__':
  absltest.main()
