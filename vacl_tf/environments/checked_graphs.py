# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks that XLA can compile the environments that users write in TensorFlow.

What works eagerly may fail in a graph: an `if` of a tensor, a call of NumPy.
"""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import simulator


def check(
  env: base.Environment, phi: tf.Tensor, actions: types.Actions
) -> None:
  """Raises base.WorldError if XLA can't compile what training compiles.

  `read_task` and `sample_easy` are not called in graphs.

  Args:
    env: an environment whose methods work eagerly.
    phi: [B, D] feasible tasks.
    actions: actions of B worlds.
  """
  seed = randomness.root(0)
  space = env.task_space
  state = tf.nest.map_structure(tf.convert_to_tensor, env.place(phi, seed))
  _check('place in a graph', env.place, phi, seed)
  _check('step in a graph', env.step, state, actions)
  for name in ('observe', 'reward', 'progress', 'discount'):
    _check(f'{name} in a graph', getattr(env, name), state)
  if not space.is_compiled:
    return
  where = 'in a graph, as the task space has is_compiled=True,'
  _check(f'feasible {where}', space.feasible, phi)
  _check(f'clip {where}', space.clip, phi, seed)
  for name in ('sample_uniform', 'sample_target'):
    sample = functools.partial(getattr(space, name), len(phi))
    _check(f'{name} {where}', sample, seed)


def _check(where: str, function: Callable, *args: Any) -> None:
  simulator.called(where, tracing.check_compiles, function, *args)
