# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pictures of curricula show tasks where they are, early to late."""

import pathlib
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized
from matplotlib import image

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import box_tasks
from vacl_tf.environments import python_world
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import records
from vacl_tf.testing import run_folders
from vacl_tf.training import history


def _layout(name):
  return plot_curriculum.layout_of(presets.make(env=name))


class LayoutTest(parameterized.TestCase):
  @parameterized.parameters(
    'simple_spread', 'hard_spread', 'push_ball', 'speaker_listener'
  )
  def test_layout_is_that_of_the_environment(self, name):
    layout = _layout(name)
    space = environments.load(name).task_space
    phi = space.sample_target(500, randomness.root(0)).numpy()
    points = phi.reshape(500, len(layout.kinds), -1, 2)
    for kind, found in zip(
      layout.kinds, points.transpose(1, 3, 0, 2), strict=True
    ):
      box = layout.goals if kind == layout.goal else layout.movers
      sides = np.reshape(box, [2, 2])
      np.testing.assert_allclose(found.min((1, 2)), sides[:, 0], atol=0.1)
      np.testing.assert_allclose(found.max((1, 2)), sides[:, 1], atol=0.1)

  @parameterized.parameters(('ramp_use', 4), ('lock_and_return', 8))
  def test_tasks_of_hide_and_seek_are_in_metres(self, name, num_dims):
    layout = _layout(name)
    phi = layout.sample(50)
    self.assertEqual(phi.shape, (50, num_dims))
    points = layout.points(phi)
    self.assertEqual(tuple(points), layout.kinds)
    for found in points.values():
      self.assertEqual(found.shape, (50, num_dims // 4, 2))
      self.assertBetween(found.min(), 0.1, 1.0 if num_dims == 4 else 7.0)
      self.assertBetween(found.max(), layout.goals[1] - 2.0, layout.goals[1])

  def test_counts_of_agents_and_boxes_may_differ(self):
    cfg = presets.make(env='lock_and_return', path='2x2,4x2,4x4')
    layout = plot_curriculum.layout_of(cfg)
    for num_agents, num_boxes in ((2, 2), (4, 2), (4, 4)):
      num = num_agents + num_boxes
      points = layout.points(np.arange(2.0 * num).reshape(1, -1))
      self.assertEqual(points['agent'].shape, (1, num_agents, 2))
      np.testing.assert_allclose(
        points['box'][0, :, 0], 0.4 * np.arange(num_agents, num)
      )

  def test_points_of_a_plain_python_world_have_a_map(self):
    def tasks(num_agents):
      corner = np.full([2 * num_agents, 2], 3.0)
      return box_tasks.Box(
        *(-corner, corner),
        lambda num, rng: np.zeros([num, *corner.shape]),
        kinds=num_agents * ['agent'] + num_agents * ['lamp'],
      )

    self.enter_context(mock.patch.dict(catalog.TASKS._entries))
    python_world.register(
      *('own', lambda num_agents: None, tasks),
      horizon=4,
      num_agents=2,
      max_agents=8,
    )
    layout = plot_curriculum.layout_of(
      presets.make(env='own', num_agents=4, path='2,4')
    )
    for num_agents in (2, 4):
      points = layout.points(np.zeros([7, 4 * num_agents]))
      self.assertEqual(list(points), ['agent', 'lamp'])
      self.assertEqual(points['lamp'].shape, (7, num_agents, 2))
    self.assertEqual(layout.movers, (-3.0, 3.0, -3.0, 3.0))
    self.assertEqual(layout.sample(5).shape, (5, 16))

  def test_walls_are_those_of_the_world(self):
    layout = _layout('hard_spread')
    env = environments.load('hard_spread')
    phi = env.task_space.sample_easy(1, randomness.root(0))
    (scene,) = env.draw(env.place(phi, randomness.root(0)))
    drawn = [(*low, *high) for low, high in scene.slabs]
    for left, right, bottom, top in layout.walls:
      self.assertIn((left, bottom, right, top), drawn)
    self.assertLen(layout.walls, len(drawn) - 4)  # Outer ones are out of view.
    self.assertEmpty(_layout('simple_spread').walls)
    walls = np.array(_layout('ramp_use').walls)
    self.assertGreater(len(walls), 4)  # The room's, besides the outer ones.
    self.assertTrue((walls[:, ::2] < walls[:, 1::2]).all())


class PlayedTest(absltest.TestCase):
  def test_what_a_curriculum_in_numpy_plays_is_drawn(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    run = run_folders.write_run(
      root / 'run', has_sets=False, curriculum='rcg', num_agents=4
    )
    record = records.read(run)
    world = environments.load('simple_spread', num_agents=4)
    made = curriculum.make(record.cfg, [world], randomness.root(0))
    for iteration in (1, 20, 40):
      seed = randomness.root(iteration)
      [batch] = made.sample(record.cfg.training.num_tasks, seed)
      value = tf.cast(tf.range(len(batch.phi)) % 3, tf.float32) / 2.0
      told = types.TaskFeedback(value, **dict.fromkeys(made.feedback, value))
      made.update((batch,), (told,), tf.constant([np.nan]), seed)
      history.record(run / 'curriculum.npz', made, iteration)
    found, sets = plot_curriculum.find([record])
    self.assertIs(found, record)
    self.assertEqual(list(sets.snapshots), [1, 20, 40])
    last = sets.snapshots[40]
    np.testing.assert_array_equal(
      last['solved_phi'], batch.phi.numpy()[2::3], strict=True
    )
    output = root / 'curriculum.png'
    plot_curriculum.draw(record, sets, output)
    self.assertEqual(image.imread(output).shape[1], 1200)


class RunningMeanTest(absltest.TestCase):
  def test_it_is_of_what_is_known(self):
    values = np.array([np.nan, 1.0, 3.0, np.nan, np.nan, np.nan, 5.0])
    found = plot_curriculum._running_mean(values, 3)
    np.testing.assert_array_equal(found, [np.nan, 1, 2, 2, 3, np.nan, 5])


class StagesTest(absltest.TestCase):
  def _stages(self, path, **columns):
    cfg = presets.make(env='lock_and_return', path=path)
    steps = 1e6 * np.arange(1.0, 1 + len(columns['num_agents']))
    record = records.Record(
      path=pathlib.Path(),
      cfg=cfg,
      columns={'env_steps': steps}
      | {k: np.array(x) for k, x in columns.items()},
      length=config.RunLength(),
    )
    return plot_curriculum.find_stages(record)

  def test_stages_begin_with_their_agents_or_after_the_last_boxes(self):
    nan = np.nan
    found = self._stages(
      '2x2,4x2,4x4',
      num_agents=[2, 2, 4, 4, 4, 4],
      mixing_weight=[1, 1, 0.9, 1, 1, 1],
      coverage_n4x2=[nan, nan, nan, 0.5, nan, nan],
      coverage=[0.1, nan, nan, 0.2, nan, 0.3],
    )
    self.assertEqual(found, [(0.0, '2x2'), (3.0, '4x2'), (5.0, '4x4')])

  def test_a_stage_that_has_not_come_is_not_told(self):
    columns = {'num_agents': [2, 2], 'mixing_weight': [1, 1]}
    columns['coverage'] = [0.1, 0.2]
    self.assertEqual(self._stages('2x2,4x2,4x4', **columns), [(0.0, '2x2')])

  def test_between_evaluations_no_stage_begins(self):
    nan = np.nan
    found = self._stages(
      '2x2,4x2,4x4',
      num_agents=[2, 4, 4, 4],
      mixing_weight=[1, 0.9, 1, 1],
      coverage_n4x2=[nan, 0.5, nan, nan],
      coverage=[0.1, 0.2, nan, nan],
    )
    self.assertEqual(found, [(0.0, '2x2'), (2.0, '4x2')])

  def test_no_progression_no_stages(self):
    columns = {'num_agents': [2, 2], 'mixing_weight': [1, 1]}
    self.assertEmpty(self._stages('2x2', **columns))
    self.assertEmpty(self._stages('2x2,4x2', num_agents=[2, 4]))


if __name__ == '__main__':
  absltest.main()
