# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Registers the library's own agents, curricula and tasks.

TensorFlow is imported only when one of them is made.
"""

from vacl_tf import catalog
from vacl_tf.agents import specs as agent_specs
from vacl_tf.curriculum import specs as curriculum_specs
from vacl_tf.curriculum.baselines import specs as baseline_specs
from vacl_tf.environments.hide_and_seek import lock_and_return_spec
from vacl_tf.environments.hide_and_seek import ramp_use_spec
from vacl_tf.environments.particle import push_ball_spec
from vacl_tf.environments.particle import speaker_listener_spec
from vacl_tf.environments.particle import spread_spec

catalog.register_agent(agent_specs.ATTENTION)
catalog.register_agent(agent_specs.RECURRENT)

catalog.register_curriculum(curriculum_specs.VACL)
catalog.register_curriculum(curriculum_specs.TASK_EXPANSION)
catalog.register_curriculum(curriculum_specs.UNIFORM)
for _spec in baseline_specs.ALL:
  catalog.register_curriculum(_spec)

catalog.register_task(spread_spec.SIMPLE)
catalog.register_task(spread_spec.HARD)
catalog.register_task(push_ball_spec.SPEC)
catalog.register_task(speaker_listener_spec.SPEC)
catalog.register_task(lock_and_return_spec.SPEC)
catalog.register_task(ramp_use_spec.SPEC)

AGENTS, CURRICULA, TASKS = (
  registry.names()
  for registry in (catalog.AGENTS, catalog.CURRICULA, catalog.TASKS)
)
