# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The compiled functions of a run, each traced once."""

import abc
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import builtin
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import checks as curriculum_checks
from vacl_tf.environments import base
from vacl_tf.learning import microbatch
from vacl_tf.learning import ppo
from vacl_tf.learning import update
from vacl_tf.training import evaluation
from vacl_tf.training import feedback
from vacl_tf.training import host_rollout
from vacl_tf.training import replicas as replicas_lib
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib


class CountPrograms(abc.ABC):
  """The programs of training for the worlds of one entity count.

  Attributes:
    env: the world.
    fields: names of the feedback fields that the curriculum asks for.
    collect: maps tasks and a seed to a trajectory, one episode of each task.
    evaluate: maps a seed to value and success [B] of fresh, greedily played
      tasks.
  """

  collect: Callable[[types.TaskBatch, types.Seed], types.Trajectory]
  evaluate: Callable[[types.Seed], tuple[tf.Tensor, tf.Tensor]]

  def __init__(
    self,
    env: base.World,
    fields: Sequence[str],
    compiled: update.Compiled,
  ) -> None:
    """Makes the programs that all kinds of worlds have.

    Args:
      env: the world.
      fields: names of the feedback fields that the curriculum asks for.
      compiled: compiles a function.
    """
    self.env = env
    self.fields = tuple(fields)
    self._feedback = compiled(
      lambda size, *found: feedback.of_played(
        feedback.of_rollout(self.fields, *found), size
      )
    )

  @property
  def wants_critic(self) -> bool:
    """Whether the feedback needs values and advantages."""
    return bool(set(feedback.OF_CRITIC) & set(self.fields))

  def feedback(
    self,
    trajectory: types.Trajectory,
    samples: ppo.Samples | tuple,
    size: tf.Tensor,
  ) -> types.TaskFeedback:
    """Returns the feedback on a roll-out.

    Args:
      trajectory: roll-out of B worlds that was collected last.
      samples: samples from the trajectory, used only if `wants_critic`.
      size: [] int32 number of worlds that count.
    """
    task = ()
    if 'final_task' in self.fields:
      task = self._final_task(trajectory)
    # Tensors that are not used would still be copied into the program.
    trajectory = trajectory._replace(state=(), memory=(), action=())
    samples = (
      samples._replace(state=(), policy_memory=(), value_memory=())
      if self.wants_critic
      else ()
    )
    return self._feedback(size, trajectory, samples, task)

  @abc.abstractmethod
  def _final_task(self, trajectory: types.Trajectory) -> tf.Tensor:
    """Returns the tasks [B, D] that the last states amount to."""

  def metrics(self) -> types.Metrics:
    """Returns metrics of the worlds since the last call."""
    return {}

  def close(self) -> None:
    """Frees the worlds' resources."""
    return


class GraphPrograms(CountPrograms):
  """Programs of worlds that are simulated in a graph."""

  def __init__(
    self,
    agent: agent_base.Agent,
    judged: agent_base.Agent,
    env: base.Environment,
    cfg: config.Config,
    world_multiple: int,
    fields: Sequence[str],
    compiled: update.Compiled,
  ) -> None:
    super().__init__(env, fields, compiled)
    num_tests = cfg.training.num_evaluation_tasks
    at_once = max(cfg.ppo.microbatch_vectors // env.num_vectors, 1)
    block = microbatch.largest_divisor(world_multiple, at_once)
    self.collect = compiled(
      lambda batch, seed: rollout.collect(agent, env, batch, block, seed)
    )
    if 'final_task' in self.fields:
      self._read_task = compiled(env.read_task)

    def play(
      seed: types.Seed, phi: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
      progress = evaluation.evaluate(
        rollout.greedy(judged),
        env,
        num_tests,
        seed,
        at_once,
        lambda num: judged.initial_memory(num, rollout.num_agents(env)),
        phi,
      )
      return rollout.task_value(progress), rollout.is_success(progress)

    played = compiled(play)
    self.evaluate = played
    if not env.task_space.is_compiled:
      self.evaluate = lambda seed: played(
        seed, evaluation.targets(env, num_tests, seed, at_once)
      )

  def _final_task(self, trajectory: types.Trajectory) -> tf.Tensor:
    last = tf.nest.map_structure(lambda x: x[-1], trajectory.state)
    return self._read_task(last)


class HostPrograms(CountPrograms):
  """Programs of worlds that are simulated outside TensorFlow."""

  def __init__(
    self,
    agent: agent_base.Agent,
    judged: agent_base.Agent,
    env: base.World,
    cfg: config.Config,
    world_multiple: int,
    fields: Sequence[str],
    compiled: update.Compiled,
  ) -> None:
    super().__init__(env, fields, compiled)
    # Up to rounding, the size of each group is a multiple of this.
    block = -(-world_multiple // host_rollout.NUM_GROUPS)
    self._judged = judged
    self._collector = host_rollout.Collector(agent, env, block, compiled)
    self.collect = self._collector.collect
    self.evaluate = self._evaluate
    self._tests = host_rollout.Worlds(env, restarts=False)
    self._num_reported = 0
    num_tests = cfg.training.num_evaluation_tasks
    space = env.task_space
    self._target = lambda seed: space.sample_target(num_tests, seed)
    if space.is_compiled:
      self._target = compiled(self._target)
    self._greedy = compiled(rollout.greedy(judged))

  def _evaluate(self, seed: types.Seed) -> tuple[tf.Tensor, tf.Tensor]:
    draw, run = randomness.split(seed, 2)
    progress = host_rollout.perform(
      *(self._act, self._tests, self._target(draw).numpy(), run),
      lambda num: self._judged.initial_memory(
        num, rollout.num_agents(self.env)
      ),
    )
    return rollout.task_value(progress), rollout.is_success(progress)

  def metrics(self) -> types.Metrics:
    """Returns metrics of the worlds since the last call.

    Evaluations are left out, because they come after the metrics of their
    iteration, and a resumed run would not know of them.
    """
    total = self._collector.worlds.num_unstable
    found = {'unstable_worlds': tf.constant(total - self._num_reported)}
    self._num_reported = total
    return found

  def close(self) -> None:
    for worlds in (self._collector.worlds, self._tests):
      worlds.close()

  def _act(
    self,
    begin: int,
    step: int,
    observations: types.Observations,
    memory: types.Memory,
  ) -> tuple[tuple[np.ndarray, ...], types.Memory]:
    del begin, step
    unused_seed = tf.zeros([2], tf.int32)
    actions, memory = self._greedy(observations, memory, unused_seed)
    return tuple(action.numpy() for action in actions), memory

  def _final_task(self, trajectory: types.Trajectory) -> tf.Tensor:
    # Rows that were not played have no world; they are padded.
    found = self._collector.worlds.read_tasks()
    missing = trajectory.progress.shape[1] - len(found)
    return tf.constant(np.pad(found, [(0, missing), (0, 0)]), tf.float32)


class Programs:
  """The compiled functions of a run.

  Attributes:
    counts: the programs of each entity count.
    sample, update: methods of the curriculum.
    probe, note_probe: methods of the curriculum, if it can probe.
    learn: update of the learner.
    world_multiple: the sizes of all training batches are multiples of it.
    replicas: the processes that train the run together.
  """

  def __init__(
    self,
    run: run_lib.Run,
    envs: Sequence[base.World],
    cfg: config.Config,
    use_xla: bool = True,
    replicas: replicas_lib.Replicas = replicas_lib.ALONE,
  ) -> None:
    """Makes the functions; without XLA they start sooner and run slower."""
    self.replicas = replicas
    self._compiled: list[Any] = []

    def traced(function: Callable, jit_compile: bool = False) -> Callable:
      program = tf.function(function, jit_compile=jit_compile, autograph=False)
      self._compiled.append(program)
      return program

    compiled = functools.partial(traced, jit_compile=use_xla)

    world_multiple = cfg.training.num_tasks
    if len(envs) > 1:
      world_multiple //= config.NUM_PARTS
    self.world_multiple = world_multiple
    mine = world_multiple // replicas.count
    curriculum = run.curriculum
    wrap = _on_host
    if curriculum.is_compiled:
      is_pure = all(env.task_space.is_compiled for env in envs)
      wrap = compiled if is_pure else traced
    self._compile_curriculum(curriculum, wrap, cfg, len(envs))
    num_tests = -(-cfg.training.num_evaluation_tasks // replicas.count)
    tests_here = {'training.num_evaluation_tasks': num_tests}
    cfg_here = overrides.replace(cfg, tests_here)
    self.counts = [
      (GraphPrograms if env.is_in_graph else HostPrograms)(
        *(run.agent, run.judged, env, cfg_here, mine),
        *(curriculum.feedback, compiled),
      )
      for env in envs
    ]
    self.learn = update.Update(
      run.learner, envs, mine, compiled, replicas.sum, replicas.count
    )

  def _compile_curriculum(
    self,
    curriculum: curriculum_base.Curriculum,
    wrap: Callable[[Callable], Callable],
    cfg: config.Config,
    num_counts: int,
  ) -> None:
    num_tasks = cfg.training.num_tasks
    is_ours = cfg.curriculum.name in builtin.CURRICULA

    def placed(method: str, function: Callable) -> Callable:
      return _on_cpu(wrap(function), None if is_ours else method)

    draws = functools.partial(
      curriculum_checks.draws, curriculum, num_tasks, num_counts
    )
    self.sample = placed('sample', draws())
    if curriculum.can_probe:
      self.probe = placed('probe', draws(is_probe=True))
      self.note_probe = placed('note_probe', curriculum.note_probe)
    self.update = placed(
      'update', lambda *told: curriculum_checks.named(curriculum.update(*told))
    )

  def close(self) -> None:
    """Frees the worlds' resources."""
    for count in self.counts:
      count.close()

  def num_traces(self) -> list[int]:
    """Returns how often each function was traced."""
    return [f.experimental_get_tracing_count() for f in self._compiled]


def _on_cpu(function: Callable, method: str | None) -> Callable:
  """Returns a function that runs on the device of the curriculum's variables.

  Args:
    function: a method of the curriculum, compiled.
    method: its name if the curriculum is a user's, else None. Errors that it
      raises while it is traced or run then become a CurriculumError.
  """

  def call(*args: Any) -> Any:
    with tf.device(run_lib.CURRICULUM_DEVICE):
      if method is None:
        return function(*args)
      return curriculum_checks.called(method, lambda: function(*args))

  return call


def _on_host(function: Callable) -> Callable:
  """Returns the function unchanged, for curricula outside TensorFlow."""
  return function
