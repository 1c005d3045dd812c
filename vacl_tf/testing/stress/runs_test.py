# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tiny runs are possible ones."""

from absl.testing import absltest

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.testing.stress import runs


class RunsTest(absltest.TestCase):
  def test_configs_are_allowed(self):
    for kind in runs.KINDS:
      cfg = overrides.replace(presets.make(env=kind.env), kind.sizes)
      bounds.check(cfg)
      catalog.TASKS.get(kind.env).make(cfg.environment)

  def test_one_in_a_graph_and_one_outside(self):
    self.assertNotEqual(
      *(type(catalog.TASKS.get(x.env).world) for x in runs.KINDS)
    )

  def test_length_and_intervals(self):
    flags = runs.PARTICLE.flags(iterations=7)
    self.assertIn(f'--num_env_steps={7 * runs.PARTICLE.steps}', flags)
    for kind in runs.KINDS:
      # The last iteration is evaluated and saved in any case.
      self.assertEqual(kind.iterations % (2 * kind.every), 0)


if __name__ == '__main__':
  absltest.main()
