# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The state of a run."""

import math
from collections.abc import Sequence

import tensorflow as tf

from vacl_tf import agents
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import entity_counts
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.learning import ppo

STOP_WINDOW = 3  # Evaluations whose mean must reach stop_at_coverage.


class Run(tf.Module):
  """All that survives an iteration; a checkpoint of it is the whole resume."""

  def __init__(
    self, cfg: config.Config, envs: Sequence[base.World], replica: int = 0
  ) -> None:
    """Begins a run.

    Args:
      cfg: all constants.
      envs: the world with each entity count, the one to master last.
      replica: index of this process among those that train the run.
    """
    super().__init__(name='run')
    self.root = randomness.root(cfg.seed)
    self._own_root = randomness.root(cfg.seed, replica)
    stream = randomness.fold(self.root, randomness.Stream.CURRICULUM)
    # Agents do not depend on any count.
    self.agent = agents.make(cfg, envs[-1].roles)
    self.learner = ppo.Learner(self.agent, cfg.ppo)
    self.curriculum = curriculum.make(cfg, envs, stream)
    self.iteration = tf.Variable(0, trainable=False, name='iteration')
    self.env_steps = tf.Variable(
      0, trainable=False, dtype=tf.int64, name='env_steps'
    )
    self.wall_seconds = tf.Variable(
      0.0, trainable=False, dtype=tf.float64, name='wall_seconds'
    )
    counts = [entity_counts.spelled(env.counts) for env in envs]
    by_count = [f'coverage_n{n}' for n in counts] if len(envs) > 1 else []
    self.score_names = ('coverage', 'success', *by_count)
    # Latest coverage last; the curriculum sees it, and so does the stop rule.
    self.coverage = tf.Variable(
      tf.fill([len(envs), STOP_WINDOW], math.nan),
      trainable=False,
      name='coverage',
    )

  def seed(self, stream: randomness.Stream, *more: int) -> types.Seed:
    """Returns the seed of a stream at this iteration, of all replicas."""
    return randomness.fold(self.root, stream, self.iteration, *more)

  def own_seed(self, stream: randomness.Stream, *more: int) -> types.Seed:
    """Returns a seed of a stream that no other replica has."""
    return randomness.fold(self._own_root, stream, self.iteration, *more)
