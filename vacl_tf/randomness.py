# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Randomness as a value: stateless seeds, folded by stream and step.

Philox is named in every draw because the algorithm that XLA picks by itself
on a CPU takes 55 ns a number where Philox takes 2.
"""

import enum

import tensorflow as tf

from vacl_tf import types

_ALGORITHM = 'philox'


class Stream(enum.IntEnum):
  """Names of the independent streams of a run."""

  NETWORK = 0
  CURRICULUM = 1
  SAMPLE = 2
  COLLECT = 3
  LEARN = 4
  UPDATE = 5
  EVALUATE = 6


def root(seed: int, worker: int = 0) -> types.Seed:
  """Returns the seed [2] from which all streams of one worker descend."""
  return tf.constant([seed, worker], tf.int32)


def fold(seed: types.Seed, *data: tf.Tensor | int) -> types.Seed:
  """Returns a seed [2] that depends on `seed` and on each of `data`."""
  for number in data:
    seed = tf.random.experimental.stateless_fold_in(
      seed, tf.cast(number, tf.int32), alg=_ALGORITHM
    )
  return seed


def split(seed: types.Seed, num: int) -> list[types.Seed]:
  """Returns `num` independent seeds [2]."""
  return [fold(seed, index) for index in range(num)]


def uniform(
  seed: types.Seed,
  shape: list[int] | tf.Tensor,
  low: float | tf.Tensor = 0.0,
  high: float | tf.Tensor = 1.0,
) -> tf.Tensor:
  """Returns float32 numbers of `shape` from U[low, high)."""
  numbers = tf.random.stateless_uniform(shape, seed, alg=_ALGORITHM)
  return low + (high - low) * numbers


def permutation(seed: types.Seed, num: int | tf.Tensor) -> tf.Tensor:
  """Returns a random order of range(num), int32 [num]."""
  return tf.argsort(uniform(seed, [num]))
