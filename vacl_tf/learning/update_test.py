# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""XLA compiles each program of an update once, whatever it is given."""

from collections.abc import Iterator

import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.learning import ppo
from vacl_tf.learning import update
from vacl_tf.networks import policy_value
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
    action=(tf.cast(zeros, tf.int32),),
    log_prob=(zeros,),
    reward=(zeros,),
    bonus=(zeros,),
    progress=zeros[..., 0],
  )


def _learn() -> Iterator[None]:
  network = policy_value.PolicyValue(
    _ENV.roles, config.NetworkConfig(hidden_size=4), 0
  )
  cfg = config.PpoConfig(num_minibatches=3, chunk_vectors=8)
  improve = update.Update(
    ppo.Learner(network, cfg),
    [_ENV],
    1,
    lambda f: tf.function(f, jit_compile=True, autograph=False),
  )
  for seed, size in enumerate(_SIZES):
    experience = update.Experience(_trajectory(), tf.constant(size))
    improve({0: experience}, randomness.root(seed))
    yield


class CompilationTest(tf.test.TestCase):
  def test_neither_minibatches_nor_sizes_compile_anything(self):
    counts = compilations.count(_MODULE)
    self.assertLen(counts, len(_SIZES))
    self.assertGreaterEqual(counts[0], 5)
    self.assertEqual(set(counts), {counts[0]})


if __name__ == '__main__':
  compilations.if_child(_learn)
  tf.test.main()
