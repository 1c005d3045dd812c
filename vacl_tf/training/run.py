# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The state of a run."""

import math
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from vacl_tf import agents
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import entity_counts
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.learning import ppo

STOP_WINDOW = 3  # Evaluations whose mean coverage has to reach a level.
# TensorFlow keeps int32 variables on the CPU, where programs compiled for a GPU
# can't reach them. A curriculum may have some, and is small enough for a CPU.
CURRICULUM_DEVICE = '/CPU:0'


class Run(tf.Module):
  """All state that is kept between iterations, and thus in a checkpoint."""

  def __init__(
    self, cfg: config.Config, envs: Sequence[base.World], replica: int = 0
  ) -> None:
    """Creates the state at the start of a run.

    Args:
      cfg: all constants.
      envs: the world with each entity count; the final count comes last.
      replica: index of this process among those that train the run.
    """
    super().__init__(name='run')
    self.root = randomness.root(cfg.seed)
    self._own_root = randomness.root(cfg.seed, replica)
    stream = randomness.fold(self.root, randomness.Stream.CURRICULUM)
    # Agents do not depend on the entity count.
    self.agent = agents.make(cfg, envs[-1].roles)
    self.learner = ppo.Learner(self.agent, cfg.ppo)
    # Agent that is evaluated and exported; see PpoConfig.average_share.
    self.judged = self.agent
    if cfg.ppo.average_share:
      self.judged = agents.make(cfg, envs[-1].roles)
    with tf.device(CURRICULUM_DEVICE):
      self.curriculum = curriculum.make(cfg, envs, stream)
    # Mean reward [counts, roles] of the latest roll-out. With centred rewards,
    # it also centres the rewards of probes, as the critic has learned them.
    self.mean_reward = None
    if cfg.ppo.center_rewards and self.curriculum.can_probe:
      nothing = tf.fill([len(envs), len(envs[-1].roles)], math.nan)
      self.mean_reward = tf.Variable(nothing, trainable=False)
    self.iteration = tf.Variable(0, trainable=False, name='iteration')
    self.env_steps = tf.Variable(
      0, trainable=False, dtype=tf.int64, name='env_steps'
    )
    self.decay_start = tf.Variable(
      0, trainable=False, dtype=tf.int64, name='decay_start'
    )
    self.wall_seconds = tf.Variable(
      0.0, trainable=False, dtype=tf.float64, name='wall_seconds'
    )
    counts = [entity_counts.spelled(env.counts) for env in envs]
    by_count = [f'coverage_n{n}' for n in counts] if len(envs) > 1 else []
    self.score_names = ('coverage', 'success', *by_count)
    # The latest coverage is last; the curriculum and the stop rule use it.
    self.coverage = tf.Variable(
      tf.fill([len(envs), STOP_WINDOW], math.nan),
      trainable=False,
      name='coverage',
    )

  def has_reached(self, coverage: float) -> bool:
    """Returns whether the latest evaluations reach a coverage; False for 0."""
    # NaN, which reaches nothing, before there were STOP_WINDOW evaluations.
    mean = float(tf.reduce_mean(self.coverage[-1]))
    return 0.0 < coverage <= mean

  def note_decay_start(self) -> None:
    """Stores the steps at which decay_start_coverage was first reached."""
    level = self.learner.config.decay_start_coverage
    if level and not int(self.decay_start) and self.has_reached(level):
      self.decay_start.assign(self.env_steps)

  def average(self) -> None:
    """Updates the averaged policies after an iteration."""
    share = self.learner.config.average_share
    if share:
      rate = 1.0 / max(share * float(self.iteration), 1.0)
      # TensorFlow caches a tensor for each Python number and never frees it.
      self._move_judged(tf.constant(np.float32(rate)))

  @tf.function(autograph=False)
  def _move_judged(self, rate: tf.Tensor) -> None:
    """Moves each parameter by `rate` of the distance to the learned one."""
    judged, learned = (
      agent_base.trainable(x.policies) for x in (self.judged, self.agent)
    )
    for mean, new in zip(judged, learned, strict=True):
      mean.assign_add(rate * (new - mean))
    for mine, new in zip(self.judged.others, self.agent.others, strict=True):
      mine.assign(new)

  def seed(self, stream: randomness.Stream, *more: int) -> types.Seed:
    """Returns the seed of a stream at this iteration, for all replicas."""
    return randomness.fold(self.root, stream, self.iteration, *more)

  def own_seed(self, stream: randomness.Stream, *more: int) -> types.Seed:
    """Returns the seed of a stream at this iteration, of only this replica."""
    return randomness.fold(self._own_root, stream, self.iteration, *more)
