# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Samples, their order and number, and that XLA compiles programs once."""

import functools
from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import attention_agent
from vacl_tf.learning import ppo
from vacl_tf.learning import update
from vacl_tf.testing import compilations
from vacl_tf.testing import fakes

_MODULE = 'vacl_tf.learning.update_test'
_STEPS, _WORLDS = 3, 4
_SIZES = (4, 4, 3, 1)
_ENV = fakes.LineWorld(_STEPS)


def _trajectory():
  phi = _ENV.task_space.sample_uniform(_WORLDS, randomness.root(0))
  state = _ENV.place(phi, randomness.root(1))
  zeros = tf.zeros([_STEPS, _WORLDS, fakes.NUM_AGENTS])
  return types.Trajectory(
    state=tf.nest.map_structure(lambda x: tf.stack([x] * (_STEPS + 1)), state),
    memory=(),
    action=(tf.cast(zeros, tf.int32),),
    log_prob=(zeros,),
    reward=(zeros,),
    progress=zeros[..., 0],
    discount=tf.ones([_STEPS, _WORLDS]),
  )


def _learner(max_minibatch: int = 0) -> ppo.Learner:
  agent = attention_agent.AttentionAgent(
    _ENV.roles, config.AttentionConfig(hidden_size=4), 0
  )
  cfg = config.PpoConfig(
    num_minibatches=3, microbatch_vectors=8, max_minibatch=max_minibatch
  )
  return ppo.Learner(agent, cfg)


def _learn() -> Iterator[None]:
  improve = update.Update(
    _learner(),
    [_ENV],
    1,
    lambda f: tf.function(f, jit_compile=True, autograph=False),
  )
  for seed, size in enumerate(_SIZES):
    batch = update.RolloutBatch(_trajectory(), tf.constant(size))
    improve({0: batch}, randomness.root(seed))
    yield


class SamplesTest(tf.test.TestCase):
  def test_those_that_were_learned_from_are_returned(self):
    learner, trajectory = _learner(), _trajectory()
    size = tf.constant(_WORLDS)
    expected, _ = learner.prepare(trajectory, size, _WORLDS, _ENV.observe)
    batch = update.RolloutBatch(trajectory, size)
    improve = update.Update(learner, [_ENV], _WORLDS)
    _, samples = improve({0: batch}, randomness.root(0))
    self.assertEqual(list(samples), [0])
    for x, y in zip(
      tf.nest.flatten(samples[0]), tf.nest.flatten(expected), strict=True
    ):
      self.assertAllClose(x, y, 1e-6, 1e-6)


@functools.cache
def _prepared() -> tuple[ppo.Samples, ppo.Scale]:
  """Returns what each `_Epoch` learns from."""
  learner = _learner()
  size = tf.constant(_WORLDS)
  samples, sums = learner.prepare(_trajectory(), size, _WORLDS, _ENV.observe)
  scale, _ = learner.combine(sums)
  return samples, scale


@functools.cache
def _programs(max_minibatch: int, num_replicas: int) -> update.Update:
  return update.Update(
    _learner(max_minibatch),
    [_ENV],
    1,
    lambda f: tf.function(f, autograph=False),
    num_replicas=num_replicas,
  )


class _Epoch:
  """A pass over the samples of the first `size` worlds.

  Attributes:
    number: rows that it learns from.
  """

  def __init__(
    self, max_minibatch: int, size: int = _WORLDS, num_replicas: int = 1
  ) -> None:
    self._programs = _programs(max_minibatch, num_replicas).counts[0]
    batch = update.RolloutBatch(_trajectory(), tf.constant(size))
    self._order = self._programs.order(batch, randomness.root(5))
    self._num_rows = _STEPS * size
    self.number = int(self._order.number)

  def total(self, shift: int = 0) -> ppo.Total:
    """Returns the sums, with the order of the rows rotated by `shift`."""
    rows = self._order.rows
    counted = tf.roll(rows[: self._num_rows], shift, 0)
    rows = tf.concat([counted, rows[self._num_rows :]], 0)
    order = self._order._replace(rows=rows)
    samples, scale = _prepared()
    totals = [
      self._programs.gradient(samples, order, tf.constant(k), scale)
      for k in range(3)
    ]
    return tf.nest.map_structure(lambda *x: tf.add_n(x), *totals)


class BoundTest(parameterized.TestCase, tf.test.TestCase):
  """A bound on the agent-samples of a minibatch; a row has two of them."""

  def assertSameSums(self, found, expected):
    for x, y in zip(
      tf.nest.flatten(found), tf.nest.flatten(expected), strict=True
    ):
      self.assertAllClose(x, y, 1e-4, 1e-6)

  @parameterized.parameters((4, 1, 6), (4, 2, 3))
  def test_shifted_passes_have_the_mean_of_the_whole(
    self, most, num_replicas, rows
  ):
    epoch = _Epoch(most, num_replicas=num_replicas)
    self.assertEqual(epoch.number, rows)
    shifts = range(0, _STEPS * _WORLDS, rows)
    passes = [epoch.total(shift) for shift in shifts]
    self.assertNotAllClose(passes[0].metrics, passes[1].metrics)
    mean = tf.nest.map_structure(lambda *x: tf.add_n(x) / len(x), *passes)
    self.assertSameSums(mean, _Epoch(0).total())

  @parameterized.parameters(0, 2)
  def test_fewer_samples_than_it_are_all_used(self, size):
    epoch = _Epoch(4, size)
    self.assertEqual(epoch.number, _STEPS * size)
    self.assertSameSums(epoch.total(), _Epoch(0, size).total())


class CompilationTest(tf.test.TestCase):
  def test_neither_minibatches_nor_sizes_compile_anything(self):
    counts = compilations.count(_MODULE)
    self.assertLen(counts, len(_SIZES))
    self.assertGreaterEqual(counts[0], 5)
    self.assertEqual(set(counts), {counts[0]})


class OrderTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(1, 3, 5)
  def test_rows_that_count_come_first_each_once(self, size):
    order = update.shuffled(randomness.root(3), 4, 5, tf.constant(size)).numpy()
    self.assertAllEqual(np.sort(order), np.arange(20))
    self.assertAllEqual(order[: 4 * size] % 5 < size, np.ones(4 * size, bool))
    self.assertNotAllEqual(order[: 4 * size], np.sort(order[: 4 * size]))


if __name__ == '__main__':
  compilations.if_child(_learn)
  tf.test.main()
