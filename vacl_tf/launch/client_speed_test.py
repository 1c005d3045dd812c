# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The figures are there, and are those of something."""

from absl.testing import absltest

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf.launch import client_speed


class ClientSpeedTest(absltest.TestCase):
  def test_every_kind_has_its_figures(self):
    found = client_speed.measure(rounds=2, warm_rounds=1)
    self.assertEqual(list(found), ['box', 'feasible', 'eager'])
    for figures in found.values():
      self.assertBetween(figures['sample_ms'], 0.01, 60_000)
      self.assertLessEqual(figures['least_update_ms'], figures['update_ms'])


if __name__ == '__main__':
  absltest.main()
