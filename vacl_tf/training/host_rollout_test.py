# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Episodes that were recorded, and the same worlds stepped again by hand."""

import functools
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import recurrent_agent
from vacl_tf.curriculum import base
from vacl_tf.environments import base as environments_base
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.training import host_rollout

_SEED = randomness.root(4)
_WORLDS, _HIDDEN = 5, 8


@functools.cache
def _world():
  return environments.load('lock_and_return')


@functools.cache  # No test changes it.
def _agent() -> recurrent_agent.RecurrentAgent:
  cfg = config.RecurrentConfig(hidden_size=_HIDDEN, activation='tanh')
  agent = recurrent_agent.RecurrentAgent(_world().roles, cfg, 0)
  # As it is initialised, the policy is all but uniform everywhere.
  agent.policies[0].logits.w.assign(100.0 * agent.policies[0].logits.w)
  return agent


@functools.cache
def _program():
  """Returns what acts: eagerly, an episode would take seconds."""

  def look(own, entities, memory, action):
    observation = types.Observation(own, entities)
    [distribution], [memory] = _agent().act((observation,), (memory,))
    log_prob = distribution.log_prob(action)
    return log_prob, distribution.mode(), memory, distribution.logits

  def spec(*shape, dtype=tf.float32):
    return tf.TensorSpec([None, 2, *shape], dtype)

  [role] = _world().roles
  kinds = role.entity_sizes.items()
  signature = [
    spec(role.own_size),
    {kind: spec(None, size) for kind, size in kinds},
    spec(_HIDDEN),
    spec(5, dtype=tf.int32),
  ]
  return tf.function(look, input_signature=signature, autograph=False)


def _look(observation, memory=None, action=None):
  """Returns log-probability, mode and memory of a step's observation."""
  leading = observation.own.shape[:2]
  if memory is None:
    memory = tf.zeros([*leading, _HIDDEN])
  if action is None:
    action = np.zeros([*leading, 5], np.int32)
  entities = dict(observation.entities)
  return _program()(observation.own, entities, memory, action)


@functools.cache
def _collector(block=3) -> host_rollout.Collector:
  return host_rollout.Collector(
    _agent(), _world(), block, lambda f: tf.function(f, autograph=False)
  )


def _phi(rows=_WORLDS) -> tf.Tensor:
  """Returns tasks that are as likely to be begun near their end as not."""
  return _world().task_space.sample_easy(rows, randomness.root(1))


@functools.cache  # Several tests look at the same trajectory.
def _collect(seed=4, block=3, size=_WORLDS):
  batch = base.fresh_batch(_phi(), tf.constant(size))
  return _collector(block).collect(batch, randomness.root(seed))


def _groups(seed, size):
  """Yields worlds where `collect` puts them, and which rows they are."""
  [*bounds] = {0, size // 2, size}
  key = randomness.split(randomness.root(seed), 2)[0]
  numbers = key.numpy().astype(np.int64) % 2**32
  for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
    worlds = _world().make_simulator(end - begin)
    worlds.place(_phi().numpy()[begin:end], [*numbers, begin])
    yield worlds, slice(begin, end)


def _assert_same(one, other):
  tf.nest.map_structure(np.testing.assert_array_equal, one, other)


def _at(tree, t, rows):
  return tf.nest.map_structure(lambda x: x[t, rows], tree)


class CollectTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(_WORLDS, 1)
  def test_it_is_what_happens_when_its_actions_are_repeated(self, size):
    trajectory = _collect(size=size)
    [seen], [memories] = trajectory.state, trajectory.memory
    num_rows = 0
    for worlds, rows in _groups(4, size):
      num_rows += worlds.num_worlds
      memory = None
      for t in range(_world().horizon):
        [looks] = worlds.observe()
        _assert_same(_at(seen, t, rows), looks)
        before = np.zeros_like(memories[t, rows]) if memory is None else memory
        np.testing.assert_allclose(memories[t, rows], before, 1e-5, 1e-5)
        action = trajectory.action[0][t, rows]
        log_prob, _, memory, _ = _look(looks, memory, action)
        np.testing.assert_allclose(
          trajectory.log_prob[0][t, rows], log_prob, 1e-4, 1e-4
        )
        outcome = worlds.step((action.numpy(),))
        np.testing.assert_array_equal(
          trajectory.reward[0][t, rows], outcome.reward[0]
        )
        for name in ('progress', 'discount'):
          np.testing.assert_array_equal(
            getattr(trajectory, name)[t, rows], getattr(outcome, name)
          )
      [looks] = worlds.observe()
      _assert_same(_at(seen, -1, rows), looks)
    self.assertEqual(num_rows, size)
    # Else little would have been compared.
    self.assertNotAllEqual(seen.own[:, :size], seen.critic_own[:, :size])
    self.assertGreater(np.ptp(memories[-1, :size]), 0.1)
    if size == _WORLDS:
      self.assertGreater(np.ptp(trajectory.reward[0]), 0.0)

  def test_shapes(self):
    trajectory = _collect()
    leading = [_world().horizon, _WORLDS, 2]
    for name in ('log_prob', 'reward'):
      [found] = getattr(trajectory, name)
      self.assertEqual(found.shape, leading)
    self.assertEqual(trajectory.action[0].shape, [*leading, 5])
    self.assertEqual(trajectory.action[0].dtype, tf.int32)
    self.assertEqual(trajectory.progress.shape, leading[:2])
    self.assertAllEqual(trajectory.discount[:-1], np.ones([59, _WORLDS]))
    self.assertAllEqual(trajectory.discount[-1], np.zeros([_WORLDS]))

  def test_actions_are_drawn_as_the_policy_has_it(self):
    trajectory = _collect()
    [action], [memories] = trajectory.action, trajectory.memory
    [seen] = tf.nest.map_structure(lambda x: x[:-1], trajectory.state)
    seen, memories, flat = tf.nest.map_structure(
      lambda x: tf.reshape(x, [-1, *x.shape[2:]]), (seen, memories, action)
    )
    logits = _look(seen, memories, flat)[3]
    parts = tf.split(logits, mechanics.HEADS, -1)
    for head, part in enumerate(parts):
      chances = tf.nn.softmax(part).numpy().reshape(-1, part.shape[-1])
      deviation = np.sqrt(np.sum(chances * (1.0 - chances), 0))
      counts = np.bincount(
        action.numpy()[..., head].ravel(), minlength=part.shape[-1]
      )
      error = np.abs(counts - np.sum(chances, 0))
      self.assertAllLess(error - 4.0 * deviation, 1.0)
    self.assertGreater(len(np.unique(action[:, :, 0, 0], axis=1)[0]), 2)

  def test_seed_decides(self):
    again = _collect.__wrapped__()  # In the worlds of the episode before.
    _assert_same(_collect(), again)
    other = _collect(seed=9)
    self.assertNotAllEqual(_collect().action[0], other.action[0])
    # Places are drawn too, within the cells of the task.
    first, second = (x.state[0].own[0] for x in (_collect(), other))
    self.assertNotAllEqual(first, second)
    self.assertAllClose(first, second, atol=2.0 * environment.JITTER)

  def test_blocks_do_not_matter(self):
    one, other = _collect(), _collect(block=1)
    self.assertAllEqual(one.action[0], other.action[0])
    tf.nest.map_structure(
      lambda x, y: self.assertAllClose(x, y, 1e-4, 1e-4), one, other
    )

  @parameterized.parameters(1, 3)
  def test_worlds_beyond_the_size_are_neither_played_nor_read(self, size):
    part = _collect(size=size)
    for leaf in tf.nest.flatten(part):
      self.assertAllEqual(leaf[:, size:], tf.zeros_like(leaf[:, size:]))
    # What is asked for there is not even a task.
    phi = tf.concat([_phi()[:size], tf.fill([_WORLDS - size, 8], -7.0)], 0)
    batch = base.fresh_batch(phi, tf.constant(size))
    _assert_same(part, _collector().collect(batch, _SEED))

  def test_first_worlds_are_alike_whatever_the_size(self):
    # Those of the first group; the others' places depend on where it ends.
    whole = _collect()
    for size in (1, 3):
      alike = max(min(size // 2, _WORLDS // 2), 1)
      one, other = tf.nest.map_structure(
        lambda x, alike=alike: x[:, :alike], (whole, _collect(size=size))
      )
      _assert_same(one.action, other.action)
      tf.nest.map_structure(self.assertAllClose, one, other)


class WorldsTest(tf.test.TestCase):
  def test_actors_act_and_are_told_in_turn(self):
    heard = {}

    class Actor:
      def __init__(self, begin, end):
        self._heard = heard.setdefault((begin, end), [])
        self._actions = np.tile(mechanics.NO_OP, [end - begin, 2, 1])

      def act(self, step, observations):
        self._heard.append(('act', step, len(observations[0].own)))
        return (self._actions,)

      def note(self, step, outcome):
        self._heard.append(('note', step, len(outcome.progress)))

      def end(self, observations):
        self._heard.append(('end', None, len(observations[0].own)))

    steps = {}
    host_rollout.Worlds(_world()).play(
      _phi().numpy(),
      _SEED,
      Actor,
      lambda group, state: steps.setdefault(group, []).append(state.step),
    )
    self.assertEqual(list(heard), [(0, 2), (2, 5)])
    for (begin, end), found in heard.items():
      expected = [
        (what, step, end - begin)
        for step in range(_world().horizon)
        for what in ('act', 'note')
      ] + [('end', None, end - begin)]
      self.assertEqual(found, expected)
    every_step = list(range(_world().horizon + 1))
    self.assertEqual(steps, {0: every_step, 1: every_step})

  def test_closed_worlds_are_freed_once(self):
    env, closed = _world(), []
    make = env.make_simulator

    def noted(num_worlds):
      simulator = make(num_worlds)
      close, simulator.close = simulator.close, lambda: closed.append(close())
      return simulator

    with mock.patch.object(env, 'make_simulator', noted):
      worlds = host_rollout.Worlds(env)
      still = np.tile(mechanics.NO_OP, [_WORLDS, 2, 1])

      def act(begin, step, observations, memory):
        del begin, step
        return (still[: len(observations[0].own)],), memory

      for _ in range(2):  # The same worlds.
        host_rollout.perform(act, worlds, _phi().numpy(), _SEED)
      self.assertEmpty(closed)
      for _ in range(2):
        worlds.close()
        self.assertLen(closed, host_rollout.NUM_GROUPS)

  def test_worlds_that_broke_down_are_counted_once_and_for_all(self):
    played = host_rollout.Worlds(_world())
    still = np.tile(mechanics.NO_OP, [_WORLDS, 2, 1])

    def act(begin, step, observations, memory):
      if begin and step == 3:
        # Out of the arena, from where there is no way back.
        played._groups[1]._simulator.worlds.physics.bind('qpos')[:2, 0] = -5.0
      return (still[: len(observations[0].own)],), memory

    phi = _phi().numpy()
    for expected in (2, 4):
      progress = host_rollout.perform(act, played, phi, _SEED)
      self.assertEqual(played.num_unstable, expected)
      self.assertAllInRange(progress, 0.0, 1.0)
    # Other worlds take their place, and what was counted stays.
    host_rollout.perform(act, played, phi[:1], _SEED)
    self.assertEqual(played.num_unstable, 4)


class BrokenTest(tf.test.TestCase):
  def test_worlds_that_cannot_be_made_are_told_in_a_line(self):
    world = _world()
    message = '^make_simulator failed: KeyError: .*no such map'
    with (
      mock.patch.object(
        type(world), 'make_simulator', side_effect=KeyError('no such map')
      ),
      self.assertRaisesRegex(environments_base.WorldError, message),
    ):
      host_rollout.perform(None, host_rollout.Worlds(world), _phi(), _SEED)


class PerformTest(tf.test.TestCase):
  def test_it_makes_the_steps_of_act(self):
    def greedily(begin, step, observations, memory):
      del begin, step
      _, action, memory, _ = _look(observations[0], memory)
      return (action.numpy(),), memory

    watched = {0: [], 1: []}
    progress = host_rollout.perform(
      greedily,
      host_rollout.Worlds(_world()),
      _phi().numpy(),
      _SEED,
      lambda num: tf.zeros([num, 2, _HIDDEN]),
      lambda group, state: watched[group].append(state.position),
    )
    self.assertEqual(progress.dtype, np.float32)
    self.assertEqual(progress.shape, (_world().horizon, _WORLDS))
    numbers = _SEED.numpy().astype(np.int64) % 2**32
    for group, (begin, end) in enumerate([(0, 2), (2, 5)]):
      worlds = _world().make_simulator(end - begin)
      worlds.place(_phi().numpy()[begin:end], [*numbers, begin])
      memory, positions = None, [worlds.state.position]
      for t in range(_world().horizon):
        action, memory = greedily(begin, t, worlds.observe(), memory)
        outcome = worlds.step(action)
        positions.append(worlds.state.position)
        np.testing.assert_array_equal(progress[t, begin:end], outcome.progress)
      np.testing.assert_array_equal(watched[group], positions)
      self.assertGreater(np.ptp(positions, 0).max(), 0.5)  # Metres.


if __name__ == '__main__':
  tf.test.main()
