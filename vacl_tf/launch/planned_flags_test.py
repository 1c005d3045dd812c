# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""launch.main takes the flags of all runs that are planned here."""

from absl.testing import absltest

from vacl_tf import benchmark_protocol
from vacl_tf import catalog
from vacl_tf import overrides
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.testing import commands


class PlannedFlagsTest(absltest.TestCase):
  def _config(self, run):
    """Returns the config that launch.main makes of a run's flags."""
    made = []

    def make():
      made.append(main.make_config())
      main.make_length(made[0])

    code, _, error = commands.run(
      lambda: command_line.run(make, main.define), *run.flags
    )
    self.assertEqual(code, 0, f'{run.name}: {error}')
    return made[0]

  def test_studies(self):
    for name in studies.STUDIES.names():
      for run in studies.list_runs(studies.find(name), (100,)):
        with self.subTest(name, run=run.name):
          self._config(run)

  def test_benchmark(self):
    for curriculum in catalog.CURRICULA.names():
      for run in benchmark_protocol.list_runs(curriculum, is_smoke=False):
        if run.seed == 100:
          with self.subTest(curriculum, run=run.name):
            cfg = self._config(run)
            self.assertEqual(cfg.agent.name, 'attention')
            self.assertEqual(cfg.curriculum.name, curriculum)
            pinned = benchmark_protocol.LEARNERS[run.task.name]
            leaves = overrides.leaves(cfg)
            self.assertEqual(pinned, {name: leaves[name] for name in pinned})


if __name__ == '__main__':
  absltest.main()
