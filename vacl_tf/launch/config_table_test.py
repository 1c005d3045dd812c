# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where constants come from is found out, not asserted."""

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import config_table


def _origins(cfg, given=None):
  rows = config_table.page(cfg, config.RunLength(), given or {})
  rows = rows.splitlines()[1:]
  split = (row.split(maxsplit=2) for row in rows)
  return {name: origin for name, _, origin in split}


class OriginTest(parameterized.TestCase):
  @parameterized.product(
    env=catalog.TASKS.names(),
    preset=('default', 'paper'),
    agent=(None, 'attention'),
    curriculum=('vacl', 'uniform'),
  )
  def test_what_differs_from_the_skeleton_is_of_preset_or_task(
    self, env, preset, agent, curriculum
  ):
    cfg = presets.make(
      env=env, preset=preset, agent=agent, curriculum=curriculum
    )
    bare = overrides.leaves(
      catalog.skeleton(cfg.environment, cfg.agent.name, curriculum)
    )
    leaves = overrides.leaves(cfg)
    origins = _origins(cfg)
    for name, value in leaves.items():
      if value != bare[name] and name not in ('preset', 'seed'):
        self.assertIn(origins[name], ('preset', 'task'), name)
      elif origins[name] == 'agent':
        self.assertStartsWith(name, 'agent.')

  def test_a_path_says_how_many_entities_there_are(self):
    cfg = presets.make(env='lock_and_return', path='2x2,4x2')
    fields = ('environment.num_agents', 'environment.num_boxes')
    self.assertEqual({_origins(cfg)[x] for x in fields}, {'task'})
    found = _origins(cfg, {'progression.entity_counts': 'run_dir'})
    self.assertEqual({found[x] for x in fields}, {'run_dir'})

  def test_columns_are_aligned_and_an_empty_value_is_seen(self):
    cfg = presets.make(env='simple_spread', curriculum='uniform')
    lines = config_table.page(cfg, config.RunLength(), {}).splitlines()
    at = lines[0].index('from')
    self.assertEqual({line[at - 1] for line in lines}, {' '})
    self.assertNotIn(' ', {line[at] for line in lines})
    self.assertRegex('\n'.join(lines), r'progression.entity_counts +\(empty\)')

  def test_titles_say_what_a_section_is(self):
    title = config_table.title(presets.make(env='push_ball'), 'ppo.clip')
    self.assertStartsWith(title, 'Constants, ppo: Proximal policy optim')


if __name__ == '__main__':
  absltest.main()
