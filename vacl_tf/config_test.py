# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Config classes are frozen, and every number in them has bounds."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides


def _all() -> Iterator[Any]:
  """Yields the constants of every task, agent and curriculum, and the rest."""
  yield from (config.Config(), config.RunLength())
  for task in map(catalog.TASKS.get, catalog.TASKS.names()):
    yield task.world
  for agent in map(catalog.AGENTS.get, catalog.AGENTS.names()):
    yield agent.config()
  for curriculum in map(catalog.CURRICULA.get, catalog.CURRICULA.names()):
    yield curriculum.config(name=curriculum.name)


class ConfigTest(parameterized.TestCase):
  def test_every_number_has_bounds_that_its_default_keeps(self):
    for node in _all():
      for name, value in overrides.leaves(node).items():
        if isinstance(value, int | float) and not isinstance(value, bool):
          bounds = overrides.bounds(node, name)
          self.assertIsNotNone(bounds, f'{type(node).__name__}.{name}')
          self.assertBetween(value, bounds.low, bounds.high, name)

  def test_defaults_are_among_the_choices(self):
    for node in _all():
      for name, value in overrides.leaves(node).items():
        if choices := overrides.choices(node, name):
          self.assertIn(value, choices, name)

  @parameterized.parameters(
    (config.Config(), 'seed'),
    (config.EnvironmentConfig(), 'horizon'),
    (config.RunLength(), 'num_env_steps'),
  )
  def test_configs_are_frozen(self, node, name):
    with self.assertRaises(dataclasses.FrozenInstanceError):
      setattr(node, name, 1)

  def test_counts_are_those_of_the_count_fields(self):
    self.assertEqual(config.EnvironmentConfig(num_agents=3).counts, (3,))
    world = catalog.TASKS.get('lock_and_return').world
    world = dataclasses.replace(world, num_agents=3, num_boxes=5)
    self.assertEqual(world.counts, (3, 5))


if __name__ == '__main__':
  absltest.main()
