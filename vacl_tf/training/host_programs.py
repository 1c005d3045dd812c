# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What training does with the worlds of hide-and-seek of one entity count."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek import training_view
from vacl_tf.networks import recurrent
from vacl_tf.training import host_rollout
from vacl_tf.training import rollout


class HostPrograms:
  """Plays to learn and to evaluate; see `loop.CountPrograms`.

  Attributes:
    env: the world.
  """

  def __init__(
    self,
    network: recurrent.PolicyValue,
    env: training_view.HideAndSeek,
    cfg: config.Config,
    quantum: int,
    compiled: Callable[[Callable], Callable],
  ) -> None:
    """Initialises what is needed for one entity count.

    Args:
      network: policy and value.
      env: the world.
      cfg: all constants.
      quantum: each number of worlds that count is a multiple of it.
      compiled: compiles a function.
    """
    self.env = env
    # What counts in a group is a multiple of this, but for rounding.
    block = -(-quantum // host_rollout.NUM_GROUPS)
    self._explorer = host_rollout.Explorer(network, env, block, compiled)
    self._tests = host_rollout.Worlds(env.task)
    self._num_reported = 0
    num_tests = cfg.training.num_evaluation_tasks
    self._target = compiled(
      lambda seed: env.task_space.sample_target(num_tests, seed)
    )
    self._greedy = compiled(lambda *seen: _likeliest(network, *seen))
    self._hidden_size = network.hidden_size
    self.collect = self._explorer.collect
    self.value = compiled(
      lambda trajectory: rollout.task_value(trajectory.progress)
    )

  def evaluate(self, seed: types.Seed) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns value and success [B] of fresh tasks, played greedily."""
    draw, run = randomness.split(seed, 2)
    progress = host_rollout.perform(
      self._act, self._tests, self._target(draw).numpy(), run
    )
    return rollout.task_value(progress), rollout.is_success(progress)

  def metrics(self) -> types.Metrics:
    """Returns what is to be told of the worlds since the last time.

    Those of evaluations are left out: they come after an iteration is told, and
    a resumed run would not know of them.
    """
    total = self._explorer.worlds.num_unstable
    found = {'unstable_worlds': tf.constant(total - self._num_reported)}
    self._num_reported = total
    return found

  def _act(
    self, begin: int, seen: task_lib.Observations, memory: tf.Tensor | None
  ) -> tuple[np.ndarray, tf.Tensor]:
    del begin
    own = seen.actor.own
    if memory is None:
      memory = tf.zeros([*own.shape[:2], self._hidden_size])
    action, memory = self._greedy(own, seen.actor.entities, memory)
    return action.numpy(), memory


def _likeliest(
  network: recurrent.PolicyValue, *seen: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns the likeliest actions, and the memory after them."""
  distribution, memory = network.act(*seen)
  return distribution.mode(), memory
