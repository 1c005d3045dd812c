# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs of hide-and-seek: tiny, resumed, and with growing counts."""

import pathlib

import numpy as np
import tensorflow as tf

from vacl_tf import bounds
from vacl_tf import environments
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.training import checkpoints
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_TINY = {
  'agent.hidden_size': 8,
  'ppo.num_epochs': 2,
  'ppo.num_minibatches': 2,
  'curriculum.capacity': 12,
  'curriculum.num_easy_tasks': 8,
  'curriculum.num_children': 6,
  'training.num_tasks': 6,
  'training.num_evaluation_tasks': 4,
}
_TIMING = 'wall_seconds'


def _make(cfg):
  bounds.check(cfg)
  envs = environments.load_all(cfg)
  run = run_lib.Run(cfg, envs)
  return run, programs_lib.Programs(run, envs, cfg, use_xla=False)


def _go_on(run, programs, cfg, num):
  """Returns what iterations tell, evaluation included, as numbers."""
  rows = []
  for _ in range(num):
    row = loop.iterate(run, programs, cfg) | loop.evaluate(run, programs)
    rows.append({name: float(value) for name, value in row.items()})
  return rows


def _values(run):
  return {
    f'{index}:{variable.name}': variable.numpy()
    for index, variable in enumerate(run.variables)
    if _TIMING not in variable.name
  }


def _assert_same(one, other):
  assert one.keys() == other.keys()
  for name, array in one.items():
    np.testing.assert_array_equal(array, other[name], name)


class RunTest(tf.test.TestCase):
  def test_resumed_it_goes_on_bit_for_bit(self):
    cfg = overrides.replace(presets.make(env='ramp_use', seed=3), _TINY)
    folder = pathlib.Path(self.create_tempdir().full_path)
    run, programs = _make(cfg)
    before = _values(run)
    checkpointer = checkpoints.Checkpointer(run, folder, 1)
    self.assertFalse(checkpointer.restore(print))
    rows = _go_on(run, programs, cfg, 1)
    checkpointer.save()
    rows += _go_on(run, programs, cfg, 2)

    self.assertEqual(set(programs.num_traces()), {1})
    for row in rows:
      self.assertTrue(np.all(np.isfinite(list(row.values()))), row)
      self.assertGreater(row['policy_gradient_norm'], 0.0)
      self.assertGreater(row['value_gradient_norm'], 0.0)
      self.assertGreater(row['kl'], 0.0)  # After the first of two steps.
      self.assertEqual(row['unstable_worlds'], 0.0)
    self.assertLen({row['return_mean'] for row in rows}, 3)
    self.assertEqual(int(run.env_steps), 3 * 6 * 60)

    other, programs = _make(cfg)
    _assert_same(_values(other), before)
    self.assertTrue(checkpoints.Checkpointer(other, folder, 1).restore(print))
    self.assertEqual(_go_on(other, programs, cfg, 2), rows[1:])
    _assert_same(_values(other), _values(run))
    # Worlds that break down are told of once.
    [count] = programs.counts
    count._collector.worlds.num_unstable += 3
    found = [int(count.metrics()['unstable_worlds']) for _ in range(2)]
    self.assertEqual(found, [3, 0])


class ProgressionTest(tf.test.TestCase):
  def test_a_count_grows_while_both_are_played(self):
    cfg = overrides.replace(
      presets.make(env='lock_and_return', path='1x1,2x1'),
      _TINY
      | {
        'progression.switch_coverage': 0.0,  # As soon as it is evaluated.
        'progression.mixing_step': 0.5,
        'training.num_tasks': 10,
      },
    )
    run, programs = _make(cfg)
    loop.evaluate(run, programs)
    played = []
    for _ in range(2):
      batches = programs.sample(run.seed(0))
      played.append([int(batch.size) for batch in batches])
      before = [x.numpy() for x in run.agent.variables]
      loop.iterate(run, programs, cfg)
      pairs = zip(before, run.agent.variables, strict=True)
      num_still = sum(np.array_equal(old, new.numpy()) for old, new in pairs)
      # A single agent sees no other: that layer of both networks stays.
      is_alone = not played[-1][1]
      self.assertEqual(num_still, 4 if is_alone else 0)
    # Twice the agents: at first as many agents of each count are played.
    self.assertEqual(played, [[10, 0], [10, 5]])
    self.assertEqual(int(run.env_steps), 60 * np.sum(played))
    scores = loop.evaluate(run, programs)
    self.assertEqual(scores['coverage_n2x1'], scores['coverage'])
    self.assertEqual(set(programs.num_traces()), {1})


if __name__ == '__main__':
  tf.test.main()
