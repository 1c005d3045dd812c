# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feedback against plain NumPy."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import types
from vacl_tf.learning import ppo
from vacl_tf.training import feedback

_STEPS, _WORLDS = 6, 4
_ALL = types.TaskFeedback._fields[1:]


def _rollout(length, seed=0):
  """Returns a trajectory and samples of two roles, and their arrays."""
  rng = np.random.default_rng(seed)
  agents = (2, 1)
  arrays = {
    name: [
      rng.normal(size=[_STEPS, _WORLDS, n]).astype(np.float32) for n in agents
    ]
    for name in ('reward', 'advantage', 'value')
  }
  progress = rng.integers(0, 2, [_STEPS, _WORLDS]).astype(np.float32)
  progress[:, 0] = 1.0
  trajectory = types.Trajectory(
    (), (), (), (), tuple(arrays['reward']), (), tf.constant(progress), ()
  )

  def cut(x):
    x = x.reshape([_STEPS // length, length, _WORLDS, -1])
    return tf.constant(x.swapaxes(1, 2).reshape([-1, length, x.shape[-1]]))

  pairs = zip(arrays['advantage'], arrays['value'], strict=True)
  samples = ppo.Samples(
    *6 * [()],
    advantage=tuple(map(cut, arrays['advantage'])),
    returns=tuple(cut(a + v) for a, v in pairs),
  )
  joined = {name: np.concatenate(x, -1) for name, x in arrays.items()}
  return trajectory, samples, joined | {'progress': progress}


class FeedbackTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(1, 3)
  def test_each_field(self, length):
    trajectory, samples, x = _rollout(length)
    task = tf.ones([_WORLDS, 5])
    found = feedback.of_rollout(_ALL, trajectory, samples, task)
    last = x['progress'][-5:]
    total = x['reward'].mean(-1).sum(0)
    expected = types.TaskFeedback(
      value=last.mean(0),
      success=(last == 1.0).all(0).astype(np.float32),
      episode_return=total,
      positive_advantage=np.maximum(x['advantage'], 0.0).mean((0, 2)),
      value_error=np.abs(x['advantage']).mean((0, 2)),
      initial_value=x['value'][0].mean(-1),
      mean_value=x['value'].mean((0, 2)),
      max_return=total,
      final_task=task,
    )
    for name, wanted in expected._asdict().items():
      self.assertAllClose(getattr(found, name), wanted, 1e-5, 1e-5, name)

  @parameterized.parameters(*_ALL)
  def test_nothing_else_is_there(self, field):
    trajectory, samples, _ = _rollout(1)
    found = feedback.of_rollout(
      (field,), trajectory, samples, tf.ones([_WORLDS, 5])
    )
    for name in _ALL:
      self.assertEqual(isinstance(getattr(found, name), tuple), name != field)
    told = feedback.nothing((field,), types.TaskBatch(tf.ones([_WORLDS, 5]), 0))
    tf.nest.map_structure(
      lambda x, y: self.assertEqual(x.shape, y.shape), found, told
    )

  def test_several_rollouts(self):
    found = []
    for seed in range(3):
      trajectory, samples, _ = _rollout(1, seed)
      task = tf.fill([_WORLDS, 5], float(seed))
      found.append(feedback.of_rollout(_ALL, trajectory, samples, task))
    both = feedback.over_rollouts(found)
    for name in ('value', 'success', 'episode_return', 'mean_value'):
      mean = np.mean([getattr(x, name) for x in found], 0)
      self.assertAllClose(getattr(both, name), mean)
    most = np.max([x.max_return for x in found], 0)
    self.assertAllClose(both.max_return, most)
    self.assertAllEqual(both.final_task, np.full([_WORLDS, 5], 2.0))


if __name__ == '__main__':
  tf.test.main()
