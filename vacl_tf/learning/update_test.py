# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""XLA compiles each program of an update once, whatever it is given.

The test starts this file as a process of its own, because XLA reads its flags
once; `_learn` is what that does.
"""

import os
import pathlib
import subprocess
import sys

import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.learning import ppo
from vacl_tf.learning import update
from vacl_tf.networks import policy_value
from vacl_tf.testing import fakes

_CHILD = 'learn'  # First argument of a child process.
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


def _learn(folder: pathlib.Path) -> None:
  """Prints how many programs XLA has compiled after each of some updates."""
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
    print(len(list(folder.glob('*before_optimizations.txt'))))


class CompilationTest(tf.test.TestCase):
  def test_neither_minibatches_nor_sizes_compile_anything(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    flags = f'--xla_dump_to={folder} --xla_dump_hlo_as_text'
    child = subprocess.run(
      [sys.executable, '-m', 'vacl_tf.learning.update_test', _CHILD, folder],
      check=True,
      capture_output=True,
      text=True,
      env=os.environ | {'XLA_FLAGS': flags},
    )
    counts = [int(line) for line in child.stdout.split()]
    self.assertLen(counts, len(_SIZES))
    self.assertGreaterEqual(counts[0], 5)
    self.assertEqual(set(counts), {counts[0]})


if __name__ == '__main__':
  if sys.argv[1:2] == [_CHILD]:
    _learn(pathlib.Path(sys.argv[2]))
  else:
    tf.test.main()
