# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds in the loop that differ from those of the paper, or are broken."""

import contextlib
import functools
import math
import pathlib
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.agents import recurrent_agent
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.environments import base
from vacl_tf.environments import box_tasks
from vacl_tf.testing import fakes
from vacl_tf.testing import unoptimized
from vacl_tf.training import export
from vacl_tf.training import host_rollout
from vacl_tf.training import loop
from vacl_tf.training import players
from vacl_tf.training import policy_files
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_TASKS, _HORIZON = 6, 8
_ATTENTION = config.AttentionConfig(hidden_size=8)
_RECURRENT = config.RecurrentConfig(hidden_size=8, segment_length=4)


def _begin(env, agent=_ATTENTION):
  """Returns a run, its programs and its config."""
  cfg = config.Config(
    agent=agent,
    ppo=config.PpoConfig(learning_rate=0.01, num_minibatches=2),
    curriculum=config.CurriculumConfig(name='uniform'),
    training=config.TrainingConfig(num_tasks=_TASKS, num_evaluation_tasks=9),
  )
  run = run_lib.Run(cfg, [env])
  return run, programs_lib.Programs(run, [env], cfg, use_xla=False), cfg


@functools.cache
def _begin_ending(agent, is_hosted):
  """Returns a world that ends, what `_begin` does, and what was closed."""
  line, closed = fakes.EndingWorld(_HORIZON), []
  env = fakes.HostedWorld(line) if is_hosted else line
  make = env.make_simulator

  def noted(num_worlds):
    simulator = make(num_worlds)
    simulator.close = lambda: closed.append(num_worlds)
    return simulator

  env.make_simulator = noted
  return env, *_begin(env, agent), closed


def _collect(env, programs):
  phi = env.task_space.sample_uniform(_TASKS, randomness.root(0))
  batch = curriculum_base.fresh_batch(phi)
  return programs.counts[0].collect(batch, randomness.root(1))


@contextlib.contextmanager
def _forgetful_critic():
  """Leaves only the policies of recurrent agents a memory."""
  agent = recurrent_agent.RecurrentAgent
  evaluate = agent.evaluate

  def evaluate_without(self, sequence):
    assert not sequence.value_memory
    return evaluate(
      self, sequence._replace(value_memory=sequence.policy_memory)
    )

  def unroll_values(self, observe, states, memory, is_first):
    del observe, is_first
    num_steps, num_worlds = tf.nest.flatten(states)[0].shape[:2]
    [role] = self._roles
    return (tf.zeros([num_steps, num_worlds, role.num_agents]),), memory

  with mock.patch.multiple(
    agent,
    initial_value_memory=agent_base.Agent.initial_value_memory,
    unroll_values=unroll_values,
    evaluate=evaluate_without,
  ):
    yield


class _Case(parameterized.TestCase, tf.test.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.enterClassContext(unoptimized.programs())


class ContinuousTest(_Case):
  @parameterized.parameters(
    (_ATTENTION, False), (_ATTENTION, True), (_RECURRENT, False)
  )
  def test_it_trains_within_bounds_and_is_exported(self, agent, is_hosted):
    line = fakes.DriftingWorld(_HORIZON)
    env = fakes.HostedWorld(line) if is_hosted else line
    run, programs, cfg = _begin(env, agent)
    before = [x.numpy() for x in run.agent.trainable_variables]
    for _ in range(3):
      metrics = loop.iterate(run, programs, cfg)
      self.assertTrue(all(math.isfinite(x) for x in metrics.values()))
    after = [x.numpy() for x in run.agent.trainable_variables]
    self.assertNotAllClose(before[-1], after[-1])
    [action] = _collect(env, programs).action
    self.assertEqual(action.shape, [_HORIZON, _TASKS, 2, 1])
    self.assertEqual(action.dtype, tf.float32)
    self.assertAllInRange(action, -1.0, 1.0)
    self.assertGreater(np.ptp(action), 0.5)

    directory = pathlib.Path(self.create_tempdir().full_path) / 'policy'
    export.export(run.agent, env, cfg, directory)
    self._check_exported(
      env, run, *policy_files.load_policy(directory, run_graph=True)
    )

  def _check_exported(self, env, run, policy, facts):
    self.assertEqual(facts['roles'][0]['low'], [-1.0])
    self.assertEqual(facts['roles'][0]['high'], [1.0])
    worlds = env.make_simulator(5)
    worlds.place(env.task_space.sample_uniform(5, randomness.root(0)), [0])
    observations = tf.nest.map_structure(tf.constant, worlds.observe())
    memory = run.agent.initial_memory(5, (2,))
    [distribution], _ = run.agent.act(observations, memory)
    found = {
      is_greedy: policy.act(
        seed=randomness.root(3),
        greedy=tf.constant(is_greedy),
        **export.flat(env.roles, observations),
        **({'memory': memory[0]} if memory else {}),
      )
      for is_greedy in (True, False)
    }
    for name, x in distribution.outputs().items():
      self.assertEqual(x.shape, [5, 2, 1])
      self.assertAllClose(found[True][name], x, 1e-5, 1e-5)
    self.assertAllEqual(found[True]['action'], found[True]['location'])
    self.assertAllInRange(found[False]['action'], -1.0, 1.0)
    self.assertNotAllClose(found[False]['action'], found[True]['action'])
    player = players.ExportedPlayer(policy, env, is_greedy=False)
    progress = player.progress(4, randomness.root(0))
    self.assertAllInRange(progress, 0.0, 1.0)


class BoxTest(tf.test.TestCase):
  def test_tasks_of_numpy_in_a_world_of_tensorflow(self):
    low, high = np.zeros([4, 1]), np.ones([4, 1])
    env = fakes.LineWorld(_HORIZON)
    env.task_space = box_tasks.Box(
      low, high, lambda num_tasks, rng: rng.random([num_tasks, 4, 1])
    ).with_agents(2)
    run, _, cfg = _begin(env)
    programs = programs_lib.Programs(run, [env], cfg)
    coverage = [
      float(np.mean(programs.counts[0].evaluate(randomness.root(x))[0]))
      for x in (0, 0, 1)
    ]
    self.assertEqual(coverage[0], coverage[1])
    self.assertNotEqual(coverage[0], coverage[2])


class EndingTest(_Case):
  @parameterized.product(
    agent=(_ATTENTION, _RECURRENT), is_hosted=(True, False)
  )
  def test_it_trains_and_worlds_are_closed_at_the_end(self, agent, is_hosted):
    env, run, programs, cfg, closed = _begin_ending(agent, is_hosted)
    for _ in range(2):
      metrics = loop.iterate(run, programs, cfg)
      self.assertTrue(all(math.isfinite(x) for x in metrics.values()))
    trajectory = _collect(env, programs)
    goes_on = [float(t % 3 != 2) for t in range(_HORIZON)]
    self.assertAllEqual(
      trajectory.discount, np.tile(np.array(goes_on)[:, None], [1, _TASKS])
    )
    after_end = trajectory.progress[2:]  # By which no task is judged.
    self.assertAllEqual(after_end, np.tile(after_end[:1], [_HORIZON - 2, 1]))
    coverage = loop.evaluate(run, programs)['coverage']
    self.assertBetween(coverage, 0.0, 1.0)
    self.assertEqual(int(run.iteration), 2)
    self.assertEmpty(closed)
    programs.close()
    num_tests = cfg.training.num_evaluation_tasks
    self.assertEqual(sum(closed), is_hosted * (_TASKS + num_tests))

  @parameterized.parameters(True, False)
  def test_a_task_that_was_solved_once_is_solved(self, is_hosted):
    class Reached(fakes.EndingWorld):
      """Complete in the step in which it ends."""

      def progress(self, state):
        return 1.0 - self.discount(state)

    line = Reached(_HORIZON)
    env = fakes.HostedWorld(line) if is_hosted else line
    run, programs, _ = _begin(env)
    found = loop.evaluate(run, programs)
    self.assertEqual((found['coverage'], found['success']), (1.0, 1.0))
    trajectory = _collect(env, programs)
    self.assertAllEqual(
      rollout.is_success(trajectory.progress), [True] * _TASKS
    )

  @parameterized.parameters(True, False)
  def test_the_horizon_may_end_all(self, is_hosted):
    line = fakes.LineWorld(_HORIZON)
    env = fakes.HostedWorld(line) if is_hosted else line
    env.is_terminal = True  # Its simulator does not know.
    _, programs, _ = _begin(env)
    discount = _collect(env, programs).discount
    self.assertAllEqual(discount[:-1], np.ones([_HORIZON - 1, _TASKS]))
    self.assertAllEqual(discount[-1], np.zeros([_TASKS]))

  @parameterized.product(
    is_hosted=(True, False), has_critic_memory=(True, False)
  )
  def test_what_was_remembered_is_forgotten_where_it_ends(
    self, is_hosted, has_critic_memory
  ):
    begin = _begin_ending
    if not has_critic_memory:
      self.enter_context(_forgetful_critic())
      begin = _begin_ending.__wrapped__
    env, run, programs, *_ = begin(_RECURRENT, is_hosted)
    agent = run.agent
    logits = agent.policies[0].logits.w
    self.addCleanup(logits.assign, logits.numpy())
    logits.assign(100.0 * logits)  # Else all but uniform everywhere.
    trajectory = _collect(env, programs)
    [memory] = trajectory.memory
    for t in range(_HORIZON):
      most = np.abs(memory[t]).max((1, 2))
      self.assertAllEqual(most > 0.0, np.full([_TASKS], t % 3 > 0))
    # Segments of four steps tell the same as the steps of the roll-out.
    samples, _ = run.learner.prepare(
      trajectory, tf.constant(_TASKS), 2, env.observe
    )
    sequence = types.Sequence(
      agent_base.observe_sequence(env.observe, samples.state),
      samples.policy_memory,
      samples.value_memory,
      samples.is_first,
    )
    action, log_prob, value = agent_base.merged(
      (samples.action[0], samples.log_prob[0], samples.acting_value[0])
    )
    found = agent.evaluate(sequence)
    other = agent.evaluate(
      sequence._replace(is_first=tf.zeros_like(sequence.is_first))
    )
    self.assertAllClose(found.distributions[0].log_prob(action), log_prob)
    self.assertNotAllClose(other.distributions[0].log_prob(action), log_prob)
    if has_critic_memory:
      self.assertAllClose(found.values[0], value)
      self.assertNotAllClose(other.values[0], value)

  def test_progress_that_is_no_number_ends_a_run_at_the_evaluation(self):
    class Cliff(fakes.LineWorld):
      def progress(self, state):
        known = super().progress(state)
        return tf.where(
          tf.reduce_any(state.position != 0.0, 1), math.nan, known
        )

    env = Cliff(_HORIZON)
    run, programs, _ = _begin(env)
    with self.assertRaisesRegex(base.WorldError, 'progress: .* given NaN'):
      loop.evaluate(run, programs)

  @parameterized.parameters(True, False)
  def test_evaluations_forget_too(self, is_hosted):
    line, remembered = fakes.EndingWorld(_HORIZON), []
    phi = line.task_space.sample_uniform(_TASKS, randomness.root(0))

    def note(memory):
      remembered.append(float(memory[0]))
      return memory

    def act(observations, memory, seed=None):
      del seed
      noted = tf.numpy_function(note, [memory], tf.float32)
      noted = tf.ensure_shape(noted, memory.shape)
      return (tf.zeros(observations[0].own.shape[:2], tf.int32),), noted + 1.0

    def act_on_host(begin, step, observations, memory):
      del begin, step
      [action], memory = act(observations, memory)
      return (action.numpy(),), memory

    if is_hosted:
      worlds = host_rollout.Worlds(fakes.HostedWorld(line))
      phi = phi[:1].numpy()
      seed = randomness.root(1)
      host_rollout.perform(
        act_on_host, worlds, phi, seed, lambda n: tf.zeros([n])
      )
    else:
      rollout.play(act, line, phi, randomness.root(1), tf.zeros([_TASKS]))
    self.assertEqual(remembered, [float(t % 3) for t in range(_HORIZON)])


class _Broken(fakes.HostedWorld):
  """Worlds of which the first step, or observation, is spoilt."""

  def __init__(self, **faults):
    super().__init__(fakes.LineWorld(_HORIZON))
    self._faults = faults
    self.num_steps = 0

  def make_simulator(self, num_worlds):
    made = super().make_simulator(num_worlds)
    observe, step = made.observe, made.step

    def broken_observe():
      [seen] = observe()
      if 'own' in self._faults:
        seen = seen._replace(own=self._faults['own'](seen.own))
      return (seen,)

    def broken_step(actions):
      self.num_steps += 1
      outcome = step(actions)
      changed = {
        name: tf.nest.map_structure(change, getattr(outcome, name))
        for name, change in self._faults.items()
        if name != 'own'
      }
      return outcome._replace(**changed)

    made.observe, made.step = broken_observe, broken_step
    return made


class BrokenTest(_Case):
  # Half of the worlds are played together.
  @parameterized.named_parameters(
    (
      'shape',
      {'own': lambda x: x[:, :1]},
      'observation of agent, own: expected float32 of shape [3, 2, 1], given '
      'float32 of shape [3, 1, 1]',
      0,
    ),
    (
      'not_a_number',
      {'own': lambda x: np.full_like(x, np.nan)},
      'observation of agent, own: expected finite numbers, given nan in world '
      '0, agent 0, number 0, after 0 steps of the task [',
      0,
    ),
    (
      'reward_shape',
      {'reward': lambda x: x[:, 0]},
      'reward of agent: expected float32 of shape [3, 2], given float32 of '
      'shape [3]',
      1,
    ),
    (
      'progress',
      {'progress': lambda x: np.full_like(x, 1.5)},
      'progress: expected numbers from 0 to 1, given 1.5 in world 0',
      1,
    ),
  )
  def test_training_stops_at_the_first_step(self, faults, message, num_steps):
    env = _Broken(**faults)
    run, programs, cfg = _begin(env)
    with self.assertRaises(base.WorldError) as caught:
      loop.iterate(run, programs, cfg)
    self.assertStartsWith(str(caught.exception), message)
    # The other group's first step may be under way.
    self.assertBetween(env.num_steps, num_steps, 2 * num_steps)


if __name__ == '__main__':
  tf.test.main()
