# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every environment promises, checked for each that `load` knows.

`WorldTest` has what training must know of any world, `ConformanceTest` what
those do besides that run inside a graph. The tests' own LineWorld stands for
the worlds that users bring.
"""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.environments import base
from vacl_tf.testing import fakes

_NUM_WORLDS = 6
_NUM_STEPS = 20
_OWN = fakes.LineWorld()
_NAMES = (*environments.NAMES, _OWN.name)
_IN_GRAPH = (*environments.IN_GRAPH, _OWN.name)


def _load(name):
  return environments.load(_OWN if name == _OWN.name else name)


def _actions(env, seed, num_worlds=_NUM_WORLDS):
  """Returns one random action of every agent."""
  rng = np.random.default_rng(seed)
  shapes = [(role.num_actions, role.num_agents) for role in env.roles]
  return tuple(
    tf.constant(rng.integers(0, most, [num_worlds, num]), tf.int32)
    for most, num in shapes
  )


def _play(env, num_steps=_NUM_STEPS, seed=0):
  """Returns the states of worlds with random tasks and actions."""
  root = randomness.root(seed)
  phi = env.task_space.sample_uniform(_NUM_WORLDS, root)
  states = [env.place(phi, root)]
  for index in range(num_steps):
    states.append(env.step(states[-1], _actions(env, seed + index)))
  return states


def _outputs(env, state):
  return env.observe(state), env.reward(state), env.progress(state)


@parameterized.parameters(*((name,) for name in _NAMES))
class WorldTest(tf.test.TestCase, parameterized.TestCase):
  def test_describes_itself(self, name):
    env = _load(name)
    self.assertIsInstance(env, base.World)
    in_graph = isinstance(env, base.Environment)
    self.assertEqual(in_graph, name in _IN_GRAPH)
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
    self.assertEqual(env.task_space.count, num_agents)
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
    again = _load(name)
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
    step = tf.function(env.step)

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

    compiled = tf.function(advance, jit_compile=True)
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


class LoadTest(tf.test.TestCase, parameterized.TestCase):
  def test_an_environment_passes_through(self):
    env = environments.load(environments.NAMES[0])
    self.assertIs(environments.load(env), env)

  def test_an_unknown_name_is_refused_with_the_known_ones(self):
    with self.assertRaisesRegex(ValueError, 'nowhere.*allowed.*simple_spread'):
      environments.load('nowhere')

  @parameterized.parameters(
    ('simple_spread', 0, 100),
    ('simple_spread', 1, 100),
    ('simple_spread', 101, 100),
    ('hard_spread', 9, 8),
    ('push_ball', 9, 8),
  )
  def test_an_impossible_number_of_agents_is_refused(self, name, given, most):
    with self.assertRaisesRegex(ValueError, f'{given}.*allowed: 2 to {most}'):
      environments.load(name, num_agents=given)

  @parameterized.parameters(1, 3)
  def test_the_only_possible_number_of_agents_is_named(self, given):
    with self.assertRaisesRegex(ValueError, f'={given} .*; allowed: 2$'):
      environments.load('speaker_listener', num_agents=given)

  @parameterized.parameters(
    ({'name': 'simple_spread', 'num_boxes': 2}, r'num_boxes=2 .*leave it out'),
    ({'name': 'ramp_use', 'num_boxes': 1}, r'num_boxes=1 .*leave it out'),
    ({'name': 'lock_and_return', 'num_boxes': 9}, r'=9 .*allowed: 1 to 8'),
    ({'name': 'lock_and_return', 'num_agents': 9}, r'=9 .*allowed: 1 to 8'),
    ({'name': 'ramp_use', 'num_agents': 2}, r'=2 .*allowed: 1$'),
    ({'name': 'ramp_use', 'horizon': 30}, r'horizon=30: .* 60; leave it out'),
  )
  def test_an_impossible_world_is_refused(self, given, message):
    with self.assertRaisesRegex(ValueError, message):
      environments.load(**given)

  @parameterized.parameters(
    ('lock_and_return', 'reach', 0.5),
    ('lock_and_return', 'has_box', False),
    ('ramp_use', 'sees_birthplace', True),
    ('simple_spread', 'reward_scale', 0.1),
  )
  def test_a_variant_of_another_task_is_refused(self, name, field, value):
    variant = config.replace(config.HideAndSeekConfig(), {field: value})
    message = rf'hide_and_seek\.{field} .*{value}.* {name}; leave it out'
    with self.assertRaisesRegex(ValueError, message):
      environments.load(name, variant=variant)

  @parameterized.parameters(
    (None, None, (2, 2)), (4, None, (4, 4)), (None, 3, (3, 3)), (4, 2, (4, 2))
  )
  def test_agents_and_boxes_stand_in_for_each_other(
    self, agents, boxes, counts
  ):
    env = environments.load('lock_and_return', agents, num_boxes=boxes)
    self.assertEqual(env.counts, counts)
    self.assertEqual(
      env.task.slots, {'agents': counts[0] - 1, 'boxes': counts[1]}
    )

  def test_a_variant_reaches_its_task(self):
    variant = config.HideAndSeekConfig(
      has_box=False, reward_scale=0.1, reach=0.5
    )
    env = environments.load('ramp_use', variant=variant)
    self.assertEqual(set(env.roles[0].entity_sizes), {'hiders', 'ramps'})
    self.assertEqual((env.task.reward_scale, env.task.reach), (0.1, 0.5))

  @parameterized.parameters(
    ('push_ball', {'ppo.chunk_length': 10}, 'chunk_length=10: .*allowed: 1$'),
    ('ramp_use', {'network.hidden_size': 10}, 'size=10: .*allowed: multiples'),
    ('ramp_use', {'ppo.recall_cost': 0.1}, 'recall_cost=0.1: .*there: 0$'),
    ('push_ball', {'environment.name': 'pull'}, "'pull' is unknown; did"),
  )
  def test_a_network_that_does_not_fit_is_refused(self, name, values, message):
    cfg = config.replace(presets.make(env=name), values)
    with self.assertRaisesRegex(ValueError, message):
      environments.load_all(cfg)

  def test_what_the_value_alone_sees_is_where_an_agent_was_born(self):
    for shown in (False, True):
      variant = config.HideAndSeekConfig(sees_birthplace=shown)
      env = environments.load('lock_and_return', variant=variant)
      found = [
        env.task.features['own'][i].name for i in env.roles[0].unseen_place
      ]
      expected = [] if shown else ['birthplace_x', 'birthplace_y']
      self.assertEqual(found, expected)

  def test_every_count_of_a_path_is_loaded(self):
    cfg = presets.make(env='lock_and_return', num_agents=4)
    counts = [env.counts for env in environments.load_all(cfg)]
    self.assertEqual(counts, [(2, 2), (4, 2), (4, 4)])

  @parameterized.parameters('speaker_listener', 'ramp_use')
  def test_only_who_looks_over_entities_does_so_twice(self, name):
    cfg = config.replace(presets.make(env=name), {'network.num_hops': 2})
    with self.assertRaisesRegex(ValueError, f'hops=2: .*{name}.*allowed.*: 1'):
      environments.load_all(cfg)

  def test_who_looks_at_no_entities_has_the_frame_of_the_room(self):
    cfg = presets.make(env='speaker_listener')
    cfg = config.replace(cfg, {'network.frame': 'own'})
    with self.assertRaisesRegex(ValueError, 'own.*listener.*allowed.*: room'):
      environments.load_all(cfg)

  @parameterized.parameters(
    ('simple_spread', True), ('push_ball', True), ('hard_spread', False)
  )
  def test_open_squares_are_those_without_walls(self, name, expected):
    [role] = environments.load(name).roles
    self.assertEqual(role.is_in_square, expected)


if __name__ == '__main__':
  tf.test.main()
