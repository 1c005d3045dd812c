# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for gymnasium_view: Gymnasium's own, and single worlds as oracles."""

import warnings

import gymnasium
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from gymnasium.utils import env_checker

from vacl_tf import environments
from vacl_tf.environments import adapters
from vacl_tf.environments import gymnasium_view
from vacl_tf.environments import pettingzoo_view
from vacl_tf.testing import fakes

_HORIZON = 4
_NUM_WORLDS = 3


def _vector(num_agents=2, num_worlds=_NUM_WORLDS, **more):
  return gymnasium_view.vector_env(
    'simple_spread',
    num_agents,
    num_worlds=num_worlds,
    horizon=_HORIZON,
    **more,
  )


class GymEnvTest(parameterized.TestCase):
  @parameterized.product(
    task=(('ramp_use', None, None), ('lock_and_return', 1, 1)),
    observations=('flat', 'dict'),
  )
  def test_its_own_checker_passes(self, task, observations):
    name, num_agents, num_boxes = task
    view = gymnasium_view.gym_env(
      name,
      num_agents,
      num_boxes=num_boxes,
      observations=observations,
      render_mode='rgb_array',
    )
    with warnings.catch_warnings():
      warnings.simplefilter('error')
      # It knows no way to make the other modes.
      warnings.filterwarnings('ignore', '.*alternative render modes.*')
      env_checker.check_env(view)

  def test_episodes_are_those_of_the_dm_env_view(self):
    view = gymnasium_view.gym_env('ramp_use', seed=3, observations='dict')
    oracle = adapters.DmEnv(environments.load('ramp_use'), seed=3)
    view.action_space.seed(0)
    for _ in range(2):
      (observation, _), step = view.reset(), oracle.reset()
      is_over = False
      while not is_over:
        expected = {k: x[0] for k, x in step.observation.items()}
        np.testing.assert_equal(observation, expected)
        action = view.action_space.sample()
        step = oracle.step(action[None])
        observation, reward, terminated, truncated, info = view.step(action)
        self.assertEqual(reward, step.reward[0])
        self.assertBetween(info['progress'], 0.0, 1.0)
        is_over = terminated or truncated
        self.assertEqual(is_over, step.last())
      self.assertTrue(terminated)
      self.assertEqual(step.discount, 0.0)

  def test_seeds_and_numbers_may_be_of_numpy(self):
    view = gymnasium_view.gym_env('ramp_use')
    batch = _vector(num_worlds=np.int64(2))
    for each in (view, batch):
      one, _ = each.reset(seed=np.int64(3))
      other, _ = each.reset(seed=3)
      np.testing.assert_array_equal(one, other)

  def test_many_agents_have_other_views(self):
    with self.assertRaisesRegex(
      ValueError, 'simple_spread has 4 agents; .*parallel_env.*vector_env'
    ):
      gymnasium_view.gym_env('simple_spread')


class MisuseTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls._shared = gymnasium_view.gym_env('ramp_use')

  @parameterized.parameters(
    ({'task': np.zeros(3)}, r"options\['task'\] has shape \[3\]; allowed: \[4"),
    ({'task': np.full(4, -9)}, 'not a legal task of ramp_use.*nearest'),
    ({'tusk': 1}, r"unknown keys \['tusk'\]; allowed keys: task, num_agents"),
    ({'num_agents': 2}, r"options\['num_agents'\]=2; allowed: 1"),
    (3, 'options=3 is not a dict'),
  )
  def test_bad_options_are_refused_and_the_episode_goes_on(
    self, options, message
  ):
    view = self._shared
    view.reset()
    before = view.simulator.state.position
    with self.assertRaisesRegex(ValueError, message) as error:
      view.reset(options=options)
    self.assertNotIn('\n', str(error.exception))
    np.testing.assert_array_equal(view.simulator.state.position, before)
    view.step(view.action_space.sample())

  @parameterized.parameters(
    ([1, 1, 1, 1], r'shape \[4\]\); allowed: 5 integers|of shape \[5\]'),
    ([11, 0, 0, 0, 0], r'from 0 to \[10, 10, 10, 1, 1\], as action_space'),
    ([0.5] * 5, 'float64'),
    ('up', "action='?up"),
    ([[1], [1, 2]], r'action=\[\[1\], \[1, 2\]\]'),
  )
  def test_bad_actions_are_refused(self, action, message):
    view = self._shared
    view.reset()
    with self.assertRaisesRegex(ValueError, message) as error:
      view.step(action)
    self.assertNotIn('\n', str(error.exception))
    self.assertEqual(view.simulator.state.step, 0)

  def test_steps_need_an_episode(self):
    view = gymnasium_view.gym_env('ramp_use')
    with self.assertRaisesRegex(
      ValueError, 'step was called before reset; call reset'
    ):
      view.step(view.action_space.sample())
    view.reset()
    view.close()
    view.close()
    with self.assertRaisesRegex(ValueError, 'closed; make a new one'):
      view.reset()


class VectorTest(parameterized.TestCase):
  @parameterized.parameters('flat', 'dict')
  def test_each_world_is_that_of_a_parallel_env(self, observations):
    tasks = np.random.default_rng(0).uniform(-1, 1, [_NUM_WORLDS, 8])
    view = _vector(observations=observations)
    self.assertEqual(view.num_envs, 2 * _NUM_WORLDS)
    seen, _ = view.reset(options={'task': tasks})
    single = pettingzoo_view.parallel_env(
      'simple_spread', 2, horizon=_HORIZON, observations=observations
    )
    actions = np.random.default_rng(1).integers(0, 5, [_HORIZON, view.num_envs])
    found = [view.step(x) for x in actions]
    for world, task in enumerate(tasks):
      first, _ = single.reset(options={'task': task})
      for n, agent in enumerate(single.possible_agents):
        self._assert_close(first[agent], seen, 2 * world + n)
      for step, several in enumerate(found):
        pair = actions[step, 2 * world : 2 * world + 2]
        expected = single.step(dict(zip(single.agents, pair, strict=True)))
        is_last = step == _HORIZON - 1
        for n, agent in enumerate(single.possible_agents):
          row = 2 * world + n
          if is_last:
            self._assert_close(expected[0][agent], several[4]['final_obs'][row])
          else:
            self._assert_close(expected[0][agent], several[0], row)
          for one, many in zip(expected[1:4], several[1:4], strict=True):
            self.assertAlmostEqual(one[agent], many[row], places=5)

  def _assert_close(self, one, many, row=None):
    if isinstance(many, dict):
      self.assertEqual(list(one), list(many))
      for name, array in many.items():
        self._assert_close(one[name], array, row)
      return
    expected = many if row is None else many[row]
    np.testing.assert_allclose(one, expected, atol=1e-4)

  def test_agents_may_have_no_entities(self):
    env = environments.load('lock_and_return', 1)
    view = gymnasium_view.VectorEnv(env, 1, observations='dict')
    seen, infos = view.reset()
    self.assertEqual(seen['agents'].shape[:2], (1, 0))
    self.assertIn(seen, view.observation_space)
    # The tasks that it returns are those that it takes.
    _, again = view.reset(options={'task': infos['task']})
    np.testing.assert_array_equal(again['task'], infos['task'])

  def test_at_the_horizon_new_episodes_begin(self):
    view = _vector()
    _, infos = view.reset(seed=1)
    actions = np.zeros([view.num_envs], int)
    for episode in range(2):
      for step in range(_HORIZON):
        found = view.step(actions)
        is_last = step == _HORIZON - 1
        self.assertEqual(found[3].tolist(), [is_last] * view.num_envs)
        self.assertFalse(found[2].any())
        self.assertEqual('final_obs' in found[4], is_last)
        self.assertIn(found[0], view.observation_space)
      self.assertTrue(found[4]['_final_obs'].all())
      self.assertIn('progress', found[4]['final_info'])
      # Observations are those of the new task: agents are where it puts them.
      task, before = found[4]['task'], infos['task']
      own = found[0].reshape([_NUM_WORLDS, 2, -1])[:, :, 2:4]
      places = task.reshape([_NUM_WORLDS, 2, -1])[:, 0, :4]
      np.testing.assert_allclose(own.reshape([_NUM_WORLDS, 4]), places)
      self.assertFalse(np.any(task == before), episode)
      infos = found[4]

  def test_a_world_that_ends_early_is_terminated_and_goes_on(self):
    view = gymnasium_view.VectorEnv(fakes.EndingWorld(), 2)
    first, _ = view.reset()
    for step in range(1, 7):
      observations, _, terminated, truncated, _ = view.step([1, 1, 1, 1])
      self.assertEqual(terminated.tolist(), [step % 3 == 0] * 4)
      self.assertFalse(truncated.any())
      if step % 3 == 0:
        np.testing.assert_array_equal(observations, first)

  def test_masks_and_continuous_actions_have_spaces(self):
    view = gymnasium_view.VectorEnv(fakes.MaskedWorld(), 2, observations='dict')
    self.assertIn(view.reset()[0], view.observation_space)
    self.assertEqual(
      view.single_observation_space['landmarks_mask'],
      gymnasium.spaces.Box(0, 1, [2], np.int8),
    )
    view = gymnasium_view.VectorEnv(fakes.DriftingWorld(), 2)
    self.assertEqual(
      view.single_action_space, gymnasium.spaces.Box(-1.0, 1.0, [1])
    )
    view.reset()
    view.step(view.action_space.sample())
    with self.assertRaisesRegex(
      ValueError, r'allowed: numbers of shape \[4, 1'
    ):
      view.step(np.full([4, 1], 2.0))

  def test_pictures_are_of_every_world(self):
    view = _vector(render_mode='rgb_array')
    view.reset()
    self.assertLen(view.render(), _NUM_WORLDS)

  def test_wrappers_understand_it(self):
    view = gymnasium.wrappers.vector.RecordEpisodeStatistics(_vector())
    view.reset()
    for _ in range(_HORIZON):
      *_, infos = view.step(view.action_space.sample())
    self.assertEqual(infos['episode']['l'].tolist(), [_HORIZON] * view.num_envs)

  def test_bad_arguments_are_refused(self):
    with self.assertRaisesRegex(ValueError, 'roles: speaker, listener; allow'):
      gymnasium_view.vector_env('speaker_listener', num_worlds=2)
    with self.assertRaisesRegex(ValueError, 'num_worlds=0; allowed: 1 or more'):
      _vector(num_worlds=0)
    with self.assertRaisesRegex(ValueError, "'human'; allowed: None, 'rgb_arr"):
      _vector(render_mode='human')

  def test_bad_calls_are_refused(self):
    view = _vector()
    with self.assertRaisesRegex(ValueError, 'step was called before reset'):
      view.step(np.zeros([6], int))
    for options, message in (
      ({'task': np.zeros([2, 8])}, r'\[2, 8\]; allowed: \[8\] or \[3, 8\]'),
      ({'task': np.full([3, 8], 7.0)}, 'not a legal task'),
      ({'num_agents': 3}, "'num_agents'.=3; allowed: 2"),
      ({'reset_mask': np.ones(6, bool)}, r"unknown keys \['reset_mask'\]"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        view.reset(options=options)
    view.reset()
    for actions, message in (
      (np.zeros([3], int), r'shape \[3\]\); allowed: 6 integers from 0 to 4'),
      (np.full([6], 5), r'actions=\[5, 5'),
    ):
      with self.assertRaisesRegex(ValueError, message):
        view.step(actions)
    view.close()
    view.close()


if __name__ == '__main__':
  absltest.main()
