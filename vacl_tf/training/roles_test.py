# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Two roles in one run: trained together, exported each by its name."""

import pathlib

import numpy as np
import tensorflow as tf

from vacl_tf import bounds
from vacl_tf import environments
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.learning import update
from vacl_tf.training import checkpoints
from vacl_tf.training import export
from vacl_tf.training import loop
from vacl_tf.training import policy_files
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_NUM_TASKS, _HORIZON = 12, 7
_CONFIG = overrides.replace(
  presets.make(env='speaker_listener'),
  {
    'environment.horizon': _HORIZON,
    'agent.hidden_size': 8,
    'ppo.num_minibatches': 4,
    'ppo.microbatch_vectors': 70,  # Three chunks of seven rows a step.
    'curriculum.capacity': 32,
    'curriculum.num_easy_tasks': 16,
    'curriculum.num_children': 8,
    'curriculum.noise': 0.1,
    'training.num_tasks': _NUM_TASKS,
    'training.num_evaluation_tasks': 6,
  },
)


def _env():
  return environments.load('speaker_listener', horizon=_HORIZON)


def _start(cfg=_CONFIG):
  """Returns a run and its programs."""
  run = run_lib.Run(cfg, [_env()])
  return run, programs_lib.Programs(run, [_env()], cfg, use_xla=False)


class RolesTest(tf.test.TestCase):
  def test_a_run_trains_both_and_exports_them_by_name(self):
    bounds.check(_CONFIG)
    run, programs = _start()
    networks = [*run.agent.policies, *run.agent.values]
    before = [[x.numpy() for x in part.variables] for part in networks]
    metrics = [loop.iterate(run, programs, _CONFIG) for _ in range(2)]
    for name, value in (metrics[0] | metrics[1]).items():
      self.assertTrue(np.isfinite(value), name)
    # The first policies are all but uniform over 3 symbols and 5 moves.
    self.assertNear(metrics[0]['entropy'], (np.log(3) + np.log(5)) / 2, 0.01)
    self.assertAllInRange(metrics[1]['clip_fraction'], 0.0, 1.0)
    self.assertEqual(int(run.env_steps), 2 * _NUM_TASKS * _HORIZON)
    for part, old in zip(networks, before, strict=True):
      for variable, value in zip(part.variables, old, strict=True):
        self.assertGreater(np.max(np.abs(variable - value)), 0.0, part.name)
    self.assertBetween(loop.evaluate(run, programs)['coverage'], 0.0, 1.0)
    self.assertEqual(set(programs.num_traces()), {1})
    self._check_checkpoint(run)
    self._check_export(run.agent)

  def _check_checkpoint(self, run):
    """Checks that another run becomes this one."""
    directory = pathlib.Path(self.create_tempdir().full_path) / 'ckpt'
    checkpointer = checkpoints.Checkpointer(run, directory, 1)
    self.assertFalse(checkpointer.restore(print))
    checkpointer.save()
    other = run_lib.Run(overrides.replace(_CONFIG, {'seed': 7}), [_env()])
    self.assertTrue(
      checkpoints.Checkpointer(other, directory, 1).restore(print)
    )
    for one, same in zip(run.variables, other.variables, strict=True):
      self.assertAllEqual(one, same)

  def _check_export(self, agent):
    """Checks a policy that is loaded with TensorFlow alone."""
    directory = pathlib.Path(self.create_tempdir().full_path) / 'policy'
    env = _env()
    export.export(agent, env, _CONFIG, directory)
    policy = tf.saved_model.load(str(directory))
    draw, place = randomness.split(randomness.root(0), 2)
    state = env.place(env.task_space.sample_uniform(9, draw), place)
    speaker, listener = env.observe(state)
    named = {'speaker_own': speaker.own, 'listener_own': listener.own}
    self.assertSameElements(named, export.flat(env.roles, (speaker, listener)))
    found = policy.act(seed=draw, greedy=tf.constant(True), **named)
    wanted = agent.distributions((speaker, listener))
    for role, expected in zip(('speaker', 'listener'), wanted, strict=True):
      logits = expected.logits
      self.assertAllClose(found.pop(f'{role}_logits'), logits, 1e-5, 1e-6)
      action = found.pop(f'{role}_action')
      self.assertAllEqual(action, np.argmax(logits, -1))
    self.assertEmpty(found)
    _, facts = policy_files.load_policy(directory)
    self.assertEqual(facts['roles'], export.described(env.roles))

  def test_the_size_of_a_chunk_changes_nothing(self):
    seed, learned, experience = randomness.root(5), [], None
    for size in (70, 10_000):
      cfg = overrides.replace(_CONFIG, {'ppo.microbatch_vectors': size})
      run, programs = _start(cfg)
      if experience is None:
        [batch] = programs.sample(seed)
        trajectory = programs.counts[0].collect(batch, seed)
        experience = update.RolloutBatch(trajectory, batch.size)
      programs.learn({0: experience}, seed)
      learned.append([x.numpy() for x in run.agent.variables])
    for one, other in zip(*learned, strict=True):
      self.assertAllClose(one, other, 1e-4, 1e-5)


if __name__ == '__main__':
  tf.test.main()
