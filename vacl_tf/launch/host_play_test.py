# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is scored and filmed is what the policy did, asked as it was told to."""

import functools
import os
import pathlib
import tempfile
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.environments import hide_and_seek
from vacl_tf.environments import rendering
from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import drawing
from vacl_tf.environments.hide_and_seek import training_view
from vacl_tf.launch import host_play
from vacl_tf.networks import recurrent
from vacl_tf.training import host_rollout
from vacl_tf.training import saving

_SEED = randomness.root(1)
_STEPS, _TASKS, _AGENTS, _BOXES, _HIDDEN = 8, 9, 2, 1, 8
_WIDTH = 320  # Pixels of a world in a film.


@functools.cache
def _world():
  task = hide_and_seek.load(
    'lock_and_return', num_agents=_AGENTS, num_boxes=_BOXES
  )
  task.horizon = _STEPS
  world = training_view.HideAndSeek(task, (_AGENTS, _BOXES))
  # A policy that has learnt nothing makes no progress on other tasks.
  world.task_space.sample_target = world.task_space.sample_easy
  return world


@functools.cache
def _exported():
  cfg = presets.make(env='lock_and_return')
  cfg = config.replace(cfg, {'network.hidden_size': _HIDDEN})
  network = recurrent.PolicyValue(_world().roles[0], cfg.network, seed=1)
  # As it is initialised, the policy is all but uniform everywhere.
  network.policies[0].logits.w.assign(100.0 * network.policies[0].logits.w)
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'policy'
    saving.export(network, _world(), cfg, path)
    return saving.load_policy(path)[0]


def _player(is_greedy=False, exported=None):
  exported = exported or _exported()
  return host_play.Player(exported, _world(), _HIDDEN, is_greedy)


def _watch(player, num_tasks=_TASKS):
  """Returns the progress, and the states of each group."""
  groups = {}
  progress = player.progress(
    num_tasks,
    _SEED,
    lambda group, state: groups.setdefault(group, []).append(state),
  )
  return progress, [groups[group] for group in sorted(groups)]


class ProgressTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(True, False)
  def test_seed_decides(self, is_greedy):
    player = _player(is_greedy)
    progress = player.progress(_TASKS, _SEED)
    self.assertEqual(progress.shape, (_STEPS, _TASKS))
    self.assertAllInRange(progress, 0.0, 1.0)
    self.assertGreater(np.ptp(progress), 0.0)  # Else nothing is compared.
    for same in (player, _player(is_greedy)):
      self.assertAllEqual(same.progress(_TASKS, _SEED), progress)
    other = player.progress(_TASKS, randomness.root(5))
    self.assertNotAllEqual(other, progress)

  def test_greedy_is_not_as_in_training(self):
    greedy, stochastic = (
      _player(is_greedy).progress(_TASKS, _SEED) for is_greedy in (True, False)
    )
    self.assertNotAllEqual(greedy, stochastic)

  def test_it_is_that_of_the_worlds_that_are_watched(self):
    progress, groups = _watch(_player())
    judged = [
      [_world().task.judge(state).progress for state in states[1:]]
      for states in groups
    ]
    self.assertAllEqual(np.concatenate(judged, 1), progress)

  def test_broken_worlds_are_counted(self):
    player = _player()
    worlds = host_rollout.Worlds(_world().task)
    worlds.num_unstable = 3
    with mock.patch.object(host_rollout, 'Worlds', return_value=worlds):
      player.progress(_TASKS, _SEED)
    self.assertEqual(player.num_unstable, 3)

  def test_tasks_are_those_to_be_solved(self):
    drawn = []

    def draw(num_tasks, seed):
      drawn.append(_world().task_space.sample_easy(num_tasks, seed))
      return drawn[-1]

    with mock.patch.object(_world().task_space, 'sample_target', draw):
      _, groups = _watch(_player())
    places = np.concatenate([states[0].position for states in groups])[..., :2]
    cells = np.floor(places / arena.CELL + 1e-9).reshape(_TASKS, -1)
    self.assertLen(drawn, 1)
    self.assertAllEqual(cells, drawn[0])

  @parameterized.parameters(True, False)
  def test_the_policy_is_asked_as_told_and_remembers(self, is_greedy):
    calls = {}  # By the number of worlds, which differs between groups.

    def spy(**given):
      found = _exported()(**given)
      calls.setdefault(len(given['own']), []).append((given, found))
      return found

    _, groups = _watch(_player(is_greedy, spy))
    [role], seeds = _world().roles, set()
    for states in groups:
      num_worlds = len(states[0].position)
      memory = np.zeros([num_worlds, _AGENTS, _HIDDEN])
      self.assertLen(calls[num_worlds], _STEPS)
      for (given, found), state in zip(
        calls[num_worlds], states[:-1], strict=True
      ):
        self.assertEqual(bool(given['greedy']), is_greedy)
        self.assertAllEqual(given['memory'], memory)
        memory = found['memory']
        seeds.add(tuple(given['seed'].numpy()))
        own = given['own'].numpy()
        place = state.position[:, :_AGENTS].astype(np.float32)
        self.assertAllEqual(own[..., :4], place)
        # Only the value sees where an agent was born.
        self.assertFalse(np.any(own[..., role.unseen_place]))
      self.assertNotAllEqual(memory, np.zeros_like(memory))
    self.assertLen(seeds, len(groups) * _STEPS)


class FramesTest(tf.test.TestCase):
  def test_a_frame_shows_all_worlds_after_a_step(self):
    num_tasks = 5
    with (
      mock.patch.dict(os.environ, {'MUJOCO_GL': 'disable'}),
      self.assertLogs(level='WARNING'),  # That worlds are drawn instead.
    ):
      frames = _player().frames(num_tasks, _SEED)
    self.assertLen(frames, _STEPS + 1)  # The first shows the start.
    _, groups = _watch(_player(), num_tasks)
    for frame, *states in zip(frames, *groups, strict=True):
      scenes = [
        scene
        for state in states
        for scene in drawing.scenes(_world().task, state)
      ]
      self.assertLen(scenes, num_tasks)
      pictures = [rendering.render(scene, _WIDTH) for scene in scenes]
      self.assertAllEqual(frame, rendering.tile(pictures))
    self.assertNotAllEqual(frames[0], frames[-1])


if __name__ == '__main__':
  tf.test.main()
