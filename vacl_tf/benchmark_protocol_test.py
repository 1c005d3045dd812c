# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark freezes is whole, possible, and where it came from."""

import dataclasses

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets

# Presets that have moved since VERSION was made, as {task: fields}.
_MOVED = {'hard_spread_4': {'ppo.num_epochs'}}
_EDITING_MOVED = {'speaker_listener': {'noise'}}

# What the benchmark means to have otherwise than presets.
_OTHERWISE = {
  'training.checks_tasks',
  'training.gives_target',
  'environment.half_width',
}
_CHOSEN = (
  *('preset', 'env', 'num_agents', 'entity_counts'),
  *('agent', 'curriculum', 'seed'),
)


def _values(run):
  """Returns {flag: text} of a run; of a flag given twice the last one."""
  return dict(flag.removeprefix('--').split('=', 1) for flag in run.flags)


def _preset(run):
  """Returns the config of today's preset, without what is pinned."""
  values = _values(run)
  return presets.make(
    env=values['env'],
    num_agents=int(values['num_agents']),
    preset=values['preset'],
    curriculum=run.method,
    path=values['entity_counts'],
    seed=run.seed,
  )


def _config(run):
  """Returns the config that launch.main would make of a run's flags."""
  cfg = _preset(run)
  known, pinned = overrides.leaves(cfg), {}
  for flag, text in _values(run).items():
    if flag.startswith('config.'):
      name = flag.removeprefix('config.')
      kind = overrides.kind(cfg, name)
      pinned[name] = text == 'true' if kind is bool else kind(text)
      assert name in known
  return overrides.replace(cfg, pinned)


def _runs(curriculum):
  runs = protocol.list_runs(curriculum, is_smoke=False)
  return [run for run in runs if run.seed == protocol.SEEDS[0]]


class ProtocolTest(parameterized.TestCase):
  @parameterized.parameters('vacl', 'uniform', 'rcg')
  def test_all_runs_are_possible_and_differ(self, curriculum):
    for is_smoke in (False, True):
      runs = protocol.list_runs(curriculum, is_smoke)
      self.assertLen({run.name for run in runs}, len(runs))
      configs = [_config(run) for run in runs]
      for cfg in configs:
        bounds.check(cfg)
      told = {str(overrides.leaves(cfg)) for cfg in configs}
      self.assertLen(told, len(runs))

  def test_names_of_tasks_are_those_of_learners(self):
    self.assertEqual([x.name for x in protocol.TASKS], list(protocol.LEARNERS))

  def test_a_submission_fits_into_four_hours_on_two_cores(self):
    runs = protocol.list_runs('uniform', is_smoke=False)
    minutes = sum(run.task.core_minutes for run in runs)
    # Starts and evaluations take about a minute more each, and two runs beside
    # each other are slower than one.
    self.assertLess((minutes + len(runs)) / 2, 0.8 * 4 * 60)
    smoke = protocol.list_runs('uniform', is_smoke=True)
    self.assertLess(sum(run.task.core_minutes for run in smoke), 5)

  def test_every_constant_is_pinned(self):
    """A new field has to be pinned here, at the value that changes nothing."""
    for run in _runs('uniform'):
      pinned = {
        flag.removeprefix('config.')
        for flag in _values(run)
        if flag not in _CHOSEN
      }
      length = {field.name for field in dataclasses.fields(config.RunLength)}
      leaves = set(overrides.leaves(_preset(run))) | length
      leaves -= {
        *('seed', 'preset', 'environment.name', 'environment.num_agents'),
        *('agent.name', 'curriculum.name', 'progression.entity_counts'),
      }
      self.assertEqual(leaves - pinned, set(), run.name)

  def test_constants_are_those_of_the_presets(self):
    """If this fails a preset has moved: leave the benchmark as it is.

    Constants of a version stay. Add what has moved to _MOVED above, or raise
    VERSION, which begins a new table.
    """
    for run in _runs('uniform'):
      ours = overrides.leaves(_config(run))
      today = overrides.leaves(_preset(run))
      moved = {name for name in today if today[name] != ours[name]} - _OTHERWISE
      self.assertEqual(moved, _MOVED.get(run.task.name, set()), run.name)

  def test_editing_curricula_are_given_what_presets_give(self):
    fields = {field.name for field in dataclasses.fields(config.EditingConfig)}
    for run in _runs('task_expansion'):
      ours, today = _config(run).curriculum, _preset(run).curriculum
      moved = {x for x in fields if getattr(ours, x) != getattr(today, x)}
      self.assertEqual(
        moved, _EDITING_MOVED.get(run.task.name, set()), run.name
      )
      for name in fields - {'name'}:
        self.assertIn(f'config.curriculum.{name}', _values(run))

  def test_a_later_preset_changes_nothing(self):
    before = [_config(run) for run in _runs('uniform')]
    for name in ('simple_spread', 'push_ball'):
      spec = catalog.TASKS.get(name)
      other = {'default': spec.presets['paper']}
      moved = dataclasses.replace(spec, presets={**spec.presets, **other})
      self.enter_context(
        absltest.mock.patch.dict(catalog.TASKS._entries, {name: moved})
      )
    after = [_config(run) for run in _runs('uniform')]
    self.assertNotEqual(
      _preset(_runs('uniform')[0]), before[0]
    )  # The preset has.
    self.assertEqual(before, after)

  def test_what_the_tasks_are(self):
    configs = {run.task.name: _config(run) for run in _runs('uniform')}
    self.assertFalse(configs['hard_spread_4'].training.gives_target)
    self.assertEqual(configs['spread_4_to_8'].progression.entity_counts, '4,8')
    self.assertEqual(configs['spread_8'].progression.entity_counts, '')
    for name, width in (
      ('spread_4', 3.0),
      ('spread_4_wide_4', 4.0),
      ('spread_4_wide_5', 5.0),
    ):
      self.assertEqual(configs[name].environment.half_width, width)
    for cfg in configs.values():
      self.assertTrue(cfg.training.checks_tasks)
      self.assertEqual(cfg.ppo.decay_start_steps, 0)


if __name__ == '__main__':
  absltest.main()
