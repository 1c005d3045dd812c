# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A run in which the number of agents grows, with one set of programs."""

import math

import numpy as np
import tensorflow as tf

from vacl_tf import bounds
from vacl_tf import environments
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_HORIZON, _NUM_TASKS = 6, 20
# Nobody covers anything by luck where tasks lead to another room. Elsewhere
# coverage with six agents may end the time of both too soon.
_CONFIG = overrides.replace(
  presets.make(env='hard_spread', path='3,6'),
  {
    'environment.horizon': _HORIZON,
    'agent.hidden_size': 8,
    'ppo.num_minibatches': 3,
    'ppo.num_epochs': 1,
    'curriculum.capacity': 32,
    'curriculum.num_easy_tasks': 16,
    'curriculum.num_children': 10,
    'progression.switch_coverage': 0.0,  # As soon as it is evaluated.
    'progression.mixing_step': 0.5,
    'progression.mixing_interval': 2,
    'progression.reset_optimizer': True,
    'training.num_tasks': _NUM_TASKS,
    'training.num_evaluation_tasks': 6,
  },
)


class ProgressionTest(tf.test.TestCase):
  def test_counts_grow_with_one_trace_of_each_program(self):
    bounds.check(_CONFIG)
    envs = environments.load_all(_CONFIG)
    self.assertEqual([env.num_agents for env in envs], [3, 6])
    run = run_lib.Run(_CONFIG, envs)
    programs = programs_lib.Programs(run, envs, _CONFIG, use_xla=False)
    played, rows, steps = [], [], []
    for _ in range(5):
      batches = programs.sample(run.seed(0))
      played.append([int(batch.size) for batch in batches])
      before = [x.numpy() for x in run.agent.variables]
      rows.append(loop.iterate(run, programs, _CONFIG))
      steps.append([int(x.step) for x in run.learner.optimizers])
      for old, variable in zip(before, run.agent.variables, strict=True):
        self.assertNotAllEqual(old, variable)
      scores = loop.evaluate(run, programs)
    # Alone until it is evaluated, half and half with twice the agents'
    # worlds, then the larger one alone.
    self.assertEqual(played, [[20, 0], [20, 0], [20, 10], [20, 10], [0, 20]])
    # The optimisers begin anew once the larger count is to be trained on.
    self.assertAllEqual(steps, np.outer([3, 0, 3, 6, 9], [1, 1]))
    self.assertEqual(int(run.env_steps), _HORIZON * np.sum(played))
    self.assertEqual([int(row['num_agents']) for row in rows], [3, 3, 6, 6, 6])
    self.assertTrue(math.isnan(scores['coverage_n3']))  # Not in play any more.
    self.assertEqual(scores['coverage_n6'], scores['coverage'])
    self.assertEqual(set(programs.num_traces()), {1})


if __name__ == '__main__':
  tf.test.main()
