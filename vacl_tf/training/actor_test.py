# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An actor does what its policy does when it is called by hand, in any view."""

import contextlib
import functools
import pathlib
import re
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

import vacl_tf
from vacl_tf import agents
from vacl_tf import presets
from vacl_tf.environments import adapters
from vacl_tf.environments import gymnasium_view
from vacl_tf.environments import pettingzoo_view
from vacl_tf.testing import fakes
from vacl_tf.testing import tiny
from vacl_tf.training import actor as actor_lib
from vacl_tf.training import export
from vacl_tf.training import policy_files

_ROOT = pathlib.Path(__file__).parents[2]
_RESULTS = _ROOT / 'results'
_PAGE = _ROOT / 'docs' / 'policies.md'
_PROGRAM = re.compile(r'^```python\n(.*?)^```$', re.M | re.S)
_STEPS = 6
# Acting changes nothing in a policy, so each is loaded only once.
_load_policy = functools.cache(policy_files.load_policy)
# A policy of each task, and numbers of agents and boxes to play with.
_PLAYED = (
  ('simple_spread_n4', 4, None),
  ('simple_spread_n4', 7, None),
  ('hard_spread_n4', 4, None),
  ('push_ball_n2', 3, None),
  ('speaker_listener_n2', 2, None),
  ('ramp_use_n1', 1, None),
  ('lock_and_return_n2x2', 2, 2),
  ('lock_and_return_n2x2', 3, 3),
)


# A world takes long to compile. `reset(seed)` does not depend on the past.
_dm_env = functools.cache(adapters.dm_environment)
_parallel_env = functools.cache(pettingzoo_view.parallel_env)


def _by_hand(policy, timesteps, counts, seed, greedy, begin=0):
  """Yields actions of a policy, called with the batch axis and its memory."""
  memory = policy.initial_state(tf.constant(1), tf.constant(counts))
  for step, timestep in enumerate(timesteps, begin):
    found = policy.act(
      seed=tf.constant([seed, step]),
      greedy=tf.constant(greedy),
      **{
        name.replace('/', '_'): tf.constant(x[None])
        for name, x in timestep.observation.items()
      },
      **memory,
    )
    memory = {name: found[name] for name in memory}
    yield {name: x[0].numpy() for name, x in found.items() if 'action' in name}


class _Case(parameterized.TestCase, tf.test.TestCase):
  def setUp(self):
    super().setUp()
    if not _RESULTS.is_dir():
      self.skipTest('results/ is not here')
    self.enter_context(
      mock.patch.object(policy_files, 'load_policy', _load_policy)
    )

  def assert_same(self, found, expected):
    tf.nest.assert_same_structure(found, expected)
    tf.nest.map_structure(self.assertAllEqual, found, expected)

  def assert_refused(self, actor, observation, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      actor(observation)
    self.assertNotIn('\n', str(caught.exception))


class ViewsTest(_Case):
  @parameterized.product(played=_PLAYED, greedy=(True, False))
  def test_it_acts_in_dm_env_as_its_policy_by_hand(self, played, greedy):
    run, num_agents, num_boxes = played
    folder = _RESULTS / run / 'seed0'
    policy, facts = policy_files.load_policy(folder)
    actor = actor_lib.load_actor(folder, seed=3, greedy=greedy)
    env = _dm_env(facts['env'], num_agents, num_boxes=num_boxes)
    has_roles = len(facts['roles']) > 1
    counts = [1, 1] if has_roles else num_agents
    for episode in range(2):
      actor.reset()
      timesteps, actions = [env.reset(seed=episode)], []
      for _ in range(_STEPS):
        actions.append(actor(timesteps[-1].observation))
        timesteps.append(env.step(actions[-1]))
      begin = episode * _STEPS
      expected = _by_hand(policy, timesteps[:-1], counts, 3, greedy, begin)
      for found, one in zip(actions, expected, strict=True):
        if has_roles:
          found = {f'{role}_action': x for role, x in found.items()}
        else:
          found = {'action': found}
        self.assert_same(found, one)

  @parameterized.product(played=_PLAYED, observations=('dict', 'flat'))
  def test_it_acts_in_pettingzoo_as_in_dm_env(self, played, observations):
    run, num_agents, num_boxes = played
    folder = _RESULTS / run / 'seed0'
    actor, other = (
      actor_lib.load_actor(folder, seed=1, greedy=False) for _ in range(2)
    )
    task = policy_files.load_policy(folder)[1]['env']
    one = _dm_env(task, num_agents, num_boxes=num_boxes)
    many = _parallel_env(
      task, num_agents, num_boxes=num_boxes, observations=observations
    )
    timestep, (seen, _) = one.reset(seed=5), many.reset(seed=5)
    for _ in range(_STEPS):
      expected = actor(timestep.observation)
      found = other(dict(reversed(seen.items())))  # The order does not matter.
      for agent, action in found.items():
        self.assertTrue(many.action_space(agent).contains(action))
        role, _, index = agent.rpartition('_')
        own = expected[role] if isinstance(expected, dict) else expected
        self.assertAllEqual(action, own[int(index)])
      self.assertCountEqual(found, many.agents)
      timestep, (seen, *_) = one.step(expected), many.step(found)

  @parameterized.parameters('dict', 'flat')
  def test_a_gymnasium_view_has_one_agent(self, observations):
    actor = actor_lib.load_actor(_RESULTS / 'ramp_use_n1' / 'seed0')
    env = gymnasium_view.gym_env('ramp_use', observations=observations)
    seen, _ = env.reset(seed=0)
    is_over = False
    while not is_over:
      action = actor({'agent_0': seen})['agent_0']
      seen, _, terminated, truncated, info = env.step(action)
      is_over = terminated or truncated
    self.assertEqual(info['progress'], 1.0)

  @parameterized.parameters('dict', 'flat')
  def test_masks_are_understood(self, observations):
    env = fakes.MaskedWorld()
    cfg = tiny.shrunk(presets.make(env='simple_spread', seed=1))
    policy = export.ExportedPolicy(agents.make(cfg, env.roles), env.roles)
    actor = actor_lib.Actor(policy, env, lambda n: env, greedy=False)
    one = adapters.DmEnv(env, seed=2)
    many = pettingzoo_view.ParallelEnv(env, seed=2, observations=observations)
    timestep, (seen, _) = one.reset(), many.reset()
    masks = timestep.observation['landmarks_mask']
    self.assertTrue(masks.any() and not masks.all())
    [expected] = _by_hand(policy, [timestep], len(masks), 0, False)
    self.assertAllEqual(list(actor(seen).values()), expected['action'])


class MemoryTest(_Case):
  def _actor(self, **options):
    folder = _RESULTS / 'lock_and_return_n2x2' / 'seed0'
    return actor_lib.load_actor(folder, **options)

  def _observations(self, num_agents=2):
    env = _dm_env('lock_and_return', num_agents)
    return [env.reset(seed=seed).observation for seed in range(_STEPS)]

  def test_a_reset_forgets_the_episode(self):
    actor = self._actor()
    seen = self._observations()
    first = list(map(actor, seen))
    actor.reset()
    self.assert_same(list(map(actor, seen)), first)
    again = list(map(actor, seen))  # Without a reset.
    self.assertNotAllEqual(np.stack(again), np.stack(first))

  def test_a_call_that_is_refused_changes_nothing(self):
    expected, actor = (self._actor(greedy=False) for _ in range(2))
    for one in self._observations():
      wrong = one | {'boxes': one['boxes'][:1]}
      self.assert_refused(actor, wrong, r'allowed: \[2, any, 15\]')
      self.assert_refused(actor, {'own': one['own']}, 'allowed: own, agents')
      self.assert_same(actor(one), expected(one))

  def test_other_agents_need_a_reset(self):
    actor = self._actor()
    two, three = self._observations()[0], self._observations(3)[0]
    actor(two)
    self.assert_refused(
      actor, three, r'of 3 agents, the one before was of 2; call reset\(\)'
    )
    actor.reset()
    self.assertLen(actor(three), 3)

  def test_equal_seeds_draw_equal_actions(self):
    seen = self._observations()
    played = [
      np.stack(list(map(self._actor(seed=seed, greedy=False), seen)))
      for seed in (0, 1, 0)
    ]
    self.assertAllEqual(played[0], played[2])
    self.assertNotAllEqual(played[0], played[1])
    greedy = [self._actor(seed=seed)(seen[0]) for seed in (0, 1)]
    self.assert_same(*greedy)


class RefusedTest(_Case):
  def _spread(self, num_agents, observations='dict'):
    env = _parallel_env('simple_spread', num_agents, observations=observations)
    return env.reset(seed=0)[0]

  def _check(self, observation, message, run='simple_spread_n4'):
    actor = actor_lib.load_actor(_RESULTS / run / 'seed0')
    self.assert_refused(actor, observation, message)

  @parameterized.parameters(
    (3, r'^observation is of type int; allowed: .*timestep\.observation'),
    (
      {},
      r'has the keys \[\]; allowed in simple_spread: own, agents, landmarks',
    ),
    ({'agent_1': {}}, r"has the keys \['agent_1'\]; .*such as agent_0"),
    ({0: {}}, r'has the keys \[0\]; '),
    (
      {'agent_0': {'own': np.zeros(4)}},
      r"observation\['agent_0'\] has the arrays \['own'\]; allowed: own, agent",
    ),
    (
      {'own': np.zeros([2, 4])},
      r"has the arrays \['own'\]; allowed: own, agents, landmarks, as views of",
    ),
  )
  def test_what_is_no_observation(self, observation, message):
    self._check(observation, message)

  @parameterized.parameters(
    ('own', np.zeros([1, 2, 4]), r'own .* shape \[1, 2, 4\] .*: \[any, 4\]'),
    ('own', np.zeros([3, 4]), r'agents .* shape \[2, 1, 2\] .*\[3, any, 2\]'),
    ('own', [[1.0], [1.0, 2.0]], r'type object; allowed: \[any, 4\] numbers'),
    ('own', [['a'] * 4] * 2, r'type <U1; allowed: \[any, 4\] numbers'),
    ('landmarks', np.zeros([2, 2, 2]), r'allowed: \[2, any, 3\]'),
  )
  def test_an_array_that_does_not_fit(self, name, array, message):
    env = _dm_env('simple_spread', 2)
    self._check(env.reset(seed=0).observation | {name: array}, message)

  def test_agents_that_see_different_numbers_of_entities(self):
    seen = self._spread(4)
    seen['agent_0']['landmarks'] = seen['agent_0']['landmarks'][:2]
    self._check(seen, r'landmarks by all agents .*; allowed: \[4, any, 3\]')

  def test_flat_vectors_of_another_world(self):
    seen = self._spread(4, 'flat')
    seen['agent_2'] = seen['agent_2'][:-3]
    self._check(
      seen, r"\['agent_2'\] has shape \[19\]; allowed: \[22\].*'dict'"
    )
    env = _parallel_env('lock_and_return', 2, num_boxes=3)
    seen, _ = env.reset(seed=0)
    message = r'has shape \[64\]; allowed: \[49\], as in lock_and_return with 2'
    self._check(seen, message, run='lock_and_return_n2x2')

  def test_observations_of_another_task(self):
    seen = _dm_env('push_ball', 2).reset(seed=0).observation
    self._check(seen, "has the arrays .*'balls'.* as views of simple_spread")

  def test_what_can_not_be_loaded(self):
    for path, seed, message in (
      (_RESULTS, 0, 'holds no exported policy .* give a run folder'),
      (_RESULTS / 'simple_spread_n4' / 'seed0', -1, 'seed=-1; allowed'),
    ):
      with self.assertRaisesRegex(ValueError, message):
        actor_lib.load_actor(path, seed=seed)


class PublicTest(_Case):
  def test_the_package_offers_it(self):
    self.assertIs(vacl_tf.load_actor, actor_lib.load_actor)
    self.assertIn('load_actor', dir(vacl_tf))

  @parameterized.parameters('', 'saved_model')
  def test_a_path_is_a_run_or_its_policy(self, inside):
    folder = _RESULTS / 'simple_spread_n4' / 'seed0' / inside
    self.assertIsInstance(actor_lib.load_actor(str(folder)), actor_lib.Actor)

  def test_the_programs_in_the_docs_run(self):
    if not _PAGE.is_file():
      self.skipTest('docs/ is not here')
    programs = [
      x for x in _PROGRAM.findall(_PAGE.read_text()) if 'import keras' not in x
    ]
    played = []
    with contextlib.chdir(_ROOT):
      for program in programs:
        played.append({})
        exec(program, played[-1])
    with_actor, of_many, by_hand = played
    self.assert_same(
      with_actor['timestep'].observation, by_hand['timestep'].observation
    )
    self.assertEqual(with_actor['env'].progress, by_hand['env'].progress)
    self.assertLen(of_many['infos'], 6)
    self.assertEmpty(of_many['env'].agents)


if __name__ == '__main__':
  tf.test.main()
