# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is scored and filmed is what the policy did, asked as it was told to."""

import functools
import pathlib
import tempfile
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.agents import base as agent_base
from vacl_tf.agents import recurrent_agent
from vacl_tf.environments import base
from vacl_tf.networks import distributions
from vacl_tf.testing import fakes
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import host_rollout
from vacl_tf.training import players
from vacl_tf.training import policy_files
from vacl_tf.training import rollout

_SEED = randomness.root(1)
_STEPS, _TASKS, _HIDDEN = 7, 9, 8
_KINDS = ('in_graph', 'on_host')


@functools.cache
def _world(kind):
  env = fakes.LineWorld(_STEPS)
  return env if kind == 'in_graph' else fakes.HostedWorld(env)


@functools.cache
def _agent():
  cfg = config.RecurrentConfig(hidden_size=_HIDDEN)
  agent = recurrent_agent.RecurrentAgent(_world('in_graph').roles, cfg, 0)
  # As it is initialised, the policy is all but uniform everywhere.
  agent.policies[0].logits.w.assign(100.0 * agent.policies[0].logits.w)
  return agent


@functools.cache
def _exported():
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'policy'
    export.export(_agent(), _world('in_graph'), config.Config(), path)
    return policy_files.load_policy(path, run_graph=True)[0]


class _Patient(agent_base.Agent):
  """Waits first, then follows what it remembers; its memory has two leaves."""

  policies = values = ()

  def initial_memory(self, num_worlds, num_agents):
    ways = tf.tile([[1.0, 2.0]], [num_worlds, 1])[:, : num_agents[0], None]
    return {'left': tf.fill([num_worlds], 3), 'ways': ways}

  def act(self, observations, memory):
    left, ways = memory['left'], memory['ways']
    choice = tf.where(left[:, None] > 0, 0, tf.cast(ways[..., 0], tf.int32))
    logits = tf.one_hot(choice, 3) + 0.0 * observations[0].own[..., :1]
    made = distributions.make(_world('in_graph').roles[0].action, logits)
    return (made,), {'left': left - 1, 'ways': 3.0 - ways}

  def unroll_values(self, observe, states, memory, is_first=()):
    raise NotImplementedError

  def evaluate(self, sequence):
    raise NotImplementedError


class _Spy:
  """The exported policy, noting what it is given and returns."""

  def __init__(self, change=lambda given: given):
    self.calls = {}  # By the number of worlds, which differs between groups.
    self.initial_state = _exported().initial_state
    self._change = change

  def act(self, **given):
    found = _exported().act(**self._change(given))
    self.calls.setdefault(given['own'].shape[0], []).append((given, found))
    return found


def _player(kind, is_greedy=False, act=None):
  return players.ExportedPlayer(act or _exported(), _world(kind), is_greedy)


def _forget(given):
  return {**given, 'memory': tf.zeros_like(given['memory'])}


def _live(kind, agent=None):
  """Returns the progress of greedy evaluation with a live agent."""
  env, agent = _world(kind), agent or _agent()
  if kind == 'in_graph':
    return evaluation.evaluate(
      rollout.greedy(agent),
      env,
      _TASKS,
      _SEED,
      initial_memory=lambda num: agent.initial_memory(num, (2,)),
    )

  def act(begin, step, observations, memory):
    del begin, step
    observations = tf.nest.map_structure(tf.constant, observations)
    [distribution], memory = agent.act(observations, memory)
    return (distribution.mode().numpy(),), memory

  draw, run, _ = randomness.split(_SEED, 3)
  phi = env.task_space.sample_target(_TASKS, draw).numpy()
  worlds = host_rollout.Worlds(env)
  return host_rollout.perform(
    act, worlds, phi, run, lambda num: agent.initial_memory(num, (2,))
  )


def _film(kind, is_greedy):
  """Returns the film, and the states that were drawn, of each group."""
  env, drawn = _world(kind), []
  pictures = env.pictures

  def note(states):
    drawn.append(states)
    return pictures(states)

  with mock.patch.object(env, 'pictures', note):
    return _player(kind, is_greedy).film(_TASKS, _SEED), drawn


class WatchTest(parameterized.TestCase, tf.test.TestCase):
  def _tasks(self, kind):
    """Returns the tasks that `progress` plays with the seed."""
    draw = randomness.split(_SEED, 2 if kind == 'in_graph' else 3)[0]
    return _world(kind).task_space.sample_target(_TASKS, draw).numpy()

  @parameterized.parameters(*_KINDS)
  def test_it_plays_the_tasks_that_it_is_given(self, kind):
    player, phi = _player(kind, is_greedy=True), self._tasks(kind)
    progress, scenes = player.watch(phi, randomness.root(7))
    self.assertAllEqual(progress, player.progress(_TASKS, _SEED))
    self.assertLen(scenes, _TASKS)
    for row, world in zip(phi, scenes, strict=True):
      self.assertLen(world, _STEPS + 1)
      places = [disc.centre[0] for disc in world[0].discs]
      self.assertAllClose(places, [*row[2:], *row[:2]])  # Landmarks first.

  @parameterized.parameters(*_KINDS)
  def test_scenes_are_those_of_the_progress(self, kind):
    player, phi = _player(kind), self._tasks(kind)
    progress, scenes = player.watch(phi, _SEED)
    self.assertGreater(np.ptp(progress), 0.0)
    for world, found in zip(scenes, progress.T, strict=True):
      for scene, share in zip(world[1:], found, strict=True):
        x = np.array([disc.centre[0] for disc in scene.discs])
        far = abs(x[:2, None] - x[2:]).min(1)
        self.assertEqual((far <= fakes.COVER_DISTANCE).mean(), share)

  def test_worlds_stay_as_they_ended(self):
    world, made = _world('on_host'), []
    make = world.make_simulator

    def noted(num_worlds):
      made.append(make(num_worlds))
      return made[-1]

    with mock.patch.object(world, 'make_simulator', noted):
      _player('on_host').film(_TASKS, _SEED)
    self.assertEqual([x.restarts for x in made], [False, False])

  def test_worlds_that_are_not_made_of_shapes_say_so(self):
    class Shapeless(fakes.HostedWorld):
      draw = base.World.draw

    world = Shapeless(_world('in_graph'))
    player = players.ExportedPlayer(_exported(), world, True)
    with self.assertRaisesRegex(NotImplementedError, 'not drawn from shapes'):
      player.watch(self._tasks('on_host'), _SEED)

  @parameterized.parameters(*_KINDS)
  def test_what_fails_while_it_draws_is_told(self, kind):
    player, nothing = _player(kind), {}
    with (
      mock.patch.object(player._env, 'draw', lambda state: nothing['colour']),
      self.assertRaisesRegex(base.WorldError, "^draw failed: KeyError: 'colo"),
    ):
      player.watch(self._tasks(kind), _SEED)


class ProgressTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(kind=_KINDS, is_greedy=(True, False))
  def test_seed_decides(self, kind, is_greedy):
    player = _player(kind, is_greedy)
    progress = player.progress(_TASKS, _SEED)
    self.assertEqual(progress.shape, (_STEPS, _TASKS))
    self.assertAllInRange(progress, 0.0, 1.0)
    self.assertGreater(np.ptp(progress), 0.0)  # Else nothing is compared.
    for same in (player, _player(kind, is_greedy)):
      self.assertAllEqual(same.progress(_TASKS, _SEED), progress)
    other = player.progress(_TASKS, randomness.root(5))
    self.assertNotAllEqual(other, progress)

  @parameterized.parameters(*_KINDS)
  def test_greedy_is_not_as_in_training(self, kind):
    greedy, stochastic = (
      _player(kind, is_greedy).progress(_TASKS, _SEED)
      for is_greedy in (True, False)
    )
    self.assertNotAllEqual(greedy, stochastic)

  @parameterized.parameters(*_KINDS)
  def test_it_is_that_of_the_live_agent_with_its_memory(self, kind):
    progress = _player(kind, is_greedy=True).progress(_TASKS, _SEED)
    self.assertAllEqual(progress, _live(kind))
    forgetful = _player(kind, is_greedy=True, act=_Spy(_forget))
    self.assertNotAllEqual(progress, forgetful.progress(_TASKS, _SEED))

  @parameterized.parameters(*_KINDS)
  def test_a_memory_of_several_leaves_that_does_not_begin_at_zero(self, kind):
    agent = _Patient()
    policy = export.ExportedPolicy(agent, _world(kind).roles)
    progress = _player(kind, is_greedy=True, act=policy).progress(_TASKS, _SEED)
    self.assertAllEqual(progress, _live(kind, agent))
    for step in (1, 2):  # It stands still, as it could not with zeros.
      self.assertAllEqual(progress[step], progress[0])
    self.assertNotAllEqual(progress[3], progress[0])

  def test_each_role_has_a_memory_of_as_many_agents_as_it_has(self):
    env = environments.load('speaker_listener')
    roles = (env.roles[0], env.roles[1]._replace(num_agents=3))
    cfg = config.RecurrentConfig(hidden_size=_HIDDEN)
    agent = recurrent_agent.RecurrentAgent(roles, cfg, 0)
    env = mock.Mock(roles=roles)
    policy = export.ExportedPolicy(agent, roles)
    first = players.ExportedPlayer(policy, env, True)._first_memory(5)
    shapes = {name: x.shape for name, x in first.items()}
    self.assertEqual(
      shapes, {'memory_0': [5, 1, _HIDDEN], 'memory_1': [5, 3, _HIDDEN]}
    )

  @parameterized.parameters(True, False)
  def test_the_policy_is_asked_as_told_and_remembers(self, is_greedy):
    spy, seeds = _Spy(), set()
    _player('on_host', is_greedy, spy).progress(_TASKS, _SEED)
    self.assertEqual(sorted(spy.calls), [4, 5])
    for num_worlds, calls in spy.calls.items():
      memory = np.zeros([num_worlds, 2, _HIDDEN])
      self.assertLen(calls, _STEPS)
      for given, found in calls:
        self.assertEqual(bool(given['greedy']), is_greedy)
        self.assertAllEqual(given['memory'], memory)
        memory = found['memory']
        seeds.add(tuple(given['seed'].numpy()))
      self.assertNotAllEqual(memory, np.zeros_like(memory))
    self.assertLen(seeds, 2 * _STEPS)

  def test_many_worlds_are_played_in_turn(self):
    player = _player('on_host')
    phi = _world('on_host').task_space.sample_target(_TASKS, _SEED).numpy()
    first = player.progress_of(phi[:4], _SEED)
    with mock.patch.object(players, '_WORLDS_AT_ONCE', 4):
      progress = player.progress_of(phi, _SEED)
      frames = player.film(_TASKS, _SEED)
      one, other = (
        player.progress_of(np.tile(phi[:4], [2, 1]), _SEED)
        .reshape(_STEPS, 2, 4)
        .swapaxes(0, 1)
      )
    self.assertEqual(progress.shape, (_STEPS, _TASKS))
    self.assertAllEqual(progress[:, :4], first)
    self.assertNotAllEqual(one, other)  # They act by numbers of their own.
    self.assertEqual([len(frame) for frame in frames], [_TASKS] * (_STEPS + 1))

  def test_worlds_are_closed_when_they_were_played(self):
    env, closed = _world('on_host'), []
    make = env.make_simulator

    def noted(num_worlds):
      simulator = make(num_worlds)
      simulator.close = lambda: closed.append(num_worlds)
      return simulator

    with mock.patch.object(env, 'make_simulator', noted):
      _player('on_host').progress(_TASKS, _SEED)
    self.assertEqual(sum(closed), _TASKS)

  def test_simulations_that_diverge_are_counted(self):
    env = _world('on_host')
    make = env.make_simulator

    def fragile(num_worlds):
      simulator = make(num_worlds)
      step = simulator.step

      def count(actions):
        simulator.num_unstable += 1
        return step(actions)

      simulator.step = count
      return simulator

    player = _player('on_host')
    with mock.patch.object(env, 'make_simulator', fragile):
      player.progress(_TASKS, _SEED)
      self.assertEqual(player.num_unstable, 2 * _STEPS)
      player.progress(1, _SEED)  # A single group.
    self.assertEqual(player.num_unstable, 3 * _STEPS)
    sound = _player('on_host')
    sound.progress(_TASKS, _SEED)
    self.assertEqual(sound.num_unstable, 0)


class FilmTest(parameterized.TestCase, tf.test.TestCase):
  # With the seeds of a film, places are the same; actions need not be.
  @parameterized.parameters(('in_graph', True), ('on_host', False))
  def test_it_shows_the_episodes_that_are_scored(self, kind, is_greedy):
    film, drawn = _film(kind, is_greedy)
    env = _world('in_graph')
    scored = [
      np.stack([env.progress(state) for state in states[-_STEPS:]])
      for states in drawn
    ]
    progress = _player(kind, is_greedy).progress(_TASKS, _SEED)
    self.assertAllEqual(np.concatenate(scored, 1), progress)
    self.assertLen(film, _STEPS + 1)
    self.assertNotAllEqual(film[0], film[-1])

  @parameterized.parameters(*_KINDS)
  def test_it_begins_with_the_initial_state(self, kind):
    _, drawn = _film(kind, is_greedy=True)
    first = [_world('in_graph').read_task(states[0]) for states in drawn]
    draw = randomness.split(_SEED, 2 if kind == 'in_graph' else 3)[0]
    phi = _world(kind).task_space.sample_target(_TASKS, draw)
    self.assertAllClose(np.concatenate(first), phi)

  @parameterized.parameters(*_KINDS)
  def test_tasks_are_those_to_be_solved(self, kind):
    space, tasks = _world(kind).task_space, []

    def draw(num_tasks, seed):
      tasks.append(space.sample_easy(num_tasks, seed))
      return tasks[-1]

    with mock.patch.object(space, 'sample_target', draw):
      _, drawn = _film(kind, is_greedy=True)
    self.assertLen(tasks, 1)
    # Landmarks never move.
    found = np.concatenate([states[-1].landmark for states in drawn])
    self.assertAllEqual(found, tasks[0][:, 2:])

  @parameterized.parameters(*_KINDS)
  def test_a_frame_has_a_picture_of_each_world(self, kind):
    film, drawn = _film(kind, is_greedy=True)
    groups = [_world(kind).pictures(states) for states in drawn]
    for frame, *rows in zip(film, *groups, strict=True):
      self.assertLen(frame, _TASKS)
      self.assertAllEqual(frame, sum(rows, []))


if __name__ == '__main__':
  tf.test.main()
