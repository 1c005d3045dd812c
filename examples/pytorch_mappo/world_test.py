# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The worlds are MPE2's, step by step: python world_test.py."""

import numpy as np
import world
from absl.testing import absltest
from mpe2 import simple_spread_v3

_NUM_WORLDS = 20


def _coverage(env: simple_spread_v3.parallel_env) -> float:
  """Returns the share of landmarks with an agent within 0.15 m."""
  inner = env.unwrapped.world
  return sum(
    any(
      np.hypot(*(agent.state.p_pos - landmark.state.p_pos)) < 0.15
      for agent in inner.agents
    )
    for landmark in inner.landmarks
  ) / len(inner.landmarks)


class WorldsTest(absltest.TestCase):
  """Compares with the environment that MPE2 offers."""

  def test_observations_and_coverage_are_those_of_mpe2(self) -> None:
    rng = np.random.default_rng(0)
    tasks = rng.uniform(-3.0, 3.0, [_NUM_WORLDS, world.TASK_SIZE])
    tasks[::2] *= 0.1  # Agents that push each other.
    actions = rng.integers(5, size=[world.HORIZON, *tasks.shape[:1], 3])
    worlds = world.Worlds(_NUM_WORLDS)
    worlds.place(rng.permutation(tasks))  # Nothing of it may be left.
    worlds.step(actions[0])
    seen, covered = [worlds.place(tasks)], []
    for chosen in actions:
      observed, coverage = worlds.step(chosen)
      seen.append(observed)
      covered.append(coverage)
    self.assertGreater(np.mean(covered), 0.01)
    for index, task in enumerate(tasks):
      env = simple_spread_v3.parallel_env(N=3, max_cycles=world.HORIZON)
      env.reset(seed=index)
      entities = env.unwrapped.world.entities
      for entity, place in zip(entities, task.reshape([-1, 2]), strict=True):
        entity.state.p_pos = place.copy()
      for step, chosen in enumerate(actions[:, index]):
        self._compare(env, seen[step][index])
        env.step(dict(zip(env.agents, chosen.tolist(), strict=True)))
        self.assertAlmostEqual(covered[step][index], _coverage(env))
      env.agents = env.possible_agents
      self._compare(env, seen[-1][index])

  def _compare(
    self, env: simple_spread_v3.parallel_env, observed: np.ndarray
  ) -> None:
    for name, given in zip(env.possible_agents, observed, strict=True):
      theirs = env.unwrapped.observe(name)
      np.testing.assert_array_equal(given, theirs[: len(given)])
      self.assertFalse(theirs[len(given) :].any())


if __name__ == '__main__':
  absltest.main()
