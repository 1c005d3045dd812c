# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for pettingzoo_view: PettingZoo's own, and dm_env's view as oracle."""

import importlib.util
import sys
import warnings
from unittest import mock

import matplotlib
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from matplotlib import pyplot
from pettingzoo import test
from pettingzoo import utils

from vacl_tf import environments
from vacl_tf.environments import adapters
from vacl_tf.environments import pettingzoo_view

_HORIZON = 4


def _view(name='simple_spread', num_agents=None, **more):
  if name in ('lock_and_return', 'ramp_use'):
    return pettingzoo_view.parallel_env(name, num_agents, **more)
  return pettingzoo_view.parallel_env(
    name, num_agents, horizon=_HORIZON, **more
  )


def _sampled(view, rng):
  for agent in view.agents:
    view.action_space(agent).seed(int(rng.integers(1000)))
  return {agent: view.action_space(agent).sample() for agent in view.agents}


class ApiTest(parameterized.TestCase):
  @parameterized.parameters(
    ('simple_spread', 'dict'),
    ('hard_spread', 'flat'),
    ('push_ball', 'flat'),
    ('speaker_listener', 'flat'),
    ('lock_and_return', 'dict'),
    ('ramp_use', 'flat'),
  )
  def test_its_own_suites_pass(self, name, observations):
    views = [_view(name, observations=observations) for _ in range(2)]
    with warnings.catch_warnings():
      # Some want vectors and agents that are all alike.
      warnings.simplefilter('ignore')
      test.parallel_api_test(views[0], num_cycles=2 * _HORIZON)
      test.api_test(utils.parallel_to_aec(views[0]), num_cycles=2 * _HORIZON)
      test.state_test(utils.parallel_to_aec(views[1]), views[1])
      rest = iter(views)
      test.parallel_seed_test(lambda: next(rest), num_cycles=_HORIZON)

  @parameterized.parameters(
    'simple_spread', 'speaker_listener', 'lock_and_return', 'ramp_use'
  )
  def test_flat_observations_have_finite_bounds(self, name):
    view = _view(name)
    observations, _ = view.reset()
    for agent in view.agents:
      space = view.observation_space(agent)
      self.assertTrue(np.isfinite([space.low, space.high]).all())
      self.assertTrue(space.contains(observations[agent]))
      self.assertTrue(np.all(space.low <= space.high))

  def test_the_state_is_what_all_agents_observe(self):
    view = _view('speaker_listener', seed=1)
    observations, _ = view.reset()
    whole = np.concatenate([observations[agent] for agent in view.agents])
    np.testing.assert_array_equal(view.state(), whole)
    self.assertTrue(view.state_space.contains(view.state()))
    view = _view(num_agents=2, observations='dict')
    view.reset(options={'num_agents': 3})
    self.assertEqual(view.state().shape, (3 * (4 + 2 * 2 + 3 * 3),))
    self.assertTrue(view.state_space.contains(view.state()))


class OracleTest(parameterized.TestCase):
  """The dm_env view with the same seed has the same episodes."""

  @parameterized.parameters('simple_spread', 'lock_and_return')
  def test_episodes_are_those_of_the_dm_env_view(self, name):
    view = _view(name, num_agents=2, seed=5, observations='dict')
    flat = _view(name, num_agents=2, seed=5)
    oracle = adapters.DmEnv(
      environments.load(name, 2, horizon=_HORIZON)
      if name == 'simple_spread'
      else environments.load(name, 2),
      seed=5,
    )
    rng = np.random.default_rng(0)
    for _ in range(2):
      (seen, _), (vectors, _) = view.reset(), flat.reset()
      step = oracle.reset()
      while view.agents:
        agents = list(view.agents)
        for row, agent in enumerate(agents):
          expected = {k: x[row] for k, x in step.observation.items()}
          np.testing.assert_equal(seen[agent], expected)
          joined = np.concatenate([x.ravel() for x in expected.values()])
          np.testing.assert_array_equal(vectors[agent], joined)
        actions = _sampled(view, rng)
        step = oracle.step(np.stack(list(actions.values())))
        seen, rewards, terminated, truncated, _ = view.step(actions)
        vectors, *_ = flat.step(actions)
        self.assertEqual(list(rewards.values()), step.reward.tolist())
        ended = step.last() and step.discount == 0.0
        cut = step.last() and step.discount == 1.0
        self.assertEqual(terminated, dict.fromkeys(agents, ended))
        self.assertEqual(truncated, dict.fromkeys(agents, cut))
      self.assertTrue(step.last())

  def test_a_seed_holds_for_any_number_of_agents(self):
    def tasks(view, seed):
      first = view.reset(seed, {'num_agents': 2})[1]['agent_0']['task']
      found = [
        view.reset(options={'num_agents': num})[1]['agent_0']['task']
        for num in (3, 2, 3)
      ]
      return [first, *found]

    view = _view(num_agents=2)
    for seed in (1, 2, 1):  # Also of worlds that were played before.
      found, expected = tasks(view, seed), tasks(_view(num_agents=2), seed)
      for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
      self.assertFalse(np.any(found[1] == found[3]))
    self.assertFalse(np.any(tasks(view, 2)[1] == found[1]))

  def test_a_seed_begins_anew(self):
    view = _view(num_agents=2)
    tasks = [view.reset(seed)[1]['agent_0']['task'] for seed in (1, None, 1)]
    np.testing.assert_array_equal(tasks[0], tasks[2])
    self.assertFalse(np.any(tasks[0] == tasks[1]))


class OptionsTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls._shared = _view(num_agents=2)

  def test_a_task_is_placed_for_one_episode(self):
    view, phi = _view(num_agents=2), np.linspace(-2.0, 2.0, 8)
    observations, infos = view.reset(options={'task': phi})
    np.testing.assert_allclose(infos['agent_1']['task'], phi, rtol=1e-6)
    np.testing.assert_allclose(observations['agent_1'][2:4], phi[2:4])
    _, infos = view.reset()
    self.assertFalse(np.allclose(infos['agent_1']['task'], phi))

  def test_the_number_of_agents_changes_and_changes_back(self):
    view = _view(num_agents=2)
    space = view.observation_space('agent_0')
    for num_agents in (3, 3, 2):
      observations, _ = view.reset(options={'num_agents': num_agents})
      names = [f'agent_{index}' for index in range(num_agents)]
      self.assertEqual([view.agents, view.possible_agents], [names, names])
      for agent in names:
        self.assertIn(observations[agent], view.observation_space(agent))
      view.step(dict.fromkeys(names, 1))
    self.assertIs(view.observation_space('agent_0'), space)

  def test_unknown_options_are_told(self):
    with self.assertWarnsRegex(
      UserWarning, r"unknown keys \['tusk'\]; allowed keys: task, num_agents"
    ):
      _view(num_agents=2).reset(options={'tusk': 1})

  @parameterized.parameters(
    ({'task': np.zeros(7)}, r"options\['task'\] has shape \[7\]; allowed: \[8"),
    ({'task': 'x'}, r"options\['task'\]='x' is not an array of numbers"),
    ({'task': np.full(8, 9.0)}, r"options\['task'\]=\[9.0.*nearest legal task"),
    ({'num_agents': 2.5}, r"\['num_agents'\]=2.5; allowed: a whole number"),
    ({'num_agents': 101}, 'num_agents=101 is not possible.*2 to 100'),
    ([1], r'options=\[1\] is not a dict'),
  )
  def test_bad_ones_are_refused_and_the_episode_goes_on(self, options, message):
    view = self._shared
    view.reset()
    before = view.simulator.state
    with self.assertRaisesRegex(ValueError, message) as error:
      view.reset(options=options)
    self.assertNotIn('\n', str(error.exception))
    self.assertIs(view.simulator.state, before)
    view.step({'agent_0': 0, 'agent_1': 0})


class MisuseTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls._shared = _view(num_agents=2)

  @parameterized.parameters(
    ({'agent_0': 1}, r"lack \['agent_1'\]"),
    ({'agent_0': 1, 'agent_1': 1, 'x': 1}, r"the unknown agents \['x'\]"),
    ([1, 1], 'is not a dict by agent; allowed keys: agent_0, agent_1'),
    ({'agent_0': 1, 'agent_1': 5}, r"\['agent_1'\]=5 .*integer from 0 to 4"),
    ({'agent_0': 1, 'agent_1': 1.0}, r"\['agent_1'\]=1.0 \(float64"),
    ({'agent_0': 1, 'agent_1': [1, 2]}, r"\['agent_1'\]=\[1, 2\]"),
    ({'agent_0': None, 'agent_1': 1}, r"\['agent_0'\]=None"),
  )
  def test_bad_actions_are_refused_and_nothing_is_played(
    self, actions, message
  ):
    view = self._shared
    view.reset()
    before = view.simulator.state
    with self.assertRaisesRegex(ValueError, message) as error:
      view.step(actions)
    self.assertNotIn('\n', str(error.exception))
    self.assertIs(view.simulator.state, before)

  def test_steps_need_an_episode(self):
    view, actions = _view(num_agents=2), {'agent_0': 0, 'agent_1': 0}
    with self.assertRaisesRegex(
      ValueError, 'step was called before reset; call reset'
    ):
      view.step(actions)
    view.reset()
    for _ in range(_HORIZON):
      self.assertNotEmpty(view.agents)
      view.step(actions)
    self.assertEmpty(view.agents)
    with self.assertRaisesRegex(
      ValueError, 'after the end of an episode; call'
    ):
      view.step(actions)
    view.reset()
    view.close()
    view.close()
    for call in (view.reset, lambda: view.step(actions)):
      with self.assertRaisesRegex(ValueError, 'closed; make a new one'):
        call()

  @parameterized.parameters(
    (
      {'observations': 'image'},
      "observations='image'; allowed: 'flat', 'dict'",
    ),
    ({'render_mode': 'ansi'}, "render_mode='ansi'; allowed: None, 'human', 'r"),
    ({'num_agents': 1}, 'num_agents=1 is not possible'),
    ({'seed': -1}, 'seed=-1'),
  )
  def test_bad_arguments_are_refused(self, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      _view(**arguments)

  @parameterized.parameters('gymnasium', 'pettingzoo')
  def test_a_missing_package_is_named_with_the_remedy(self, package):
    name = {'gymnasium': 'spaces', 'pettingzoo': 'pettingzoo_view'}[package]
    spec = importlib.util.find_spec(f'vacl_tf.environments.{name}')
    module = importlib.util.module_from_spec(spec)
    with (
      mock.patch.dict(sys.modules, {package: None}),
      self.assertRaisesRegex(ImportError, f'pip install {package}$'),
    ):
      spec.loader.exec_module(module)


class RenderTest(parameterized.TestCase):
  @parameterized.parameters('simple_spread', 'ramp_use')
  def test_pictures_follow_the_world(self, name):
    view = _view(name, render_mode='rgb_array')
    with self.assertRaisesRegex(ValueError, 'render was called before reset'):
      view.render()
    view.reset(seed=0)
    pictures = [view.render()]
    for _ in range(3):
      view.step(_sampled(view, np.random.default_rng(0)))
      pictures.append(view.render())
    for picture in pictures:
      self.assertEqual((picture.dtype, picture.shape[-1]), (np.uint8, 3))
      self.assertEqual(picture.shape, pictures[0].shape)
    self.assertTrue(np.any(pictures[0] != pictures[-1]))

  def test_a_view_that_does_not_render_says_how(self):
    view = _view(num_agents=2)
    view.reset()
    with self.assertRaisesRegex(ValueError, "with render_mode='rgb_array'"):
      view.render()

  def test_a_window_shows_each_step(self):
    matplotlib.use('Agg')
    view = _view(num_agents=2, render_mode='human')
    self.assertEmpty(pyplot.get_fignums())
    drawn = []
    with mock.patch.object(pyplot, 'pause'):
      view.reset(seed=0)
      for _ in range(2):
        [number] = pyplot.get_fignums()
        [image] = pyplot.figure(number).axes[0].get_images()
        drawn.append(np.array(image.get_array()))
        view.step({'agent_0': 1, 'agent_1': 1})
    self.assertTrue(np.any(drawn[0] != drawn[1]))
    self.assertIsNone(view.render())
    view.close()
    self.assertEmpty(pyplot.get_fignums())

  def test_each_view_has_its_own_window(self):
    matplotlib.use('Agg')
    one, other = (_view(num_agents=2, render_mode='human') for _ in range(2))
    mine = pyplot.figure()
    with mock.patch.object(pyplot, 'pause'):
      one.reset(seed=0)
      other.reset(seed=0)
    self.assertLen(pyplot.get_fignums(), 3)
    one.close()
    self.assertLen(pyplot.get_fignums(), 2)
    other.close()
    self.assertEqual(pyplot.get_fignums(), [mine.number])
    pyplot.close(mine)


if __name__ == '__main__':
  absltest.main()
