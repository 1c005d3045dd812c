# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shares make a whole, and all replicas of a run hold the same numbers."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from typing import TypeVar
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.learning import update
from vacl_tf.testing import fakes
from vacl_tf.testing import unoptimized
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas as replicas_lib
from vacl_tf.training import run as run_lib

_CONFIG = config.Config(
  agent=config.AttentionConfig(hidden_size=8),
  ppo=config.PpoConfig(num_minibatches=2, microbatch_vectors=4000),
  curriculum=config.TaskExpansionConfig(
    capacity=64, num_easy_tasks=16, num_children=20
  ),
  training=config.TrainingConfig(num_tasks=24, num_evaluation_tasks=10),
)
_SHORT = 6  # A horizon in which even a new policy solves some tasks.
_ITERATIONS = 3  # After fewer, averaged parameters are the latest.


Result = TypeVar('Result')


def _run(
  count: int, function: Callable[[replicas_lib.Group], Result]
) -> list[Result]:
  """Returns what a function returns in each of `count` threads.

  The threads take turns: they would only get in each other's way.
  """
  barrier = threading.Barrier(count, timeout=60.0)
  told: list[tf.Tensor | None] = [None] * count
  turn = threading.Lock()

  def wait_for_all() -> None:
    turn.release()
    try:
      barrier.wait()
    finally:
      turn.acquire()

  def replica(index: int) -> Result:
    def exchange(x: tf.Tensor) -> list[tf.Tensor]:
      told[index] = x
      wait_for_all()
      found = list(told)
      wait_for_all()  # Nobody tells anything new before all have read.
      return found

    group = replicas_lib.Group(
      count,
      index,
      add=lambda x: tf.add_n(exchange(x)),
      concatenate=lambda x: tf.concat(exchange(x), 0),
    )
    try:
      with turn:
        return function(group)
    except BaseException:
      barrier.abort()
      raise

  with futures.ThreadPoolExecutor(count) as pool:
    return list(pool.map(replica, range(count)))


def _batch(size):
  rng = np.random.default_rng(0)
  phi = tf.constant(rng.normal(size=[12, 3]), tf.float32)
  return types.TaskBatch(phi, tf.constant(size))


class ShareTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(count=(1, 2, 3, 4), size=(0, 1, 7, 12))
  def test_gathering_undoes_sharing(self, count, size):
    batch = _batch(size)

    def replica(group):
      mine = group.share(batch)
      self.assertBetween(int(mine.size), size // count, -(-size // count))
      played = np.arange(mine.phi.shape[0]) < int(mine.size)
      return group.gather((mine.phi, played))

    for phi, played in _run(count, replica):
      self.assertAllEqual(phi, batch.phi)
      self.assertAllEqual(played, np.arange(12) < size)

  def test_rows_that_count_are_shared_out(self):
    batch = _batch(6)

    def replica(group):
      mine = group.share(batch)
      return mine.phi[: int(mine.size)]

    found = np.concatenate(_run(3, replica))
    self.assertAllEqual(np.sort(found, 0), np.sort(batch.phi[:6], 0))

  def test_sums_are_of_all_leaves(self):
    rng = np.random.default_rng(1)
    trees = [
      {'a': rng.normal(size=[2, 3]), 'b': (rng.integers(9), rng.normal(size=4))}
      for _ in range(3)
    ]
    expected = tf.nest.map_structure(lambda *x: sum(x), *trees)
    for found in _run(3, lambda group: group.sum(trees[group.index])):
      tf.nest.assert_same_structure(found, expected)
      for x, y in zip(
        tf.nest.flatten(found), tf.nest.flatten(expected), strict=True
      ):
        self.assertAllClose(x, y, 1e-6, 1e-6)

  def test_differences_are_told_to_all(self):
    facts = [
      {'seed': 1, 'name': 'sähe'},
      {'seed': 1, 'name': 'sähe'},
      {'seed': 2, 'name': 'sähe', 'rest': 'x' * 10**6},
    ]
    for found in _run(2, lambda group: group.differences(facts[group.index])):
      self.assertEqual(found, '')
    for found in _run(3, lambda group: group.differences(facts[group.index])):
      self.assertRegex(
        found,
        '^rest: None in replica 0 and x* in replica 2, '
        'seed: 1 in replica 0 and 2 in replica 2$',
      )
    self.assertEqual(replicas_lib.ALONE.differences(facts[0]), '')

  @parameterized.parameters(None, 0, 1, 2)
  def test_what_is_so_somewhere_is_so_for_all(self, where):
    found = _run(3, lambda group: group.any(group.index == where))
    self.assertEqual(found, [where is not None] * 3)

  def test_variables_are_copied_to_the_bit(self):
    chief = [
      np.array([0.1, -0.0, np.nan, np.inf], np.float32),
      np.array(2**62 + 1, np.int64),
      np.array([[True], [False]]),
      np.zeros([0, 2], np.float64),
    ]

    def replica(group):
      values = chief if group.is_chief else [np.zeros_like(x) for x in chief]
      variables = [tf.Variable(x) for x in values]
      group.copy_from_chief(variables)
      return [x.numpy().tobytes() for x in variables]

    expected = [x.tobytes() for x in chief]
    self.assertEqual(_run(2, replica), [expected] * 2)


class _Prober(base.Uniform):
  """Uniform tasks, and some probes."""

  is_compiled = False
  feedback = ('value_error', 'final_task')

  def __init__(self, setting, num_probes):
    super().__init__(setting)
    self.probes = base.fresh_batch(
      setting.space.sample_uniform(setting.num_tasks, setting.seed),
      tf.constant(num_probes),
    )

  def probe(self, num_tasks, seed, size=None):
    return (self.probes,)

  def note_probe(self, batches, feedback, seed):
    self.told = feedback[0]


class TrainTest(parameterized.TestCase, tf.test.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.enterClassContext(unoptimized.programs())

  def _run_eagerly(self):
    """Leaves out to trace programs, which takes longer than a few calls."""
    tf.config.run_functions_eagerly(True)
    self.addCleanup(tf.config.run_functions_eagerly, False)

  @parameterized.product(count=(2, 3), center_rewards=(False, True))
  def test_replicas_stay_equal(self, count, center_rewards):
    if count > 2 or not center_rewards:  # One case is traced, as a real run is.
      self._run_eagerly()
    ppo = {'ppo.center_rewards': center_rewards, 'ppo.average_share': 0.5}
    cfg = overrides.replace(_CONFIG, ppo)

    def replica(group):
      env = fakes.LineWorld(_SHORT)
      run = run_lib.Run(cfg, [env], group.index)
      programs = programs_lib.Programs(run, [env], cfg, False, group)
      rows = [loop.iterate(run, programs, cfg) for _ in range(_ITERATIONS)]
      scores = loop.evaluate(run, programs)
      numbers = [x.numpy() for x in run.variables]
      return (
        tf.nest.map_structure(float, rows),
        scores,
        numbers,
        int(run.env_steps),
      )

    first, *others = _run(count, replica)
    for rows, scores, numbers, steps in others:
      self.assertEqual(rows, first[0])
      self.assertEqual(scores, first[1])
      for x, y in zip(numbers, first[2], strict=True):
        self.assertAllEqual(x, y)
      self.assertEqual(steps, _ITERATIONS * 24 * _SHORT)

  @parameterized.parameters(False, True)
  def test_they_learn_what_one_would(self, center_rewards):
    self._run_eagerly()
    ppo = {'ppo.center_rewards': center_rewards, 'ppo.num_minibatches': 1}
    cfg = overrides.replace(_CONFIG, ppo | {'ppo.num_epochs': 1})
    env, seed = fakes.LineWorld(_SHORT), randomness.root(4)

    def programs_of(group):
      run = run_lib.Run(cfg, [env], group.index)
      return run, programs_lib.Programs(run, [env], cfg, False, group)

    run, programs = programs_of(replicas_lib.ALONE)
    whole = programs.counts[0].collect(
      programs.sample(seed)[0], randomness.fold(seed, 1)
    )
    # Each replica's own mean would be another.
    reward = np.random.default_rng(0).normal(size=whole.reward[0].shape)
    reward[:, 12:] += 5.0
    whole = whole._replace(reward=(tf.constant(reward, tf.float32),))

    def learned(run, programs, trajectory):
      size = tf.constant(trajectory.progress.shape[1])
      batch = update.RolloutBatch(trajectory, size)
      mean = programs.learn.counts[0].mean_reward(batch)
      metrics, _ = programs.learn({0: batch}, seed)
      moments = [x for y in run.learner.optimizers for x in y.m]
      return mean, metrics, moments

    def replica(group):
      begin = 12 * group.index
      mine = tf.nest.map_structure(lambda x: x[:, begin : begin + 12], whole)
      return learned(*programs_of(group), mine)

    expected = learned(run, programs, whole)
    self.assertAllClose(expected[0], [np.mean(reward)], 1e-5)
    for found in _run(2, replica):
      tf.nest.map_structure(
        lambda x, y: self.assertAllClose(x, y, 1e-3, 1e-6), found, expected
      )

  @parameterized.parameters((3, 5), (2, 1))
  def test_any_number_of_probes(self, count, num_probes):
    """Of more or fewer than there are replicas, each is played by one."""
    if num_probes > 1:  # Else worlds on the host take tensors, not arrays.
      self._run_eagerly()
    spec = catalog.CurriculumSpec(
      name='prober', make=lambda setting: _Prober(setting, num_probes)
    )
    self.enter_context(
      mock.patch.dict(catalog.CURRICULA._entries, {'prober': spec})
    )
    cfg = config.Config(
      agent=_CONFIG.agent,
      # Worlds that are not played must not count in the mean, either.
      ppo=overrides.replace(_CONFIG, {'ppo.center_rewards': True}).ppo,
      curriculum=config.CurriculumConfig(name='prober'),
      training=_CONFIG.training,
    )

    def replica(group):
      env = fakes.LineWorld(_SHORT)
      if num_probes == 1:
        env = fakes.HostedWorld(env)
      run = run_lib.Run(cfg, [env], group.index)
      programs = programs_lib.Programs(run, [env], cfg, False, group)
      loop.iterate(run, programs, cfg)
      return run.curriculum, int(run.env_steps)

    (first, _), *_ = found = _run(count, replica)
    for made, steps in found:
      self.assertEqual(steps, (24 + num_probes) * _SHORT)
      tf.nest.map_structure(
        self.assertAllEqual, made.told._asdict(), first.told._asdict()
      )
    unplayed = 24 - num_probes
    self.assertAllGreater(first.told.value_error[:num_probes], 0.0)
    self.assertAllEqual(first.told.value_error[num_probes:], [0] * unplayed)
    # Whoever played them played the tasks that were asked for: landmarks stay.
    self.assertAllClose(
      first.told.final_task[:num_probes, 2:], first.probes.phi[:num_probes, 2:]
    )

  def test_random_numbers_are_of_one_replica_and_iteration(self):
    stream = randomness.Stream.COLLECT
    runs = [run_lib.Run(_CONFIG, [fakes.LineWorld()], i) for i in range(2)]
    own, shared = [], []
    for _ in range(2):
      for run in runs:
        own += [run.own_seed(stream), run.own_seed(stream, 1)]
        shared.append(run.seed(stream))
        run.iteration.assign_add(1)
    self.assertLen(np.unique(own, axis=0), 8)
    self.assertLen(np.unique(shared, axis=0), 2)


def _child() -> None:
  """Checks collective operations of real processes."""
  strategy = tf.distribute.MultiWorkerMirroredStrategy()
  group = replicas_lib.distributed(strategy)
  batch = _batch(12)
  np.testing.assert_array_equal(group.gather(group.share(batch).phi), batch.phi)
  total = group.sum({'x': tf.constant([1.0, group.index]), 'y': 2})
  np.testing.assert_array_equal(total['x'], [2.0, 1.0])
  np.testing.assert_array_equal(total['y'], 4.0)
  variable = tf.Variable([float(group.index), 3.0])
  group.copy_from_chief([variable])
  np.testing.assert_array_equal(variable, [0.0, 3.0])
  assert group.any(group.index == 1) and not group.any(False)
  print('equal', group.index)


class ProcessesTest(tf.test.TestCase):
  def test_two_processes_agree(self):
    sockets = [socket.create_server(('127.0.0.1', 0)) for _ in range(2)]
    workers = [f'127.0.0.1:{x.getsockname()[1]}' for x in sockets]
    for x in sockets:
      x.close()
    children = [
      subprocess.Popen(
        [sys.executable, __file__, '--child'],
        env={
          **os.environ,
          'PYTHONPATH': os.pathsep.join(sys.path),
          'TF_CONFIG': json.dumps(
            {
              'cluster': {'worker': workers},
              'task': {'type': 'worker', 'index': index},
            }
          ),
        },
        stdout=subprocess.PIPE,
        text=True,
      )
      for index in range(2)
    ]
    said = [child.communicate(timeout=120)[0] for child in children]
    self.assertEqual(said, ['equal 0\n', 'equal 1\n'])


if __name__ == '__main__':
  if '--child' in sys.argv:
    _child()
  else:
    tf.test.main()
