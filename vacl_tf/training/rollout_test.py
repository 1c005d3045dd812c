# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Roll-outs, step by step again."""

import functools
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf.agents import attention_agent
from vacl_tf.agents import recurrent_agent
from vacl_tf.curriculum import base
from vacl_tf.testing import compilations
from vacl_tf.testing import fakes
from vacl_tf.training import rollout

_MODULE = 'vacl_tf.training.rollout_test'
_SIZES = (3, 5, 0, 1)
_ENV = fakes.LineWorld(6)
_SEED = randomness.root(4)


def _agent():
  cfg = config.AttentionConfig(hidden_size=8)
  agent = attention_agent.AttentionAgent(_ENV.roles, cfg, 0)
  # As it is initialised, the policy is all but uniform everywhere.
  agent.policies[0].logits.w.assign(100.0 * agent.policies[0].logits.w)
  return agent


def _logits(agent, state):
  """Returns the logits [B, n, A] in a state."""
  [distribution] = agent.distributions(_ENV.observe(state))
  return distribution.logits


def _phi():
  return _ENV.task_space.sample_uniform(5, randomness.root(1))


def _at(tree, t):
  return tf.nest.map_structure(lambda x: x[t], tree)


@functools.cache  # Several tests look at the same trajectory.
def _collect(seed=4, block=5, size=5):
  """Returns the agent and a trajectory of five tasks."""
  agent = _agent()
  batch = base.fresh_batch(_phi(), tf.constant(size))
  collect = tf.function(
    lambda: rollout.collect(agent, _ENV, batch, block, randomness.root(seed)),
    autograph=False,
  )
  return agent, collect()


def _collect_compiled() -> Iterator[None]:
  agent = _agent()
  collect = tf.function(
    lambda batch, seed: rollout.collect(agent, _ENV, batch, 1, seed),
    jit_compile=True,
    autograph=False,
  )
  for size in _SIZES:
    batch = base.fresh_batch(_phi(), tf.constant(size))
    collect(batch, randomness.root(size))
    yield


class CollectTest(tf.test.TestCase):
  def test_shapes(self):
    _, trajectory = _collect()
    for state in trajectory.state:
      self.assertEqual(state.shape, [7, 5, 2])
    for name in ('action', 'log_prob', 'reward'):
      [found] = getattr(trajectory, name)
      self.assertEqual(found.shape, [6, 5, 2])
    self.assertEqual(trajectory.progress.shape, [6, 5])
    self.assertAllEqual(trajectory.discount, np.ones([6, 5]))
    self.assertEqual(trajectory.action[0].dtype, tf.int32)

  def test_begins_with_the_tasks(self):
    _, trajectory = _collect()
    first = _ENV.read_task(_at(trajectory.state, 0))
    self.assertAllEqual(first, _phi())

  def test_states_rewards_and_log_probs_belong_to_the_actions(self):
    agent, trajectory = _collect()
    self.assertLen(np.unique(trajectory.action[0]), 3)
    for t in range(6):
      state = _at(trajectory.state, t)
      action = _at(trajectory.action, t)
      logits = _logits(agent, state)
      log_prob = tf.gather(tf.math.log_softmax(logits), action[0], batch_dims=2)
      self.assertAllClose(trajectory.log_prob[0][t], log_prob, 1e-5, 1e-5)
      after = _ENV.step(state, action)
      self.assertAllEqual(after, _at(trajectory.state, t + 1))
      self.assertAllEqual(trajectory.reward[0][t], _ENV.reward(after)[0])
      self.assertAllEqual(trajectory.progress[t], _ENV.progress(after))

  def test_blocks_are_played_up_to_the_size(self):
    agent, whole = _collect(block=1)
    _, part = _collect(block=1, size=3)
    cut = tf.nest.map_structure(lambda x: x[:, :3], (whole, part))
    tf.nest.map_structure(self.assertAllEqual, *cut)
    self.assertAllEqual(part.state.position[:, 3:], np.zeros([7, 2, 2]))
    self.assertAllEqual(_ENV.read_task(_at(whole.state, 0)), _phi())
    self.assertGreater(len(np.unique(whole.action[0], axis=1)[0]), 1)
    logits = _logits(agent, _at(whole.state, 3))
    log_prob = tf.gather(
      tf.math.log_softmax(logits), whole.action[0][3], batch_dims=2
    )
    self.assertAllClose(whole.log_prob[0][3], log_prob, 1e-5, 1e-5)

  def test_compiled_once_for_all_sizes(self):
    counts = compilations.count(_MODULE)
    self.assertLen(counts, len(_SIZES))
    self.assertGreater(counts[0], 0)
    self.assertEqual(set(counts), {counts[0]})

  def test_seed_decides(self):
    one, again = _collect()[1], _collect.__wrapped__()[1]
    other = _collect(seed=9)[1]
    tf.nest.map_structure(self.assertAllEqual, one, again)
    self.assertNotAllEqual(one.action[0], other.action[0])

  def test_play_makes_the_steps_of_act(self):
    agent = _agent()
    states, progress = rollout.play(rollout.greedy(agent), _ENV, _phi(), _SEED)
    state = _ENV.place(_phi(), _SEED)
    for t in range(6):
      logits = _logits(agent, state)
      state = _ENV.step(state, (tf.argmax(logits, -1, tf.int32),))
      self.assertAllEqual(_at(states, t), state)
      self.assertAllEqual(progress[t], _ENV.progress(state))

  def test_play_hands_out_a_new_seed_each_step(self):
    def act(observations, memory, seed):
      del observations
      number = tf.cast(10.0 * randomness.uniform(seed, [5, 2]), tf.int32)
      return (number % 3,), memory

    states, _ = rollout.play(act, _ENV, tf.zeros([5, 4]), _SEED)
    moves = np.diff(states.position.numpy(), axis=0)
    self.assertTrue(np.any(moves[1:] != moves[:-1]))

  def test_actions_have_other_seeds_than_the_placement(self):
    noted = []

    def note(seed):
      noted.append(tuple(seed))
      return np.int32(0)

    def act(observations, memory, seed):
      del observations
      zero = tf.ensure_shape(tf.numpy_function(note, [seed], tf.int32), [])
      return (tf.fill([5, 2], zero),), memory

    rollout.play(act, _ENV, _phi(), _SEED)
    taken = {tuple(x.numpy()) for x in randomness.split(_SEED, 20)}
    self.assertLen(set(noted), 6)
    self.assertNoCommonElements(taken | {tuple(_SEED.numpy())}, noted)


class RecurrentTest(tf.test.TestCase):
  """A policy with a memory, in a world in a graph."""

  def test_memories_and_log_probs_belong_to_the_actions(self):
    cfg = config.RecurrentConfig(hidden_size=8)
    agent = recurrent_agent.RecurrentAgent(_ENV.roles, cfg, 0)
    batch = base.fresh_batch(_phi(), tf.constant(5))
    trajectory = rollout.collect(agent, _ENV, batch, 1, _SEED)
    memory = agent.initial_memory(5, (2,))
    for t in range(6):
      self.assertAllClose(trajectory.memory[0][t], memory[0], 1e-5, 1e-5)
      observations = _ENV.observe(_at(trajectory.state, t))
      [distribution], memory = agent.act(observations, memory)
      log_prob = distribution.log_prob(trajectory.action[0][t])
      self.assertAllClose(trajectory.log_prob[0][t], log_prob, 1e-5, 1e-5)
    self.assertGreater(np.ptp(trajectory.memory[0]), 0.01)


class EndTest(tf.test.TestCase):
  def test_a_terminal_world_ends_with_its_last_step(self):
    found = rollout.with_end(tf.ones([3, 2]), is_terminal=True)
    self.assertAllEqual(found, [[1, 1], [1, 1], [0, 0]])
    self.assertAllEqual(
      rollout.with_end(tf.ones([3, 2]), False), np.ones([3, 2])
    )

  def test_progress_stays_as_it_was_at_the_first_end(self):
    rng = np.random.default_rng(0)
    progress = rng.random([7, 40]).astype(np.float32)
    discount = rng.choice([0.0, 0.5, 1.0], [7, 40], p=[0.2, 0.4, 0.4])
    discount[:, :2] = 1.0  # Worlds that do not end, or in the last step only.
    discount[-1, 1] = 0.0
    want = progress.copy()
    for world in range(40):
      for step in range(6):
        if discount[step, world] == 0.0:
          want[step + 1 :, world] = progress[step, world]
          break
    found = rollout.of_first_episode(*map(tf.constant, (progress, discount)))
    self.assertAllEqual(found, want)
    self.assertAllEqual(found[:, :2], progress[:, :2])


class ScoreTest(tf.test.TestCase):
  def test_value_is_the_mean_of_the_last_five_steps(self):
    # Fails if the value is always 0.
    progress = tf.constant([[9.0, 9], [0, 1], [1, 1], [1, 1], [1, 1], [1, 1]])
    self.assertAllClose(rollout.task_value(progress), [0.8, 1.0])
    self.assertAllClose(rollout.task_value(progress[1:3]), [0.5, 1.0])

  def test_success_needs_all_of_the_last_five_steps(self):
    progress = np.ones([7, 4])
    progress[1, 1] = 0.0  # Before the window.
    progress[2, 2] = 0.5
    progress[6, 3] = 0.75
    found = rollout.is_success(tf.constant(progress, tf.float32))
    self.assertAllEqual(found, [True, True, False, False])

  def test_success_does_not_depend_on_rounding(self):
    progress = tf.tile([[1.0 - 6e-8, 0.999]], [5, 1])
    self.assertAllEqual(rollout.is_success(progress), [True, False])


if __name__ == '__main__':
  compilations.if_child(_collect_compiled)
  tf.test.main()
