# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Each field of the feedback, worked out task by task in NumPy."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import types
from vacl_tf.learning import ppo
from vacl_tf.training import feedback

_STEPS, _WORLDS, _DIMS = 12, 5, 3
_AGENTS = (2, 1)  # Of each role.
_FIELDS = types.TaskFeedback._fields[1:]


def _draw(seed):
  """Returns rewards, advantages and values [T, B, n], progress [T, B]."""
  rng = np.random.default_rng(seed)
  drawn = [
    tuple(
      rng.normal(size=[_STEPS, _WORLDS, num]).astype(np.float32)
      for num in _AGENTS
    )
    for _ in range(3)
  ]
  progress = rng.random([_STEPS, _WORLDS]).astype(np.float32)
  progress[-5:, 1] = progress[-4:, 2] = 1.0  # Solved, and all but solved.
  progress[seed, 3] = 1.0  # At first, or a little later, and not for long.
  progress[2 * seed, 4] = float(seed % 2)  # In some roll-outs alone.
  return (*drawn, progress)


def _segments(x, length):
  """Returns [T / L * B, L, n] of [T, B, n], the world the faster index."""
  return np.stack(
    [
      x[begin : begin + length, world]
      for begin in range(0, _STEPS, length)
      for world in range(_WORLDS)
    ]
  )


def _told(seed, fields, length=1):
  """Returns the feedback of a roll-out that was drawn."""
  reward, advantage, value, progress = _draw(seed)
  returns = [x + y for x, y in zip(advantage, value, strict=True)]
  nothing = [()] * len(types.Trajectory._fields)
  trajectory = types.Trajectory(*nothing)._replace(
    reward=tuple(map(tf.constant, reward)),
    progress=tf.constant(progress),
    discount=tf.ones([_STEPS, _WORLDS]),
  )
  nothing = [()] * len(ppo.Samples._fields)
  samples = ppo.Samples(*nothing)._replace(
    advantage=tuple(tf.constant(_segments(x, length)) for x in advantage),
    returns=tuple(tf.constant(_segments(x, length)) for x in returns),
  )
  task = tf.fill([_WORLDS, _DIMS], float(seed))
  return feedback.of_rollout(fields, trajectory, samples, task)


def _by_hand(seed):
  """Returns what of a roll-out the fields should be, world by world."""
  *per_role, progress = _draw(seed)
  reward, advantage, value = (np.concatenate(x, -1) for x in per_role)
  rows = []
  for world in range(_WORLDS):
    total = reward[:, world].sum(0).mean()
    mine = advantage[:, world]
    rows.append(
      types.TaskFeedback(
        value=progress[-5:, world].mean(),
        success=float((progress[-5:, world] == 1.0).all()),
        episode_return=total,
        positive_advantage=np.where(mine > 0.0, mine, 0.0).mean(),
        value_error=np.abs(mine).mean(),
        initial_value=value[0, world].mean(),
        mean_value=value[:, world].mean(),
        max_return=total,
        max_target=(mine + value[:, world]).mean(),
        final_task=np.full([_DIMS], float(seed)),
        success_time=next(
          (step + 1.0 for step in range(_STEPS) if progress[step, world] == 1),
          0.0,
        ),
      )
    )
  return types.TaskFeedback(*map(np.stack, zip(*rows, strict=True)))


class FeedbackTest(parameterized.TestCase, tf.test.TestCase):
  def _assert_close(self, found, expected):
    for name, x in expected._asdict().items():
      self.assertAllClose(getattr(found, name), x, 1e-5, 1e-5, msg=name)

  @parameterized.parameters(1, 3, _STEPS)
  def test_fields_are_as_they_are_by_hand(self, length):
    found = _told(0, _FIELDS, length)
    self._assert_close(found, _by_hand(0))
    self.assertAllEqual(found.success, [0.0, 1.0, 0.0, 0.0, 0.0])
    self.assertAllEqual(found.success_time, [0.0, 8.0, 9.0, 1.0, 0.0])
    self.assertEqual({x.dtype for x in found}, {tf.float32})

  def test_agents_count_alike_whatever_their_role(self):
    reward, *_ = _draw(0)
    first, second = (x.sum(0).mean(-1) for x in reward)
    found = _told(0, ['episode_return']).episode_return
    self.assertAllClose(found, (2.0 * first + second) / 3.0)
    self.assertNotAllClose(found, (first + second) / 2.0)

  def test_returns_are_those_of_the_first_episode(self):
    reward = (tf.ones([6, 3, 2]),)
    discount = tf.constant([[1, 1, 0, 1, 0, 1], [1] * 6, [0] + [1] * 5])
    trajectory = types.Trajectory(*[()] * len(types.Trajectory._fields))
    trajectory = trajectory._replace(
      reward=reward,
      progress=tf.zeros([6, 3]),
      discount=0.9 * tf.cast(tf.transpose(discount), tf.float32),
    )
    found = feedback.of_rollout(['episode_return', 'max_return'], trajectory)
    self.assertAllEqual(found.episode_return, [3.0, 6.0, 1.0])
    self.assertAllEqual(found.max_return, [3.0, 6.0, 1.0])

  @parameterized.parameters(*_FIELDS)
  def test_what_nobody_asks_for_is_left_out(self, field):
    for told in (
      _told(0, [field]),
      feedback.over_rollouts([_told(seed, [field]) for seed in (1, 2)]),
      feedback.nothing(
        [field], types.TaskBatch(tf.zeros([_WORLDS, _DIMS]), tf.constant(0))
      ),
    ):
      for name, x in told._asdict().items():
        is_there = name in ('value', field)
        self.assertEqual(isinstance(x, tf.Tensor), is_there, name)
        if not is_there:
          self.assertEqual(x, (), name)

  def test_no_critic_is_needed_for_what_is_not_of_it(self):
    trajectory = types.Trajectory(*[()] * len(types.Trajectory._fields))
    trajectory = trajectory._replace(progress=tf.ones([_STEPS, _WORLDS]))
    found = feedback.of_rollout(['success'], trajectory)
    self.assertAllEqual(found.success, tf.ones([_WORLDS]))

  @parameterized.parameters(1, 2, 3)
  def test_roll_outs_are_averaged(self, number):
    told = [_told(seed, _FIELDS) for seed in range(number)]
    by_hand = [_by_hand(seed) for seed in range(number)]
    expected = types.TaskFeedback(
      *(np.mean(x, 0) for x in zip(*by_hand, strict=True))
    )
    expected = expected._replace(
      max_return=np.max([x.max_return for x in by_hand], 0),
      max_target=np.max([x.max_target for x in by_hand], 0),
      final_task=by_hand[-1].final_task,
      success_time=[
        np.mean([t for t in times if t] or [0.0])
        for times in zip(*(x.success_time for x in by_hand), strict=True)
      ],
    )
    self._assert_close(feedback.over_rollouts(told), expected)

  def test_of_what_was_not_played_there_are_zeros(self):
    phi = tf.ones([_WORLDS, _DIMS])
    found = feedback.nothing(_FIELDS, types.TaskBatch(phi, tf.constant(0)))
    tf.nest.map_structure(
      lambda x, like: self.assertAllEqual(x, np.zeros_like(like)),
      found,
      _by_hand(0),
    )


if __name__ == '__main__':
  tf.test.main()
