# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Short films of the policy during training, for TensorBoard."""

import pathlib
import tempfile

import numpy as np

from vacl_tf import randomness
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.environments import rendering
from vacl_tf.environments import shapes
from vacl_tf.training import export
from vacl_tf.training import players

_FIRST = 1_000_000  # Steps before the first film; a film costs some seconds.
_NUM_TASKS, _NUM_FRAMES = 4, 36  # At most so many frames, and the last.
_WIDTH = 150  # Of a world, in pixels.
_SEED = 1  # Of the tasks, which are the same in all films.


class Films:
  """Makes films after 1 M environment steps, 2 M, 4 M and so on.

  Training does not depend on them.
  """

  def __init__(
    self, agent: agent_base.Agent, env: base.World, env_steps: int
  ) -> None:
    """Initialises the films.

    Args:
      agent: the agent that is being trained.
      env: the world to show it in.
      env_steps: environment steps of training so far.
    """
    self._agent, self._env = agent, env
    self._past = env_steps

  def is_due(self, env_steps: int) -> bool:
    """Returns whether a film has become due since the last call."""
    past, self._past = self._past, env_steps
    return _doublings(env_steps) > _doublings(past)

  def shoot(self) -> bytes | None:
    """Returns a GIF of a few target tasks; None if they can't be drawn."""
    try:
      return self._shot()
    except Exception:  # A user's `render`, a full disk.
      return None  # Pictures must not end a run.

  def _shot(self) -> bytes:
    env = self._env
    policy = export.ExportedPolicy(self._agent, env.roles)
    player = players.ExportedPlayer(policy, env, is_greedy=True)
    draw, run = randomness.split(randomness.root(_SEED), 2)
    phi = env.task_space.sample_target(_NUM_TASKS, draw)
    _, worlds = player.watch(np.asarray(phi), run)
    worlds = [shapes.with_trails(scenes) for scenes in worlds]
    last = len(worlds[0]) - 1
    chosen = sorted({*range(0, last, -(-last // _NUM_FRAMES)), last})
    frames = [
      rendering.tile([rendering.render(x[step], _WIDTH) for x in worlds])
      for step in chosen
    ]
    with tempfile.TemporaryDirectory() as folder:
      path = rendering.write_video(frames, pathlib.Path(folder) / 'film.gif')
      return path.read_bytes()


def _doublings(env_steps: int) -> int:
  """Returns how many films are due by a step: one from 1 M, two from 2 M."""
  return (env_steps // _FIRST).bit_length()
