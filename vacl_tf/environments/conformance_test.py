# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every world promises, checked for each registered task.

`WorldTest` covers all worlds, `SimulatorTest` their simulators, and
`ConformanceTest` what in-graph environments promise besides. The tests' own
LineWorld stands for the worlds that users bring.
"""

import functools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.testing import fakes

_NUM_WORLDS = 6
_NUM_STEPS = 20
_OWN = fakes.LineWorld()
_NAMES = (*catalog.TASKS.names(), _OWN.name)


@functools.cache
def _load(name):
  return _OWN if name == _OWN.name else environments.load(name)


_IN_GRAPH = tuple(name for name in _NAMES if _load(name).is_in_graph)


def _actions(env, seed, num_worlds=_NUM_WORLDS):
  """Returns one random action of every agent."""
  rng = np.random.default_rng(seed)
  return tuple(
    tf.constant(
      rng.integers(
        0,
        role.action.maximum + 1,
        [num_worlds, role.num_agents, *role.action.shape],
      ),
      tf.int32,
    )
    for role in env.roles
  )


@functools.cache
def _play(env, num_steps=_NUM_STEPS):
  """Returns the states of worlds with random tasks and actions."""
  root = randomness.root(0)
  phi = env.task_space.sample_uniform(_NUM_WORLDS, root)
  states = [env.place(phi, root)]
  for index in range(num_steps):
    states.append(env.step(states[-1], _actions(env, index)))
  return states


@functools.cache
def _simulate(env, num_worlds):
  """Returns observations and outcomes of an episode's first steps."""
  phi = env.task_space.sample_uniform(_NUM_WORLDS, randomness.root(0))
  simulator = env.make_simulator(num_worlds)
  simulator.place(phi.numpy()[:num_worlds], (5, 6, 7))
  found = [simulator.observe()]
  for index in range(_NUM_STEPS):
    actions = [x.numpy()[:num_worlds] for x in _actions(env, index)]
    found.append((simulator.step(tuple(actions)), simulator.observe()))
  return found


def _outputs(env, state):
  return env.observe(state), env.reward(state), env.progress(state)


@parameterized.parameters(*((name,) for name in _NAMES))
class WorldTest(tf.test.TestCase, parameterized.TestCase):
  def test_describes_itself(self, name):
    env = _load(name)
    self.assertIsInstance(env, base.World)
    kind = base.Environment if env.is_in_graph else base.HostWorld
    self.assertIsInstance(env, kind)
    self.assertEqual(env.name, name)
    self.assertGreater(env.horizon, 0)
    self.assertIsInstance(env.is_terminal, bool)
    self.assertNotEmpty(env.roles)
    self.assertLen({role.name for role in env.roles}, len(env.roles))
    space = env.task_space
    self.assertLen(space.entity_of_dim, space.num_dims)
    self.assertSetEqual(
      set(space.entity_of_dim), set(range(space.num_entities))
    )

  def test_counts_begin_with_the_agents_that_act(self, name):
    env = _load(name)
    num_agents = sum(role.num_agents for role in env.roles)
    self.assertEqual(env.task_space.num_agents, num_agents)
    self.assertEqual(env.counts[0], num_agents)
    # Each looks at whatever is in phi, at least.
    self.assertGreaterEqual(
      env.num_vectors, num_agents * env.task_space.num_entities
    )

  def test_draws_of_tasks_have_their_shape_and_seed(self, name):
    space = _load(name).task_space
    for draw in (space.sample_easy, space.sample_uniform, space.sample_target):
      one, again, other = (
        draw(_NUM_WORLDS, randomness.root(seed)) for seed in (3, 3, 4)
      )
      self.assertEqual(one.shape, [_NUM_WORLDS, space.num_dims])
      self.assertEqual(one.dtype, tf.float32)
      self.assertAllEqual(one, again)
      self.assertNotAllEqual(one, other)

  def test_tasks_are_feasible(self, name):
    space, seed = _load(name).task_space, randomness.root(4)
    for draw in (space.sample_easy, space.sample_uniform, space.sample_target):
      feasible = space.feasible(draw(300, seed))
      self.assertEqual(feasible.shape, [300, space.num_entities])
      self.assertTrue(np.all(feasible))

  def test_clip_makes_feasible(self, name):
    space, seed = _load(name).task_space, randomness.root(5)
    noise = randomness.uniform(seed, [300, space.num_dims], -20.0, 20.0)
    phi = space.sample_uniform(300, seed) + noise
    self.assertFalse(np.all(space.feasible(phi)))
    self.assertTrue(np.all(space.feasible(space.clip(phi, seed))))


@parameterized.parameters(*((name,) for name in _NAMES))
class SimulatorTest(tf.test.TestCase, parameterized.TestCase):
  def test_the_checks_of_worlds_find_nothing(self, name):
    checked_simulator.check_world(_load(name))

  def test_tasks_are_placed(self, name):
    env = _load(name)
    simulator = env.make_simulator(_NUM_WORLDS)
    for draw in (env.task_space.sample_easy, env.task_space.sample_uniform):
      phi = draw(_NUM_WORLDS, randomness.root(3)).numpy()
      simulator.place(phi, [1, 2])
      self.assertAllClose(simulator.read_task(), phi, atol=1e-5)

  def test_seed_and_actions_decide_alone_and_in_company(self, name):
    env = _load(name)
    many = _simulate(env, _NUM_WORLDS)
    again = _simulate.__wrapped__(env, _NUM_WORLDS)
    tf.nest.map_structure(self.assertAllEqual, many, again)
    first = tf.nest.map_structure(lambda x: x[:2], many)
    tf.nest.map_structure(
      lambda x, y: self.assertAllClose(x, y, atol=1e-4),
      first,
      _simulate(env, 2),
    )

  def test_observations_stay_within_finite_bounds(self, name):
    env = _load(name)
    if name == _OWN.name:
      return  # Worlds of users need not say.
    found = _simulate(env, 2)
    seen = [found[0], *(observations for _, observations in found[1:])]
    for role, bounds in enumerate(env.observation_bounds()):
      kinds = {'own', *seen[0][role].entities}
      self.assertSetEqual(set(bounds), kinds)
      for kind, (low, high) in bounds.items():
        self.assertAllInRange(np.stack([low, high]), -1e5, 1e5)
        for x in seen:
          of_kind = {'own': x[role].own, **x[role].entities}[kind]
          self.assertTrue(np.all((of_kind >= low) & (of_kind <= high)), kind)

  def test_only_a_terminal_world_ends_at_the_horizon(self, name):
    env = _load(name)
    simulator = env.make_simulator(2)
    phi = env.task_space.sample_easy(2, randomness.root(0)).numpy()
    for _ in range(2):
      simulator.place(phi, [0])
      discounts = [
        simulator.step(
          tuple(x.numpy() for x in _actions(env, index, 2))
        ).discount
        for index in range(env.horizon)
      ]
      self.assertAllEqual(discounts[:-1], np.ones([env.horizon - 1, 2]))
      last = 0.0 if env.is_terminal else 1.0
      self.assertAllEqual(discounts[-1], [last, last])

  def test_arrays_are_kept_when_the_worlds_go_on(self, name):
    env = _load(name)
    simulator = env.make_simulator(2)
    phi = env.task_space.sample_easy(2, randomness.root(0)).numpy()
    simulator.place(phi, [0])
    kept = simulator.observe(), simulator.state
    copies = tf.nest.map_structure(np.array, kept)
    simulator.step(tuple(x.numpy() for x in _actions(env, 0, 2)))
    tf.nest.map_structure(self.assertAllEqual, kept, copies)


@parameterized.parameters(*((name,) for name in _IN_GRAPH))
class ConformanceTest(tf.test.TestCase, parameterized.TestCase):
  def test_outputs_have_the_shapes_and_types_of_the_roles(self, name):
    env = _load(name)
    for state in _play(env, num_steps=1):
      observations, rewards, progress = _outputs(env, state)
      self.assertEqual(progress.shape, [_NUM_WORLDS])
      self.assertEqual(progress.dtype, tf.float32)
      self.assertLen(observations, len(env.roles))
      self.assertLen(rewards, len(env.roles))
      for role, seen, reward in zip(
        env.roles, observations, rewards, strict=True
      ):
        leading = [_NUM_WORLDS, role.num_agents]
        self.assertEqual(reward.shape, leading)
        self.assertEqual(reward.dtype, tf.float32)
        self.assertEqual(seen.own.shape, [*leading, role.own_size])
        self.assertEqual(seen.own.dtype, tf.float32)
        self.assertSameElements(seen.entities, role.entity_sizes)
        self.assertSameElements(seen.masks, role.mask_kinds)
        self.assertContainsSubset(seen.masks, seen.entities)
        for kind, entities in seen.entities.items():
          self.assertEqual(entities.shape[:2], leading)
          self.assertEqual(entities.shape[-1], role.entity_sizes[kind])
          self.assertEqual(entities.dtype, tf.float32)
        for kind, mask in seen.masks.items():
          self.assertEqual(mask.shape, seen.entities[kind].shape[:-1])
          self.assertEqual(mask.dtype, tf.bool)

  def test_a_step_keeps_the_structure_of_a_state(self, name):
    env = _load(name)
    before, after = _play(env, num_steps=1)
    tf.nest.assert_same_structure(before, after)
    for old, new in zip(
      tf.nest.flatten(before), tf.nest.flatten(after), strict=True
    ):
      self.assertEqual(old.shape, new.shape)
      self.assertEqual(old.dtype, new.dtype)
      self.assertEqual(old.shape[0], _NUM_WORLDS)

  def test_everything_stays_finite(self, name):
    env = _load(name)
    for state in _play(env):
      for leaf in tf.nest.flatten((state, _outputs(env, state))):
        if leaf.dtype.is_floating:
          self.assertAllInRange(leaf, -1e3, 1e3)
      self.assertAllInRange(env.progress(state), 0.0, 1.0)

  def test_actions_matter_and_worlds_differ(self, name):
    env = _load(name)
    state = _play(env, num_steps=0)[0]
    leaves = tf.nest.flatten(env.step(state, _actions(env, 1)))
    others = tf.nest.flatten(env.step(state, _actions(env, 2)))
    pairs = zip(leaves, others, strict=True)
    self.assertTrue(any(np.any(one != other) for one, other in pairs))
    self.assertTrue(any(np.any(leaf[0] != leaf[1]) for leaf in leaves))

  def test_same_seed_same_trajectory(self, name):
    env = _load(name)
    again = _load.__wrapped__(name)
    for one, other in zip(_play(env), _play(again), strict=True):
      tf.nest.map_structure(self.assertAllEqual, one, other)

  def test_a_world_is_the_same_alone_and_in_company(self, name):
    env = _load(name)
    before, after = _play(env, num_steps=1)
    alone = tf.nest.map_structure(lambda leaf: leaf[2:3], before)
    actions = tuple(action[2:3] for action in _actions(env, 0))
    alone_after = env.step(alone, actions)
    expected = tf.nest.map_structure(lambda leaf: leaf[2:3], after)
    self.assertAllClose(alone_after, expected, atol=1e-5)
    self.assertAllClose(
      env.progress(alone_after), env.progress(after)[2:3], atol=1e-6
    )

  def test_place_then_read_task(self, name):
    env = _load(name)
    space, seed = env.task_space, randomness.root(3)
    for draw in (space.sample_easy, space.sample_uniform, space.sample_target):
      phi = draw(_NUM_WORLDS, seed)
      self.assertAllClose(env.read_task(env.place(phi, seed)), phi, atol=1e-6)

  def test_easy_tasks_are_nearer_to_their_goal_than_uniform_ones(self, name):
    env = _load(name)
    space, seed = env.task_space, randomness.root(6)
    step = tf.function(env.step, autograph=False)

    def best(phi):
      """Returns the best progress that random actions meet with, [B]."""
      state = env.place(phi, seed)
      progress = env.progress(state)
      for index in range(env.horizon):
        state = step(state, _actions(env, index, len(phi)))
        progress = tf.maximum(progress, env.progress(state))
      return progress

    # Some easy tasks begin solved, others one push from it.
    easy = best(space.sample_easy(300, seed))
    uniform = best(space.sample_uniform(300, seed))
    self.assertGreater(np.mean(easy), np.mean(uniform) + 0.1)

  def test_compiled_equals_eager(self, name):
    env = _load(name)

    def advance(state, actions):
      after = env.step(state, actions)
      return after, _outputs(env, after)

    compiled = tf.function(advance, jit_compile=True, autograph=False)
    for index, state in enumerate(_play(env, num_steps=3)):
      actions = _actions(env, index)
      self.assertAllClose(
        tf.nest.flatten(compiled(state, actions)),
        tf.nest.flatten(advance(state, actions)),
        atol=1e-5,
      )

  def test_draw_shows_every_world(self, name):
    env = _load(name)
    scenes = env.draw(_play(env, num_steps=0)[0])
    self.assertLen(scenes, _NUM_WORLDS)
    for scene in scenes:
      self.assertNotEmpty(scene.discs)
      self.assertNotEmpty(scene.caption)
      self.assertGreater(scene.half_width, 0.0)
      for disc in scene.discs:
        self.assertLen(disc.centre, 2)
        self.assertGreater(disc.radius, 0.0)


if __name__ == '__main__':
  tf.test.main()
