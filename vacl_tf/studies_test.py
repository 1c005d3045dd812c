# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for studies."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import bounds
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf import studies
from vacl_tf import study_methods

_FACTORIAL = studies.find('factorial')
_STUDIES = [studies.find(name) for name in studies.STUDIES.names()]
_SEEDS = (100, 101)


def _config(run):
  """Returns the config that launch.main would make of a run's flags."""
  values = dict(flag.removeprefix('--').split('=') for flag in run.flags)
  cfg = presets.make(
    env=values.pop('env'),
    num_agents=int(values.pop('num_agents', 0)) or None,
    preset=values.pop('preset', 'default'),
    curriculum=values.pop('curriculum', None),
    path=values.pop('entity_counts', None),
    seed=int(values.pop('seed')),
  )
  assert int(values.pop('num_env_steps')) == run.task.num_env_steps
  known = overrides.leaves(cfg)
  given = {name.removeprefix('config.'): x for name, x in values.items()}
  return overrides.replace(
    cfg, {name: _parsed(x, known[name]) for name, x in given.items()}
  )


def _parsed(text, default):
  return text == 'true' if isinstance(default, bool) else type(default)(text)


class StudiesTest(parameterized.TestCase):
  @parameterized.parameters(*studies.STUDIES.names())
  def test_all_runs_are_possible_and_differ(self, name):
    runs = studies.list_runs(studies.find(name), _SEEDS)
    self.assertLen({run.name for run in runs}, len(runs))
    configs = [_config(run) for run in runs]
    for cfg in configs:
      bounds.check(cfg)
    for (run, cfg), (other, theirs) in itertools.combinations(
      zip(runs, configs, strict=True), 2
    ):
      self.assertNotEqual(
        (cfg, run.task.num_env_steps),
        (theirs, other.task.num_env_steps),
        f'{run.name} is {other.name}',
      )

  @parameterized.parameters(*_FACTORIAL.tasks)
  def test_paper_is_the_curriculum_of_that_preset(self, *task):
    run = studies.Run(studies.Task(*task), 'vacl_paper', 100)
    cfg = _config(run)
    name, count = cfg.environment.name, cfg.environment.num_agents
    paper = presets.make(env=name, num_agents=count, preset='paper')
    self.assertEqual(cfg.curriculum, paper.curriculum)
    # And nothing but the curriculum.
    ours = _config(run._replace(method=studies.BASELINE))
    differing = overrides.differences(ours, cfg)
    self.assertTrue(all(x.startswith('curriculum.') for x in differing))

  def test_one_thing_is_left_out_at_a_time(self):
    task = _FACTORIAL.tasks[0]
    ours = _config(studies.Run(task, studies.BASELINE, 100))
    for method, want in {
      'uniform': 'curriculum.name: vacl -> uniform',
      'no_frame': 'agent.observation_frame: egocentric -> world',
      'one_hop': 'agent.num_hops: 2 -> 1',
      'all_noisy': 'curriculum.noise_probability: 0.25 -> 1.0',
      'gradient_norm_20': 'ppo.max_gradient_norm: 1.0 -> 20.0',
    }.items():
      theirs = _config(studies.Run(task, method, 100))
      found = overrides.differences(ours, theirs)
      if method == 'uniform':  # It has none of the other constants.
        found = [x for x in found if not x.endswith(' -> none')]
      self.assertEqual(found, [want])

  def test_with_decay_a_run_settles_as_the_preset_says(self):
    task = _FACTORIAL.tasks[0]
    ours, theirs = (
      _config(studies.Run(task, method, 100))
      for method in (studies.BASELINE, 'with_decay')
    )
    self.assertCountEqual(
      overrides.differences(ours, theirs),
      [
        'ppo.average_share: 0.0 -> 0.05',
        'ppo.decay_start_coverage: 0.0 -> 0.5',
      ],
    )

  def test_the_preset_of_the_paper_runs_as_published(self):
    [run] = studies.list_runs(studies.find('paper'), _SEEDS[:1])
    published = presets.make(
      env='simple_spread', num_agents=4, preset='paper', seed=100
    )
    self.assertEqual(_config(run), published)
    self.assertNotIn('decay', ' '.join(run.flags))

  def test_the_learner_of_the_paper_gets_the_curriculum_of_the_default(self):
    task = _FACTORIAL.tasks[-1]
    published, ours, theirs, uniform = (
      _config(studies.Run(task, method, 100))
      for method in (
        'preset_paper',
        studies.BASELINE,
        'paper_learner',
        'paper_learner_uniform',
      )
    )
    self.assertEqual(theirs.curriculum, ours.curriculum)
    for cfg in (theirs, uniform):
      differing = overrides.differences(published, cfg)
      self.assertNotEmpty(differing)
      self.assertTrue(all(x.startswith('curriculum.') for x in differing))

  def test_claims_change_one_constant_of_task_expansion(self):
    [task, *_] = studies.find('claims').tasks
    for method, other, want in (
      ('narrow_noise', studies.BASELINE, 'curriculum.noise: 2.0 -> 0.5'),
      ('narrow_noise_all', 'vacl_paper', 'curriculum.noise: 0.6 -> 0.15'),
      (
        'dropped_value_025',
        studies.BASELINE,
        'curriculum.dropped_value: 0.5 -> 0.25',
      ),
      (
        'dropped_value_075',
        studies.BASELINE,
        'curriculum.dropped_value: 0.5 -> 0.75',
      ),
      ('three_rollouts', studies.BASELINE, 'training.num_rollouts: 1 -> 3'),
    ):
      one, two = (
        _config(studies.Run(task, name, 100)) for name in (other, method)
      )
      self.assertEqual(overrides.differences(one, two), [want])

  def test_curricula_of_hide_and_seek_are_given_the_same_noise(self):
    for run in studies.list_runs(studies.find('hide_and_seek'), _SEEDS[:1]):
      if run.method != 'uniform':
        self.assertEqual(_config(run).curriculum.noise, 3.0, run.name)

  def test_massive_populations_grow(self):
    configs = [
      _config(run)
      for run in studies.list_runs(studies.find('massive'), _SEEDS[:1])
    ]
    self.assertEqual(
      [
        (cfg.progression.entity_counts, cfg.environment.cover_radius)
        for cfg in configs
      ],
      [('4,8,16,24', 0.0), ('4,8,16,24', 0.25)],
    )

  def test_runs_of_the_factorial_study(self):
    runs = studies.list_runs(_FACTORIAL, _SEEDS)
    # Two tasks with 8 methods, one with 3 and two with 4.
    self.assertLen(runs, len(_SEEDS) * (2 * 8 + 3 + 2 * 4))
    self.assertEqual(
      [run.name for run in runs[:7]],
      [
        'simple_spread_n4/vacl_default/seed100',
        'simple_spread_n4/vacl_paper/seed100',
        'simple_spread_n4/uniform/seed100',
        'push_ball_n2/vacl_default/seed100',
        'push_ball_n2/vacl_paper/seed100',
        'push_ball_n2/uniform/seed100',
        'simple_spread_n4/vacl_default/seed101',
      ],
    )
    first = (
      '--env=simple_spread',
      '--num_agents=4',
      '--num_env_steps=3000000',
      '--config.ppo.decay_start_steps=0',
      '--config.ppo.decay_start_coverage=0',
      '--config.ppo.average_share=0',
      '--seed=100',
    )
    self.assertEqual(runs[0].flags, first)
    # In each stage the cheap tasks come first.
    for stage in _FACTORIAL.stages:
      minutes = [task.core_minutes for task, _ in stage]
      self.assertEqual(minutes, sorted(minutes))

  def test_selection_keeps_the_order(self):
    runs = studies.list_runs(
      _FACTORIAL, (7, 5), ['push_ball_n2'], ['uniform', 'no_frame']
    )
    self.assertEqual(
      [run.name for run in runs],
      [
        f'push_ball_n2/{method}/seed{seed}'
        for method in ('uniform', 'no_frame')
        for seed in (7, 5)
      ],
    )

  @parameterized.parameters(
    (['simple_spread_n5'], [], 'did you mean simple_spread_n4'),
    ([], ['unifrom'], 'did you mean uniform'),
    (['speaker_listener'], ['one_hop'], 'no run with these'),
  )
  def test_unknown_selection(self, tasks, methods, message):
    with self.assertRaisesRegex(ValueError, message):
      studies.list_runs(_FACTORIAL, _SEEDS, tasks, methods)

  def test_a_name_of_a_run_means_the_same_in_all_studies(self):
    found = {}
    for study in _STUDIES:
      for run in studies.list_runs(study, _SEEDS):
        self.assertEqual(run, found.setdefault(run.name, run))

  def test_every_method_is_compared_somewhere(self):
    used = {x for study in _STUDIES for x in study.methods}
    self.assertSameElements(used, study_methods.NAMES)

  def test_where_nobody_says_who_has_to_be_where(self):
    without_goals = ('speaker_listener', 'ramp_use')
    for study in _STUDIES:
      for run in studies.list_runs(study, _SEEDS):
        curriculum = _config(run).curriculum.name
        if run.task.name in without_goals:
          self.assertNotIn(curriculum, ('amigo', 'hindsight'), run.name)

  def test_methods_edit_tasks_by_the_same_noise_unless_they_name_another(self):
    found = {}
    for study in _STUDIES:
      for run in studies.list_runs(study, _SEEDS[:1]):
        noise = getattr(_config(run).curriculum, 'noise', None)
        own = study_methods.flags(run.method, 'any')
        is_named = any(
          'curriculum.noise=' in flag or '--preset=' in flag for flag in own
        )
        is_vacl = run.method == study_methods.BASELINE
        if noise is not None and (is_vacl or not is_named):
          found.setdefault(run.task.name, {})[run.method] = noise
    for task, widths in found.items():
      self.assertLen(set(widths.values()), 1, f'{task}: {widths}')

  def test_unknown_study(self):
    with self.assertRaisesRegex(ValueError, 'did you mean factorial'):
      studies.find('factorail')
    with self.assertRaisesRegex(ValueError, 'give --study, one of factorial'):
      studies.find(None)


class ParseTest(parameterized.TestCase):
  @parameterized.parameters(
    ('100', (100,)),
    ('100-103', (100, 101, 102, 103)),
    ('104,100-101,100', (104, 100, 101)),
    ('100-1099,' * 3 + '100', tuple(range(100, 1100))),
  )
  def test_seeds(self, text, want):
    self.assertEqual(studies.parse_seeds(text), want)

  @parameterized.parameters(
    ('3-1', 'runs backwards'),
    ('a', 'not a list of seeds'),
    ('', 'not a list of seeds'),
    ('100,', 'not a list of seeds'),
    ('-100', 'not a list of seeds'),
    ('0-4', 'a seed below 100'),
    ('100-99999999999', 'above 2147483647'),
    ('100-1100', 'too many seeds; give at most 1000'),
    ('100-599,600-1100', 'too many'),
    ('1' + 5000 * '0', 'not a list of seeds'),
  )
  def test_bad_seeds(self, text, message):
    with self.assertRaisesRegex(ValueError, message):
      studies.parse_seeds(text)

  @parameterized.parameters(('1/1', (1, 1)), ('4/4', (4, 4)))
  def test_shard(self, text, want):
    self.assertEqual(studies.parse_shard(text), want)

  @parameterized.parameters(
    ('5/4', 'allowed: 1/4 to 4/4'),
    ('0/4', 'allowed'),
    ('1/0', 'allowed: 1/1 to 1/1'),
    ('1', 'like 1/4'),
    ('a/b', 'like 1/4'),
    ('1/1' + 5000 * '0', 'like 1/4'),
  )
  def test_bad_shard(self, text, message):
    with self.assertRaisesRegex(ValueError, message):
      studies.parse_shard(text)

  @parameterized.parameters(1, 2, 3, 4, 7, 100)
  def test_shards_are_a_partition(self, count):
    runs = studies.list_runs(_FACTORIAL, _SEEDS)
    parts = [studies.take_shard(runs, i + 1, count) for i in range(count)]
    self.assertCountEqual([run for part in parts for run in part], runs)
    sizes = [len(part) for part in parts]
    self.assertLessEqual(max(sizes) - min(sizes), 1)
    for part in parts:
      self.assertEqual(part, sorted(part, key=runs.index))

  def test_a_shard_is_not_one_method(self):
    runs = studies.list_runs(_FACTORIAL, range(100, 106))[: 6 * 6]
    for index in (1, 2, 3):
      part = studies.take_shard(runs, index, 3)
      self.assertLen({run.method for run in part}, 3)


if __name__ == '__main__':
  absltest.main()
