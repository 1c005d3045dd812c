# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/guides/own_world.md run as they stand, and train."""

import importlib.util
import pathlib
import re
import sys
import tempfile

import tensorflow as tf
from absl.testing import absltest

from vacl_tf import environments
from vacl_tf.environments import box_tasks
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import gymnasium_world
from vacl_tf.environments import one_world
from vacl_tf.environments import pettingzoo_world
from vacl_tf.environments import python_world
from vacl_tf.launch import library
from vacl_tf.testing import products

_ROOT = pathlib.Path(__file__).parent.parent.parent
_GUIDE = _ROOT / 'docs/guides/own_world.md'
_EXAMPLES = _ROOT / 'examples/pettingzoo_spread'
_PROGRAM = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_NAMES = ('lamps', 'reach')
_MOST_LINES = 80


@absltest.skipUnless(_GUIDE.exists(), 'docs/ is not here')
class OwnWorldTest(tf.test.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    programs = _PROGRAM.findall(_GUIDE.read_text())
    folder = cls.enterClassContext(tempfile.TemporaryDirectory())
    cls.programs = {}
    for name, program in zip(_NAMES, programs, strict=True):
      assert program.count('\n') < _MOST_LINES, name
      path = pathlib.Path(folder, f'{name}.py')
      path.write_text(program)
      spec = importlib.util.spec_from_file_location(name, path)
      cls.programs[name] = importlib.util.module_from_spec(spec)
      spec.loader.exec_module(cls.programs[name])
    sys.path.append(str(_EXAMPLES))
    cls.spread = importlib.import_module('mpe_spread')

  def test_programs_show_each_kind_of_world(self):
    lamps, reach = (self.programs[name] for name in _NAMES)
    self.assertIsInstance(lamps.Lamps(2), one_world.OneWorld)
    self.assertIs(reach.gymnasium_world, gymnasium_world)
    self.assertIs(self.spread.pettingzoo_world, pettingzoo_world)

  def test_worlds_keep_their_contract(self):
    for name in ('lamps', 'reach', 'mpe_spread', 'mpe_spread_force'):
      world = environments.load(name)
      self.assertIsInstance(world, python_world.PythonWorld)
      self.assertIsInstance(world.task_space, box_tasks.Box)
      checked_simulator.check_world(world)
      phi = world.task_space.sample_uniform(3, tf.constant([0, 0])).numpy()
      simulator = world.make_simulator(3)
      simulator.place(phi, [0])
      self.assertAllClose(simulator.read_task(), phi)

  def test_a_numpy_world_is_learned_within_100_k_steps(self):
    changes = {'ppo.num_epochs': 3, 'training.num_evaluation_tasks': 200}
    cfg = library.make_config('lamps', changes=changes)
    run_dir = self.create_tempdir().full_path
    trained = library.train(
      cfg,
      run_dir,
      num_env_steps=100_000,
      stop_at_coverage=0.9,
      evaluation_interval=4,
    )
    self.assertGreaterEqual(trained.coverage, 0.9)
    self.assertLessEqual(trained.rows[-1]['env_steps'], 100_000)
    self.assertEqual(cfg.environment.name, 'lamps')
    found = library.evaluate(run_dir, num_tasks=50)
    self.assertGreater(found['coverage']['mean'], 0.8)

  def test_a_numpy_world_grows_with_the_constants_it_has(self):
    for num_agents, path in (3, [2, 3]), (8, [2, 4, 8]):
      envs = library.make_worlds(library.make_config('lamps', num_agents))
      self.assertEqual([env.roles[0].num_agents for env in envs], path)
    with self.assertRaisesRegex(ValueError, 'num_agents=9 is not possible'):
      library.make_config('lamps', 9)

  def test_gymnasium_and_pettingzoo_worlds_train(self):
    for name in ('reach', 'mpe_spread', 'mpe_spread_force'):
      products.check(self, products.Product(name, 'attention', 'vacl'))


if __name__ == '__main__':
  tf.test.main()
