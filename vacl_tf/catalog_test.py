# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What can't work is refused when it is registered."""

import dataclasses
import math
import subprocess
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf import registry
from vacl_tf.environments import task_spec


@dataclasses.dataclass(frozen=True, kw_only=True)
class _World(config.EnvironmentConfig):
  wind: float = 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Agent(config.AgentConfig):
  name: str = 'tabular'
  num_cells: int = 7


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Curriculum(config.CurriculumConfig):
  pace: float = 0.25


@dataclasses.dataclass(frozen=True, kw_only=True)
class _WithTuple(config.CurriculumConfig):
  levels: tuple[int, ...] = (1, 2)


def _make(*_):
  return None


def _task(name='corridor', values=None, above=None, **more):
  preset = task_spec.Preset(
    num_env_steps=(1, 2), values=values or {}, above=above or {}
  )
  fields = {
    'world': _World(name=name, num_agents=2, horizon=10),
    'make': _make,
    'least': (2,),
    'most': (9,),
    'presets': {'default': preset},
  }
  return task_spec.TaskSpec(**(fields | more))


class CatalogTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    for kind in ('TASKS', 'AGENTS', 'CURRICULA'):
      known = getattr(catalog, kind)
      entries = mock.patch.dict(known._entries)
      self.enter_context(entries)

  def test_the_librarys_own_are_there(self):
    self.assertLen(catalog.TASKS.names(), 6)
    self.assertContainsSubset(
      ('attention', 'recurrent_attention'), catalog.AGENTS.names()
    )
    self.assertContainsSubset(
      ('vacl', 'uniform', 'rcg', 'accel', 'plr', 'sfl'),
      catalog.CURRICULA.names(),
    )

  def test_a_users_own_make_a_config(self):
    catalog.register_agent(catalog.AgentSpec(make=_make, config=_Agent))
    catalog.register_curriculum(
      catalog.CurriculumSpec(name='steady', make=_make, config=_Curriculum)
    )
    values = {'environment.wind': 0.75, 'agent.num_cells': 5}
    catalog.register_task(_task(values=values, agent='tabular'))
    cfg = presets.make(env='corridor', curriculum='steady')
    leaves = overrides.leaves(cfg)
    self.assertContainsSubset(values, leaves)
    self.assertEqual(leaves['curriculum.pace'], 0.25)
    self.assertEqual(leaves['curriculum.name'], 'steady')
    self.assertEqual(presets.restore(leaves), cfg)

  @parameterized.parameters(
    ({'values': {'ppo.clop': 0.1}}, 'preset default: .*did you mean ppo.clip'),
    ({'above': {4: {'ppo.clop': 0.1}}}, 'did you mean ppo.clip'),
    ({'values': {'environment.win': 0.1}}, 'did you mean environment.wind'),
    ({'values': {'agent.segment_length': 5}}, 'agent.segment_length'),
    ({'presets': {}}, "task corridor has no preset 'default'; add one"),
    ({'agent': 'atention'}, "agent='atention' .*did you mean attention"),
    ({'most': 9}, r'most=9; allowed: a tuple of 1 whole number$'),
    ({'least': (2, 2)}, r'least=\(2, 2\); allowed: a tuple of 1 whole'),
    (
      {'presets': {'default': task_spec.Preset(num_env_steps=400_000)}},
      'preset default, num_env_steps=400000; allowed: a tuple of 2 whole',
    ),
    (
      {'presets': {'default': task_spec.Preset(num_env_steps=(1e6, 2e6))}},
      'allowed: a tuple of 2 whole numbers$',
    ),
    ({'name': 'simple_spread'}, "env='simple_spread' is registered already"),
    ({'name': 'my task'}, "env='my task' is not a name"),
  )
  def test_a_task_that_can_not_work_is_refused(self, options, message):
    with self.assertRaisesRegex(ValueError, message):
      catalog.register_task(_task(**options))
    self.assertNotIn('corridor', catalog.TASKS.names())

  @parameterized.parameters(
    (catalog.register_task, 'TaskSpec'),
    (catalog.register_agent, 'AgentSpec'),
    (catalog.register_curriculum, 'CurriculumSpec'),
  )
  def test_what_is_no_spec_is_refused(self, register, kind):
    with self.assertRaisesRegex(
      ValueError, rf"^spec='mine' is no {kind}; give {kind}\(...\)$"
    ):
      register('mine')

  def test_what_makes_it_is_a_function(self):
    curriculum = catalog.CurriculumSpec(name='mine', make=3)
    for register, spec in (
      (catalog.register_task, _task(make=3)),
      (catalog.register_agent, catalog.AgentSpec(make=3, config=_Agent)),
      (catalog.register_curriculum, curriculum),
    ):
      with self.assertRaisesRegex(ValueError, 'Spec.make=3 is not a function'):
        register(spec)

  def test_a_registered_name_is_not_free(self):
    with self.assertRaisesRegex(ValueError, "agent='attention' is registered"):
      catalog.register_agent(
        catalog.AgentSpec(make=_make, config=config.AttentionConfig)
      )
    with self.assertRaisesRegex(ValueError, "curriculum='vacl' is registered"):
      catalog.register_curriculum(
        catalog.CurriculumSpec(name='vacl', make=_make)
      )

  def test_constants_are_what_flags_and_json_know(self):
    with self.assertRaisesRegex(
      ValueError, r'_WithTuple.levels=\(1, 2\) is a tuple; allowed: bool, int'
    ):
      catalog.register_curriculum(
        catalog.CurriculumSpec(name='levels', make=_make, config=_WithTuple)
      )

  @parameterized.parameters(
    (float | None, 0.5, 'levels is annotated as neither bool, int, float nor'),
    (float, 'high', "levels='high' is not a number"),
    (float, math.inf, 'levels=inf is not finite'),
    (int, 0.5, 'levels=0.5 is not a whole number'),
  )
  def test_constants_are_what_they_are_said_to_be(self, kind, value, message):
    made = dataclasses.make_dataclass(
      'Mine',
      [('levels', kind, value)],
      bases=(config.CurriculumConfig,),
      frozen=True,
      kw_only=True,
    )
    with self.assertRaisesRegex(ValueError, f'^Mine.{message}'):
      catalog.register_curriculum(
        catalog.CurriculumSpec(name='levels', make=_make, config=made)
      )

  def test_whole_numbers_are_numbers(self):
    """Of whatever kind the default, or what a preset sets, is."""
    world = _World(name='corridor', num_agents=2, horizon=10, wind=0)
    values = {'curriculum.noise': 1}
    catalog.register_task(_task(world=world, values=values))
    cfg = presets.make(env='corridor')
    cfg = overrides.replace(cfg, {'environment.wind': 0.5})
    self.assertEqual(presets.restore(overrides.leaves(cfg)), cfg)
    with self.assertRaisesRegex(ValueError, 'wind=.* allowed: float'):
      presets.restore({'environment.name': 'corridor', 'environment.wind': '0'})

  def test_constants_are_those_that_all_have(self):
    with self.assertRaisesRegex(
      ValueError, 'config=int is not derived from config.AgentConfig'
    ):
      catalog.register_agent(catalog.AgentSpec(make=_make, config=int))
    with self.assertRaisesRegex(
      ValueError, 'config=.* is not derived from config.CurriculumConfig'
    ):
      catalog.register_curriculum(
        catalog.CurriculumSpec(
          name='levels', make=_make, config=config.AgentConfig()
        )
      )

  @parameterized.parameters(
    ('agent', 'atention', 'did you mean attention'),
    ('curriculum', 'vacle', 'did you mean vacl'),
  )
  def test_an_unknown_name_is_answered_with_the_closest(
    self, kind, name, message
  ):
    world = catalog.TASKS.get('push_ball').world
    names = {'agent': 'attention', 'curriculum': 'vacl'} | {kind: name}
    with self.assertRaisesRegex(ValueError, f"{kind}='{name}'.*{message}"):
      catalog.skeleton(world, **names)

  def test_a_skeleton_has_the_constants_of_its_parts(self):
    for task in map(catalog.TASKS.get, catalog.TASKS.names()):
      for agent in catalog.AGENTS.names():
        for curriculum in catalog.CURRICULA.names():
          cfg = catalog.skeleton(task.world, agent, curriculum)
          self.assertEqual(cfg.environment, task.world)
          self.assertEqual(cfg.agent, catalog.AGENTS.get(agent).config())
          self.assertEqual(cfg.curriculum.name, curriculum)

  def test_names_and_configs_need_no_tensorflow(self):
    code = (
      'import sys; from vacl_tf import catalog, presets\n'
      'for name in catalog.TASKS.names(): presets.make(env=name)\n'
      'print({"tensorflow", "mujoco", "matplotlib"} & set(sys.modules))'
    )
    done = subprocess.run(
      [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    self.assertEqual(done.stdout, 'set()\n')


class OwnRegistryTest(absltest.TestCase):
  def test_kinds_are_called_as_their_flags(self):
    self.assertEqual(
      [x._kind for x in (catalog.TASKS, catalog.AGENTS, catalog.CURRICULA)],
      ['env', 'agent', 'curriculum'],
    )
    self.assertIsInstance(catalog.TASKS, registry.Registry)


if __name__ == '__main__':
  absltest.main()
