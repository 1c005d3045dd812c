# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds, agents and curricula that the library itself does not have."""

import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.testing import fakes
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import loop
from vacl_tf.training import players
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_HORIZON, _NUM_TASKS = 6, 8
_ALL = types.TaskFeedback._fields[1:]
_AGENTS = {
  'attention': config.AttentionConfig(hidden_size=8),
  'recurrent': config.RecurrentConfig(hidden_size=8, segment_length=3),
}


def _config(agent='attention'):
  return config.Config(
    environment=config.EnvironmentConfig(horizon=_HORIZON),
    agent=_AGENTS[agent],
    ppo=config.PpoConfig(num_minibatches=2, learning_rate=1e-2),
    curriculum=config.TaskExpansionConfig(
      capacity=16, num_easy_tasks=8, num_children=4, noise=0.3
    ),
    training=config.TrainingConfig(
      num_tasks=_NUM_TASKS, num_evaluation_tasks=6
    ),
  )


def _start(env, cfg, chooser=None):
  run = run_lib.Run(cfg, [env])
  if chooser is not None:
    run.curriculum = chooser
  return run, programs_lib.Programs(run, [env], cfg, use_xla=False)


class _OnHost(base.Curriculum):
  """Plain Python, with a ticket that no tensor could be."""

  is_compiled = False
  feedback = _ALL

  def __init__(self) -> None:
    super().__init__(name='on_host')
    self.tickets, self.returned, self.told = [], [], []

  def sample(self, num_tasks, seed, size=None):
    rng = base.generator(seed)
    phi = rng.uniform(-1.0, 1.0, [num_tasks, 4]).astype(np.float32)
    self.tickets.append(object())
    return (types.TaskBatch(phi, num_tasks, self.tickets[-1]),)

  def update(self, batches, feedback, evaluation, seed):
    self.returned.append(batches[0].ticket)
    self.told.append(feedback[0])
    return {'training_value': float(np.mean(feedback[0].value))}


class _Probing(base.Uniform):
  """Probes three tasks before each iteration."""

  feedback = ('success', 'initial_value', 'final_task')

  def __init__(self, space) -> None:
    tf.Module.__init__(self, name='probing')
    self._space = space
    self.seen = tf.Variable(tf.zeros([3, 4]), trainable=False)

  def probe(self, num_tasks, seed, size=None):
    phi = self._space.sample_uniform(num_tasks, seed)
    return (base.fresh_batch(phi, tf.constant(4)),)

  def note_probe(self, batches, feedback, seed):
    [told] = feedback
    rows = (told.value, told.success, told.initial_value)
    self.seen.assign(tf.stack([x[:4] for x in rows]))


class CurriculumTest(tf.test.TestCase):
  def test_on_the_host_with_any_ticket_and_all_feedback(self):
    env, chooser = fakes.LineWorld(_HORIZON), _OnHost()
    cfg = _config()
    run, programs = _start(env, cfg, chooser)
    for _ in range(2):
      metrics = loop.iterate(run, programs, cfg)
    self.assertLen(chooser.returned, 2)
    for given, back in zip(chooser.tickets, chooser.returned, strict=True):
      self.assertIs(given, back)
    for name, x in chooser.told[0]._asdict().items():
      self.assertAllEqual(np.isfinite(x), np.ones(x.shape, bool), name)
      shape = [_NUM_TASKS, 4] if name == 'final_task' else [_NUM_TASKS]
      self.assertEqual(x.shape, shape, name)
    self.assertTrue(np.isfinite(metrics['training_value']))

  def test_probes_count_and_teach_nothing(self):
    env = fakes.LineWorld(_HORIZON)
    cfg = _config()
    run, programs = _start(env, cfg, _Probing(env.task_space))
    before = [x.numpy() for x in run.agent.variables]
    loop._probe(run, programs)
    self.assertEqual(int(run.env_steps), 4 * _HORIZON)
    for old, new in zip(before, run.agent.variables, strict=True):
      self.assertAllEqual(old, new)
    self.assertGreater(np.ptp(run.curriculum.seen), 0.0)
    loop.iterate(run, programs, cfg)
    played = 4 + 4 + _NUM_TASKS
    self.assertEqual(int(run.env_steps), played * _HORIZON)


class WorldTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.product(
    agent=tuple(_AGENTS),
    world=(fakes.MaskedWorld, fakes.DriftingWorld, fakes.EndingWorld),
  )
  def test_it_trains_and_scores_the_same_after_export(self, agent, world):
    env, cfg = world(_HORIZON), _config(agent)
    run, programs = _start(env, cfg)
    for _ in range(2):
      metrics = loop.iterate(run, programs, cfg)
    for name, x in metrics.items():
      self.assertTrue(np.isfinite(x), name)
    folder = pathlib.Path(self.create_tempdir().full_path) / 'policy'
    exported = export.ExportedPolicy(run.agent, env.roles)
    tf.saved_model.save(exported, str(folder), {'act': exported.act})
    act = tf.saved_model.load(str(folder))
    seed = randomness.root(5)
    live = evaluation.evaluate(
      rollout.greedy(run.agent),
      env,
      6,
      seed,
      None,
      lambda num: run.agent.initial_memory(num, (fakes.NUM_AGENTS,)),
    )
    for is_greedy in (True, False):
      player = players.ExportedPlayer(act.signatures['act'], env, is_greedy)
      progress = player.progress(6, seed)
      self.assertEqual(progress.shape, (_HORIZON, 6))
      self.assertAllEqual(player.progress(6, seed), progress)
      if is_greedy:
        self.assertAllEqual(progress, live)
      pictures = player.film(2, seed)
      self.assertEqual([len(x) for x in pictures], _HORIZON * [2])

  def test_what_is_masked_is_not_looked_at(self):
    env = fakes.MaskedWorld(_HORIZON)
    run, _ = _start(env, _config())
    phi = env.task_space.sample_uniform(5, randomness.root(0))
    [seen] = env.observe(env.place(phi, randomness.root(0)))
    exported = export.ExportedPolicy(run.agent, env.roles)
    named = export.flat(env.roles, (seen,))
    self.assertIn('landmarks_mask', named)

    def logits(**changed):
      given = {**named, **changed}
      greedy = tf.constant(True)
      return exported.act(seed=randomness.root(0), greedy=greedy, **given)[
        'logits'
      ]

    landmarks = named['landmarks'].numpy()
    landmarks[:, :, 2] = -3.0
    self.assertAllEqual(logits(landmarks=tf.constant(landmarks)), logits())
    everywhere = tf.ones_like(named['landmarks_mask'])
    self.assertNotAllClose(logits(landmarks_mask=everywhere), logits(), 1e-7)

  def test_continuous_actions_stay_within_bounds(self):
    env, cfg = fakes.DriftingWorld(_HORIZON), _config()
    run, programs = _start(env, cfg)
    [batch] = programs.sample(randomness.root(0))
    trajectory = programs.counts[0].collect(batch, randomness.root(1))
    [action] = trajectory.action
    self.assertEqual(action.shape, [_HORIZON, _NUM_TASKS, fakes.NUM_AGENTS, 1])
    self.assertAllInRange(action, -1.0, 1.0)
    self.assertGreater(np.std(action), 0.2)
    self.assertEqual(export.described(env.roles)[0]['low'], [-1.0])
    self.assertGreater(len(run.agent.variables), 0)

  def test_a_world_that_ends_cuts_its_discounts(self):
    env, cfg = fakes.EndingWorld(_HORIZON), _config()
    _, programs = _start(env, cfg)
    [batch] = programs.sample(randomness.root(0))
    trajectory = programs.counts[0].collect(batch, randomness.root(1))
    expected = np.tile([[1.0], [1.0], [0.0]], [2, _NUM_TASKS])
    self.assertAllEqual(trajectory.discount, expected)


if __name__ == '__main__':
  tf.test.main()
