# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula in the loop: what they are told, and when."""

import functools
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.learning import update
from vacl_tf.testing import fakes
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_TASKS, _HORIZON, _DIMS = 6, 8, 4
_PROBES = 3
_FIELDS = types.TaskFeedback._fields[1:]


def _config(**more):
  return config.Config(
    agent=config.AttentionConfig(hidden_size=8),
    ppo=config.PpoConfig(num_minibatches=2, **more),
    curriculum=config.CurriculumConfig(name='mine'),
    training=config.TrainingConfig(num_tasks=_TASKS, num_rollouts=2),
  )


class _OnHost(base.Curriculum):
  """Plain Python with a ticket that TensorFlow knows nothing of."""

  is_compiled = False

  def __init__(self, setting):
    super().__init__(name='on_host')
    self.given, self.taken = [], []

  def sample(self, num_tasks, seed, size=None):
    rng = base.generator(seed)
    phi = rng.uniform(-1.0, 1.0, [num_tasks, _DIMS])
    self.given.append({'names': ['a', 'b'], 'rng': rng})
    return (types.TaskBatch(phi, num_tasks, self.given[-1]),)

  def update(self, batches, feedback, evaluation, seed):
    self.taken.append(batches[0].ticket)
    value = np.asarray(feedback[0].value)
    return {'best_value': value.max()}


class _Curious(base.Curriculum):
  """Asks for everything, and probes; in a graph, or on the host."""

  feedback = _FIELDS

  def __init__(self, setting, is_compiled):
    super().__init__(name='curious')
    self.is_compiled = is_compiled
    self.num_probes = tf.Variable(_PROBES, trainable=False)
    self._space = setting.space
    self.told = {
      kind: types.TaskFeedback(
        *(tf.Variable(tf.fill(_shape(x), np.nan)) for x in ('value', *_FIELDS))
      )
      for kind in ('probe', 'update')
    }
    self.was_told = tf.Variable(0, trainable=False)

  def forget(self):
    """Takes back all that it was told."""
    self.was_told.assign(0)
    for variable in tf.nest.flatten(self.told):
      variable.assign(tf.fill(variable.shape, np.nan))

  def sample(self, num_tasks, seed, size=None):
    return (base.fresh_batch(self._space.sample_uniform(num_tasks, seed)),)

  def probe(self, num_tasks, seed, size=None):
    phi = self._space.sample_uniform(num_tasks, seed)
    return (types.TaskBatch(phi, tf.identity(self.num_probes), phi + 1.0),)

  def note_probe(self, batches, feedback, seed):
    self.was_told.assign_add(1)
    tf.debugging.assert_equal(batches[0].ticket, batches[0].phi + 1.0)
    self._note('probe', feedback)

  def update(self, batches, feedback, evaluation, seed):
    self._note('update', feedback)
    return {'training_value': base.mean_value(batches[0], feedback[0].value)}

  def _note(self, kind, feedback):
    for variable, x in zip(self.told[kind], feedback[0], strict=True):
      variable.assign(x)


def _shape(field):
  return [_TASKS, _DIMS] if field == 'final_task' else [_TASKS]


def _prepare_only(self, batches, seed):
  """Stands for an update that learns nothing; its samples are real."""
  del seed
  samples = {i: self.counts[i].prepare(x)[0] for i, x in batches.items()}
  return dict.fromkeys(loop._WATCHED, tf.constant(0.0)), samples


def _begin(make, env, **more):
  """Returns a run with a curriculum, its programs and its config."""
  spec, cfg = catalog.CurriculumSpec(name='mine', make=make), _config(**more)
  with mock.patch.dict(catalog.CURRICULA._entries, {'mine': spec}):
    run = run_lib.Run(cfg, [env])
  return run, programs_lib.Programs(run, [env], cfg, use_xla=False), cfg


@functools.cache  # Programs are traced once for all tests.
def _curious(is_compiled, is_hosted, microbatch_vectors):
  """Returns what `_begin` does, of a curriculum that asks for everything."""
  line = fakes.LineWorld(_HORIZON)
  return _begin(
    lambda setting: _Curious(setting, is_compiled),
    fakes.HostedWorld(line) if is_hosted else line,
    microbatch_vectors=microbatch_vectors,
  )


class CurriculaTest(parameterized.TestCase, tf.test.TestCase):
  def _leave_out_learning(self):
    """Saves most of the time, where it does not matter what is learned."""
    self.enter_context(
      mock.patch.object(update.Update, '__call__', _prepare_only)
    )

  def test_a_batch_to_train_on_is_as_large_as_asked_for(self):
    class Short(_OnHost):
      def sample(self, num_tasks, seed):
        (batch,) = super().sample(num_tasks, seed)
        return (batch._replace(size=size),)

    run, programs, cfg = _begin(Short, fakes.LineWorld(_HORIZON))
    for size in (0, 4):
      with self.assertRaisesRegex(base.CurriculumError, f'a size of {size}$'):
        loop.iterate(run, programs, cfg)
    self.assertEqual(int(run.env_steps), 0)

  @parameterized.parameters(True, False)
  def test_on_the_host_a_ticket_may_be_any_object(self, is_hosted):
    env = fakes.LineWorld(_HORIZON)
    if is_hosted:
      env = fakes.HostedWorld(env)
    else:  # What is learned there is tested with probes.
      self._leave_out_learning()
    run, programs, cfg = _begin(_OnHost, env)
    before = [x.numpy() for x in run.agent.trainable_variables]
    for _ in range(2):
      metrics = loop.iterate(run, programs, cfg)
    chooser = run.curriculum
    self.assertLen(chooser.taken, 2)
    for given, taken in zip(chooser.given, chooser.taken, strict=True):
      self.assertIs(given, taken)
    self.assertBetween(float(metrics['best_value']), 0.0, 1.0)
    self.assertEqual(int(run.env_steps), 2 * 2 * _TASKS * _HORIZON)
    after = [x.numpy() for x in run.agent.trainable_variables]
    self.assertEqual(np.allclose(before[-1], after[-1]), not is_hosted)

  # A block of worlds that are played together is 6, 2 or 1 of them.
  @parameterized.parameters(
    (True, False, 8000),
    (True, False, 16),
    (False, False, 8),
    (True, True, 16),
    (False, True, 8),
  )
  def test_all_that_was_asked_for_is_told(
    self, is_compiled, is_hosted, microbatch_vectors
  ):
    if microbatch_vectors != 16 or is_hosted:  # One case is as in a real run.
      self._leave_out_learning()
    run, programs, cfg = _curious(is_compiled, is_hosted, microbatch_vectors)
    run.curriculum.forget()
    before = int(run.env_steps)
    loop.iterate(run, programs, cfg)
    for kind, size in (('probe', _PROBES), ('update', _TASKS)):
      for name, x in run.curriculum.told[kind]._asdict().items():
        self.assertAllInRange(x, -100.0, 100.0)  # And no NaN.
        self.assertAllEqual(x[size:], tf.zeros_like(x[size:]))
        if name in ('value_error', 'final_task', 'initial_value'):
          self.assertGreater(np.abs(x[size - 1]).max(), 0.0)
    self.assertEqual(int(run.curriculum.was_told), 1)
    steps = (_PROBES + 2 * _TASKS) * _HORIZON
    self.assertEqual(int(run.env_steps) - before, steps)

  def test_probes_teach_the_policy_nothing(self):
    run, programs, cfg = _curious(True, False, 16)
    found, num_before = [], int(run.env_steps)
    note_probe = programs.note_probe

    def policy():
      return [x.numpy() for x in run.agent.variables]

    def noted(*arguments):
      found.append((policy(), int(run.env_steps)))
      return note_probe(*arguments)

    before = policy()
    with mock.patch.object(programs, 'note_probe', noted):
      loop.iterate(run, programs, cfg)
    [(at_probe, num_steps)] = found
    self.assertEqual(num_steps - num_before, _PROBES * _HORIZON)
    tf.nest.map_structure(self.assertAllEqual, before, at_probe)
    self.assertNotAllClose(policy()[-1], before[-1])

  def test_probes_are_centred_as_what_the_critic_learned(self):
    self._leave_out_learning()

    class Erring(_Curious):
      feedback = ('value_error',)

      def _note(self, kind, feedback):
        pass

    run, *_ = _curious(False, False, 8)
    self.assertIsNone(run.mean_reward)
    run, programs, cfg = _begin(
      lambda setting: Erring(setting, False),
      fakes.LineWorld(_HORIZON),
      center_rewards=True,
    )
    [count] = programs.learn.counts
    prepare, found = count.prepare, []

    def watched(batch, mean_reward=None):
      reward = batch.trajectory.reward[0][:, : int(batch.size)]
      found.append((mean_reward, np.mean(reward)))
      return prepare(batch, mean_reward)

    count.prepare = watched
    for _ in range(2):
      loop.iterate(run, programs, cfg)
    # Per iteration a probe and two roll-outs to train on.
    (first, own), *_, (none, last), (second, _), _, _ = found
    self.assertAllClose(first, [own])
    self.assertIsNone(none)
    self.assertAllClose(second, [last])

  def test_centred_returns_of_two_iterations_are_not_compared(self):
    with self.assertRaisesRegex(base.UnsuitableError, r'\(max_target\), which'):
      _begin(
        lambda setting: _Curious(setting, True),
        fakes.LineWorld(_HORIZON),
        center_rewards=True,
      )

  def test_where_there_is_nothing_to_probe_nothing_is_told(self):
    self._leave_out_learning()
    run, programs, cfg = _curious(True, False, 8000)
    run.curriculum.forget()
    before = int(run.env_steps)
    run.curriculum.num_probes.assign(0)
    self.addCleanup(run.curriculum.num_probes.assign, _PROBES)
    loop.iterate(run, programs, cfg)
    self.assertEqual(int(run.curriculum.was_told), 0)
    self.assertEqual(int(run.env_steps) - before, 2 * _TASKS * _HORIZON)

  @parameterized.parameters(True, False)
  def test_a_final_task_placed_again_is_the_last_state(self, is_hosted):
    _, programs, _ = _curious(False, is_hosted, 8)
    [count], seed = programs.counts, randomness.root(2)
    env, line = count.env, fakes.LineWorld(_HORIZON)
    phi = env.task_space.sample_uniform(_TASKS, seed)
    for size in (_TASKS, 3):  # Traced once.
      batch = base.fresh_batch(phi, tf.constant(size))
      trajectory = count.collect(batch, seed)
      played = update.RolloutBatch(trajectory, batch.size)
      samples, _ = programs.learn.counts[0].prepare(played)
      told = count.feedback(trajectory, samples, batch.size)
      found = line.observe(line.place(told.final_task[:size], seed))
      last = tf.nest.map_structure(
        lambda x, size=size: x[-1, :size], trajectory.state
      )
      tf.nest.map_structure(self.assertAllEqual, env.observe(last), found)
      self.assertNotAllClose(told.final_task[:size, :2], phi[:size, :2])
      self.assertAllEqual(told.final_task[size:], tf.zeros([_TASKS - size, 4]))


if __name__ == '__main__':
  tf.test.main()
