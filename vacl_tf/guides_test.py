# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/guides run as they stand there, and train."""

import contextlib
import importlib.util
import pathlib
import re
import sys
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import vacl_tf
from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import client
from vacl_tf import entity_counts
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf import studies
from vacl_tf.curriculum import python_curriculum
from vacl_tf.environments import adapters
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import gymnasium_view
from vacl_tf.environments import pettingzoo_view
from vacl_tf.testing import products

_GUIDES = pathlib.Path(__file__).parent.parent / 'docs' / 'guides'
_PROGRAM = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_MOST_LINES = 100


@absltest.skipUnless(_GUIDES.is_dir(), 'docs/ is not here')
class GuidesTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    # What guides register is gone after each test.
    for registry in (
      catalog.TASKS,
      catalog.AGENTS,
      catalog.CURRICULA,
      studies.STUDIES,
    ):
      self.enter_context(mock.patch.dict(registry._entries))

  def _programs(self, name):
    """Returns the programs of a guide."""
    self.assertTrue(vacl_tf.__version__)  # Not the empty package of Bazel.
    return _PROGRAM.findall((_GUIDES / f'{name}.md').read_text())

  def _run(self, name):
    """Returns the one program of a guide, as a module that was imported."""
    [program] = self._programs(name)
    return self._play(program, name)

  def _play(self, program, name):
    """Runs a program as a module of its own."""
    self.assertLess(program.count('\n'), _MOST_LINES)
    path = pathlib.Path(self.create_tempdir().full_path) / f'{name}.py'
    path.write_text(program)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with contextlib.chdir(path.parent):  # Some write a file.
      spec.loader.exec_module(module)
    return module

  def _run_own_task(self):
    """Registers the tasks of a guide of which one imports the other."""
    first, second = self._programs('own_task')
    module = self._play(first, 'rendezvous')
    self.enter_context(mock.patch.dict(sys.modules, {'rendezvous': module}))
    self._play(second, 'gather')

  def test_own_task(self):
    self._run_own_task()
    for task in ('rendezvous', 'gather'):
      checked_simulator.check_world(environments.load(task))
    for agent in ('attention', 'recurrent_attention'):
      products.check(self, products.Product('rendezvous', agent, 'vacl'))
    products.check(self, products.Product('gather', 'attention', 'vacl'))

  def test_own_task_is_the_same_in_tensorflow(self):
    self._run_own_task()
    worlds = [environments.load(name) for name in ('rendezvous', 'gather')]
    phi = worlds[0].task_space.sample_easy(20, randomness.root(0)).numpy()
    both = [world.make_simulator(20) for world in worlds]
    for simulator in both:
      simulator.place(phi, [0])
    rng = np.random.default_rng(0)
    for _ in range(10):
      actions = (rng.integers(0, 5, [20, 3]).astype(np.int32),)
      found, expected = (x.step(actions) for x in both)
      tf.nest.map_structure(self.assertAllClose, found, expected)
      tf.nest.map_structure(self.assertAllClose, *(x.observe() for x in both))
      self.assertAllClose(*(x.read_task() for x in both))
    self.assertBetween(found.progress.mean(), 0.1, 0.9)

  def test_own_task_has_a_map(self):
    self._run_own_task()
    cfg = presets.make(env='gather', num_agents=4, path='2,4')
    layout = catalog.TASKS.get('gather').layout(
      cfg.environment, entity_counts.path(cfg)
    )
    for num in (2, 4):
      points = layout.points(np.zeros([5, 2 + 2 * num]))
      self.assertEqual(points['beacon'].shape, (5, 1, 2))
      self.assertEqual(points['agent'].shape, (5, num, 2))
    env = environments.load('gather')
    state = env.place(tf.zeros([2, 8]), randomness.root(0))
    self.assertLen(env.draw(state)[1].discs, 4)

  def test_own_agent(self):
    self._run('own_agent')
    for task in ('speaker_listener', 'lock_and_return'):
      products.check(self, products.Product(task, 'deep_sets', 'uniform'))

  def test_own_curriculum(self):
    program = self._run('own_curriculum')
    self.assertIs(program.python_curriculum, python_curriculum)
    product = products.Product('simple_spread', 'attention', 'learnability')
    products.check(self, product)

  def test_own_study(self):
    self._run_own_task()
    for name in ('own_curriculum', 'own_study'):
      self._run(name)
    study = studies.find('rendezvous')
    self.assertEqual(study.baseline, 'vacl')
    runs = studies.list_runs(study, (100, 101, 102))
    self.assertLen(runs, 12)
    for run in runs:
      given = dict(flag.removeprefix('--').split('=') for flag in run.flags)
      cfg = presets.make(
        env=given['env'],
        num_agents=int(given['num_agents']),
        curriculum=given['curriculum'],
      )
      bounds.check(cfg)

  def test_other_learners(self):
    program = self._run('other_learners')
    self.assertIs(program.client, client)
    self.assertGreater(program.train('vacl'), 0.9)
    self.assertLess(program.train('uniform', num_rounds=5), 0.1)

  def test_gymnasium_and_pettingzoo(self):
    self.assertIs(vacl_tf.parallel_env, pettingzoo_view.parallel_env)
    self.assertIs(vacl_tf.vector_env, gymnasium_view.vector_env)
    self.assertIs(vacl_tf.gym_env, gymnasium_view.gym_env)
    programs = self._programs('gymnasium_pettingzoo')
    played = [
      self._play(program, f'view_{index}')
      for index, program in enumerate(programs)
    ]
    first, told, single, vector, dm, films, _ = played
    self.assertLen(first.infos, 4)
    self.assertEmpty(first.env.agents)
    own_lines = [x for x in programs[0].splitlines() if x]
    self.assertLessEqual(len(own_lines), 10)
    self.assertAllEqual(told.env.possible_agents, told.aec.possible_agents)
    self.assertLen(told.env.possible_agents, 3)
    self.assertTrue(single.terminated)
    self.assertEqual(vector.observations.shape, (256, 22))
    self.assertIsInstance(dm.env, adapters.DmEnv)
    self.assertAllClose(dm.timestep.observation['own'][0, 2], -2.0)
    self.assertLen(films.frames, films.task.horizon + 1)


if __name__ == '__main__':
  tf.test.main()
