# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1: sample tasks, collect, learn, update the curriculum, count."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.learning import chunks
from vacl_tf.learning import ppo
from vacl_tf.learning import recurrent
from vacl_tf.learning import update
from vacl_tf.networks import policy_value
from vacl_tf.networks import recurrent as recurrent_network
from vacl_tf.training import evaluation
from vacl_tf.training import rollout

Network = policy_value.PolicyValue | recurrent_network.PolicyValue

_STOP_WINDOW = 3  # Evaluations whose mean must reach stop_at_coverage.
_WATCHED = ('policy_loss', 'value_loss', 'entropy', 'return_mean')


class DivergedError(Exception):
  """A quantity of training is not finite; the message names it."""


class Run(tf.Module):
  """All that survives an iteration; a checkpoint of it is the whole resume."""

  def __init__(self, cfg: config.Config, envs: Sequence[base.World]) -> None:
    """Begins a run.

    Args:
      cfg: all constants.
      envs: the world with each entity count, the one to master last.
    """
    super().__init__(name='run')
    self.root = randomness.root(cfg.seed)
    stream = randomness.fold(self.root, randomness.Stream.CURRICULUM)
    # The networks do not depend on any count.
    self.network, self.learner = _make_agent(envs[-1], cfg)
    self.curriculum = curriculum.make(
      cfg, [env.task_space for env in envs], stream
    )
    self.iteration = tf.Variable(0, trainable=False, name='iteration')
    self.env_steps = tf.Variable(
      0, trainable=False, dtype=tf.int64, name='env_steps'
    )
    self.wall_seconds = tf.Variable(
      0.0, trainable=False, dtype=tf.float64, name='wall_seconds'
    )
    counts = [config.spelt(env.counts) for env in envs]
    by_count = [f'coverage_n{n}' for n in counts] if len(envs) > 1 else []
    self.score_names = ('coverage', 'success', *by_count)
    # Latest coverage last; the curriculum sees it, and so does the stop rule.
    self.coverage = tf.Variable(
      tf.fill([len(envs), _STOP_WINDOW], math.nan),
      trainable=False,
      name='coverage',
    )

  def seed(self, stream: randomness.Stream, *more: int) -> types.Seed:
    """Returns the seed of a stream at this iteration."""
    return randomness.fold(self.root, stream, self.iteration, *more)


def _make_agent(
  env: base.World, cfg: config.Config
) -> tuple[Network, ppo.Learner]:
  """Returns the networks for a world, and who improves them."""
  if isinstance(env, base.Environment):
    network = policy_value.PolicyValue(env.roles, cfg.network, cfg.seed)
    return network, ppo.Learner(network, cfg.ppo)
  [role] = env.roles
  if not cfg.ppo.recall_cost:  # Nothing is asked, so nothing need answer.
    role = role._replace(unseen_place=())
  network = recurrent_network.PolicyValue(role, cfg.network, cfg.seed)
  return network, recurrent.Learner(network, cfg.ppo)


class CountPrograms:
  """What training does with the worlds of one entity count.

  Attributes:
    env: the world.
    collect: tasks and a seed to a trajectory.
    value: a trajectory to the value [B] of its tasks.
    evaluate: a seed to value and success [B] of fresh tasks, played greedily.
  """

  def __init__(
    self,
    network: policy_value.PolicyValue,
    env: base.Environment,
    cfg: config.Config,
    quantum: int,
    compiled: update.Compiled,
  ) -> None:
    greedy = evaluation.greedily(network.logits)
    num_tests = cfg.training.num_evaluation_tasks
    at_once = max(cfg.ppo.chunk_vectors // env.num_vectors, 1)
    block = chunks.largest_divisor(quantum, at_once)
    self.env = env
    self.collect = compiled(
      lambda batch, seed: rollout.collect(
        network.logits, env, batch, block, seed
      )
    )
    self.value = compiled(
      lambda trajectory: rollout.task_value(trajectory.progress)
    )

    def evaluate(seed: types.Seed) -> tuple[tf.Tensor, tf.Tensor]:
      progress = evaluation.evaluate(greedy, env, num_tests, seed, at_once)
      return rollout.task_value(progress), rollout.is_success(progress)

    self.evaluate = compiled(evaluate)

  def metrics(self) -> types.Metrics:
    """Returns what is to be told of the worlds since the last time."""
    return {}


class Programs:
  """The compiled functions of a run, each traced once."""

  def __init__(
    self,
    run: Run,
    envs: Sequence[base.World],
    cfg: config.Config,
    use_xla: bool = True,
  ) -> None:
    """Makes the functions; without XLA they start sooner and run slower."""
    self._compiled: list[Any] = []

    def compiled(function: Callable) -> Callable:
      made = tf.function(function, jit_compile=use_xla, autograph=False)
      self._compiled.append(made)
      return made

    quantum = cfg.training.num_tasks
    if len(envs) > 1:
      quantum //= config.NUM_PARTS
    self.sample = compiled(
      lambda seed: run.curriculum.sample(cfg.training.num_tasks, seed)
    )
    make_count = CountPrograms
    if not isinstance(envs[-1], base.Environment):
      # Late, as only hide-and-seek needs MuJoCo.
      from vacl_tf.training import host_programs

      make_count = host_programs.HostPrograms
    self.counts = [
      make_count(run.network, env, cfg, quantum, compiled) for env in envs
    ]
    self.learn = update.Update(run.learner, envs, quantum, compiled)
    self.update = compiled(run.curriculum.update)

  def num_traces(self) -> list[int]:
    """Returns how often each function was traced."""
    return [f.experimental_get_tracing_count() for f in self._compiled]


def iterate(run: Run, programs: Programs, cfg: config.Config) -> types.Metrics:
  """Makes one iteration of Algorithm 1; returns its metrics."""
  stream = randomness.Stream
  batches = programs.sample(run.seed(stream.SAMPLE))
  in_play = [i for i, batch in enumerate(batches) if int(batch.size)]

  # Maximise L1: the policy, on the tasks of the present curriculum.
  run.learner.anneal(int(run.env_steps))
  totals = [tf.zeros(batch.phi.shape[:1]) for batch in batches]
  for rollout_index in range(cfg.training.num_rollouts):
    experiences = {}
    for i in in_play:
      count, size = programs.counts[i], batches[i].size
      seed = run.seed(stream.COLLECT, rollout_index, i)
      trajectory = count.collect(batches[i], seed)
      experiences[i] = update.Experience(trajectory, size)
      totals[i] += count.value(trajectory)
      run.env_steps.assign_add(count.env.horizon * int(size))
    metrics = programs.learn(experiences, run.seed(stream.LEARN, rollout_index))

  for i in in_play:
    for name, number in programs.counts[i].metrics().items():
      metrics[name] = number + metrics.get(name, 0)

  # Maximise L2: the curriculum, given how the policy did.
  values = tuple(total / cfg.training.num_rollouts for total in totals)
  metrics |= programs.update(
    batches, values, run.coverage[:, -1], run.seed(stream.UPDATE)
  )
  run.iteration.assign_add(1)
  return metrics


def evaluate(run: Run, programs: Programs) -> dict[str, float]:
  """Returns greedy coverage and success on fresh tasks, and notes coverage.

  Coverage and success are those of the last entity count, which is the one to
  master; each count that is in play has its own coverage too.
  """
  last = len(programs.counts) - 1
  is_due = run.curriculum.in_play().numpy()
  is_due[last] = True
  seed = run.seed(randomness.Stream.EVALUATE)
  found = []
  for i, count in enumerate(programs.counts):
    coverage = math.nan
    if is_due[i]:
      value, success = count.evaluate(seed)
      coverage = float(tf.reduce_mean(value))
      latest = tf.concat([run.coverage[i, 1:], [coverage]], 0)
      run.coverage.scatter_nd_update([[i]], latest[None])
    found.append(coverage)
  scores = (coverage, float(np.mean(success)), *(found if last else ()))
  return dict(zip(run.score_names, scores, strict=True))


def is_finished(run: Run, length: config.RunLength) -> bool:
  """Returns whether nothing is left to do."""
  mean = float(tf.reduce_mean(run.coverage[-1]))  # NaN before three of them.
  is_good = 0.0 < length.stop_at_coverage <= mean
  return is_good or int(run.env_steps) >= length.num_env_steps


def _checked(metrics: types.Metrics, iteration: int) -> dict[str, float]:
  """Returns metrics as numbers; raises DivergedError if one is not finite."""
  row = {name: float(value) for name, value in metrics.items()}
  for name in _WATCHED:
    if not math.isfinite(row[name]):
      raise DivergedError(f'{name} is {row[name]} at iteration {iteration}')
  return row


def train(
  run: Run,
  programs: Programs,
  cfg: config.Config,
  length: config.RunLength,
  *,
  log: Callable[[dict[str, float]], None],
  save: Callable[[], None],
  should_stop: Callable[[], bool],
  began: float,
) -> bool:
  """Trains until the run is finished or asked to stop, then saves.

  Args:
    run: what to train, in place.
    programs: its compiled functions.
    cfg: what was used to make both.
    length: when to end, evaluate and save.
    log: takes the row of an iteration.
    save: writes a checkpoint of the run.
    should_stop: asked after each iteration.
    began: time.monotonic() when this process began.

  Returns:
    Whether the run is finished.

  Raises:
    DivergedError: a metric is not finite. The last checkpoint is good.
  """
  before = float(run.wall_seconds)
  is_done = False
  while not is_done:
    metrics = iterate(run, programs, cfg)
    row = _checked(metrics, int(run.iteration))
    scores = dict.fromkeys(run.score_names, math.nan)
    is_due = int(run.iteration) % length.evaluation_interval == 0
    if is_due:
      scores = evaluate(run, programs)
    run.wall_seconds.assign(before + time.monotonic() - began)
    is_done, must_stop = is_finished(run, length), should_stop()
    is_last = is_done or must_stop
    if is_last or int(run.iteration) % length.checkpoint_interval == 0:
      save()
    if is_done and not is_due:  # Saved without it, so that resume is exact.
      scores = evaluate(run, programs)
    log(
      {
        'iteration': int(run.iteration),
        'env_steps': int(run.env_steps),
        'wall_seconds': before + time.monotonic() - began,
        **scores,
        **row,
      }
    )
    if must_stop:
      break
  return is_done
