# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Playing episodes of worlds that are simulated outside TensorFlow.

Worlds come in two groups that take turns: while the physics of one goes a
step, the policy looks at the other, so that with a GPU neither waits for the
other. Results do not depend on which is faster.
"""

from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek import training_view
from vacl_tf.learning import chunks
from vacl_tf.networks import recurrent

NUM_GROUPS = 2


class Player(Protocol):
  """Acts for one group of worlds."""

  def act(self, step: int, seen: task_lib.Observations) -> np.ndarray:
    """Returns actions int [B, n, heads] in a step, 0 for the first."""

  def note(self, step: int, outcome: task_lib.Outcome) -> None:
    """Is told what the actions of a step have led to."""


class Worlds:
  """As many worlds of a task as are wanted at a time.

  Attributes:
    task: what is played.
    num_unstable: how often the physics of a world broke down so far; see
      `environment.HideAndSeekWorlds`.
  """

  def __init__(self, task: task_lib.Task) -> None:
    self.task = task
    self.num_unstable = 0
    self._groups: list[environment.HideAndSeekWorlds] = []

  def play(
    self,
    phi: np.ndarray,
    seed: types.Seed,
    make_player: Callable[[int, int], Player],
    watch: Callable[[int, task_lib.State], None] | None = None,
  ) -> None:
    """Plays an episode of each task.

    Args:
      phi: [B, D] tasks.
      seed: of what the worlds decide at random.
      make_player: given the first world of a group and the one after its last,
        returns who acts there.
      watch: is shown the state of each group, the first of them being 0, before
        each step and after the last one.
    """
    num_groups = min(NUM_GROUPS, len(phi))
    bounds = np.linspace(0, len(phi), num_groups + 1).astype(int).tolist()
    sizes = np.diff(bounds).tolist()
    if [group.num_worlds for group in self._groups] != sizes:
      self._groups = [
        environment.HideAndSeekWorlds(self.task, size) for size in sizes
      ]
    before = sum(group.num_unstable for group in self._groups)
    key = seed.numpy().view(np.uint32).tolist()
    players = []
    for worlds, begin in zip(self._groups, bounds[:-1], strict=True):
      end = begin + worlds.num_worlds
      worlds.place(phi[begin:end], [*key, begin])
      players.append(make_player(begin, end))
    _take_turns(self._groups, players, self.task.horizon, watch)
    after = sum(group.num_unstable for group in self._groups)
    self.num_unstable += after - before


def _take_turns(
  groups: Sequence[environment.HideAndSeekWorlds],
  players: Sequence[Player],
  num_steps: int,
  watch: Callable[[int, task_lib.State], None] | None,
) -> None:
  """Plays whole episodes; one group acts while another's physics is at work."""
  moving: list[futures.Future | None] = [None] * len(groups)

  def arrive(index: int, step: int) -> None:
    """Waits for a group's last step, and tells who wants to know."""
    if step:
      players[index].note(step - 1, moving[index].result())
    if watch is not None:
      watch(index, groups[index].state)

  with futures.ThreadPoolExecutor(max_workers=1) as engine:
    for step in range(num_steps):
      for index, worlds in enumerate(groups):
        arrive(index, step)
        actions = players[index].act(step, worlds.observe())
        moving[index] = engine.submit(worlds.step, actions)
    for index in range(len(groups)):
      arrive(index, num_steps)


class Record(NamedTuple):
  """An episode of many worlds; arrays [T, rows, ...], see types.Trajectory."""

  seen: types.Seen
  memory: np.ndarray  # [T, rows, n, H] of the policy, before each step.
  numbers: np.ndarray  # [T, rows, n, heads] that actions are drawn by.
  action: np.ndarray
  log_prob: np.ndarray
  reward: np.ndarray
  progress: np.ndarray


class Explorer:
  """Plays with exploration, to learn from."""

  def __init__(
    self,
    network: recurrent.PolicyValue,
    world: training_view.HideAndSeek,
    block: int,
    compiled: Callable[[Callable], Callable],
  ) -> None:
    """Initialises the collector of one entity count.

    Args:
      network: what acts.
      world: what is played.
      block: worlds that the network looks at together; no result depends on
        it.
      compiled: compiles a function.
    """
    self.worlds = Worlds(world.task)
    self._network = network
    self._world = world
    self._block = block
    self._act = compiled(self._play_step)
    self._draw = compiled(self._draw_numbers)

  def collect(
    self, batch: types.TaskBatch, seed: types.Seed
  ) -> types.Trajectory:
    """Returns one episode of each task that counts, zero beyond them.

    Args:
      batch: tasks [B, D], of which the first batch.size are played.
      seed: of places and actions.

    Returns:
      A trajectory whose states are what the agents see and the memories of the
      policy, both before each step, [T, B, ...].
    """
    num_rows, size = batch.phi.shape[0], int(batch.size)
    most = -(-num_rows // NUM_GROUPS)  # In a group.
    window = -(-most // self._block) * self._block
    place_seed, action_seed = randomness.split(seed, 2)
    # A few more rows, so that the window of any group lies within.
    record = self._empty_record(num_rows + window)
    record.numbers[:, :num_rows] = self._draw(batch.phi, action_seed)

    def make_player(begin: int, end: int) -> Player:
      return _Recorder(self._act, record, slice(begin, end), window)

    self.worlds.play(batch.phi.numpy()[:size], place_seed, make_player)
    whole = tf.nest.map_structure(
      lambda x: tf.convert_to_tensor(x[:, :num_rows]), record
    )
    return types.Trajectory(
      state=(whole.seen, whole.memory),
      action=(whole.action,),
      log_prob=(whole.log_prob,),
      reward=(whole.reward,),
      bonus=(tf.zeros_like(whole.reward),),
      progress=whole.progress,
    )

  def _empty_record(self, num_rows: int) -> Record:
    [role] = self._world.roles
    slots, n = self._world.task.slots, role.num_agents
    num_heads = len(role.num_actions)

    def zeros(*shape: int, dtype: type = np.float32) -> np.ndarray:
      return np.zeros([self._world.horizon, num_rows, *shape], dtype)

    return Record(
      seen=types.Seen(
        own=zeros(n, role.own_size),
        own_of_value=zeros(n, role.own_size),
        entities={
          kind: zeros(n, slots[kind], size)
          for kind, size in role.entity_sizes.items()
        },
      ),
      memory=zeros(n, self._network.hidden_size),
      numbers=zeros(n, num_heads),
      action=zeros(n, num_heads, dtype=np.int32),
      log_prob=zeros(n),
      reward=zeros(n),
      progress=zeros(),
    )

  def _draw_numbers(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Returns numbers [T, B, n, heads] to draw actions by, for phi [B, D]."""
    [role] = self._world.roles
    shape = [phi.shape[0], role.num_agents, len(role.num_actions)]
    return randomness.uniform(seed, [self._world.horizon, *shape])

  def _play_step(
    self,
    own: tf.Tensor,
    entities: dict[str, tf.Tensor],
    memory: tf.Tensor,
    numbers: tf.Tensor,
    size: tf.Tensor,
  ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns actions, their log-probabilities and memories; all [rows, ...].

    Args:
      own: [rows, n, F].
      entities: kind -> [rows, n, m, F].
      memory: [rows, n, H].
      numbers: [rows, n, heads].
      size: [] int32 how many of the rows are wanted.
    """
    block = self._block
    inputs = tf.nest.map_structure(
      lambda x: x[None], (own, entities, memory, numbers)
    )

    def of_block(begin: tf.Tensor) -> tuple[tf.Tensor, ...]:
      mine = chunks.worlds(inputs, begin, block)
      *seen, uniform = tf.nest.map_structure(lambda x: x[0], mine)
      distribution, after = self._network.act(*seen)
      action = distribution.draw(uniform)
      found = (action, distribution.log_prob(action), after)
      return tf.nest.map_structure(lambda x: x[None], found)

    wanted = (size + block - 1) // block * block
    found = chunks.over_worlds(of_block, own.shape[0], block, wanted)
    return tf.nest.map_structure(lambda x: x[0], found)


class _Recorder:
  """Acts in some of the worlds and writes down what happens."""

  def __init__(
    self, act: Callable, record: Record, rows: slice, window: int
  ) -> None:
    """Initialises who acts in some rows of a record.

    Args:
      act: see `Explorer._play_step`.
      record: what to write to.
      rows: the worlds to act in.
      window: how many rows `act` is compiled for.
    """
    self._act = act
    self._record = record
    self._rows = rows
    self._window = slice(rows.start, rows.start + window)
    self._size = tf.constant(rows.stop - rows.start)

  def act(self, step: int, seen: task_lib.Observations) -> np.ndarray:
    record, rows = self._record, self._rows
    record.seen.own[step, rows] = seen.actor.own
    record.seen.own_of_value[step, rows] = seen.critic.own
    for kind, entities in seen.actor.entities.items():
      record.seen.entities[kind][step, rows] = entities
    inputs = (
      record.seen.own,
      record.seen.entities,
      record.memory,
      record.numbers,
    )
    inputs = tf.nest.map_structure(lambda x: x[step, self._window], inputs)
    action, log_prob, memory = self._act(*inputs, self._size)
    size = rows.stop - rows.start
    record.action[step, rows] = action.numpy()[:size]
    record.log_prob[step, rows] = log_prob.numpy()[:size]
    if step + 1 < len(record.memory):
      record.memory[step + 1, rows] = memory.numpy()[:size]
    return record.action[step, rows]

  def note(self, step: int, outcome: task_lib.Outcome) -> None:
    self._record.reward[step, self._rows] = outcome.reward
    self._record.progress[step, self._rows] = outcome.progress


Memory = Any
# The first world of a group, what is seen there and the memory so far (None at
# first) to actions int [B, n, heads] and the memory after them.
Act = Callable[[int, task_lib.Observations, Memory], tuple[np.ndarray, Memory]]


class _Performer:
  """Acts by itself, with nothing written down but progress."""

  def __init__(self, act: Act, begin: int, progress: np.ndarray) -> None:
    self._act = act
    self._begin = begin
    self._progress = progress
    self._memory: Memory = None

  def act(self, step: int, seen: task_lib.Observations) -> np.ndarray:
    del step
    action, self._memory = self._act(self._begin, seen, self._memory)
    return action

  def note(self, step: int, outcome: task_lib.Outcome) -> None:
    self._progress[step] = outcome.progress


def perform(
  act: Act,
  worlds: Worlds,
  phi: np.ndarray,
  seed: types.Seed,
  watch: Callable[[int, task_lib.State], None] | None = None,
) -> np.ndarray:
  """Plays an episode of each task phi [B, D]; see `Worlds.play`.

  Returns:
    The progress [T, B] after each step.
  """
  progress = np.zeros([worlds.task.horizon, len(phi)], np.float32)
  worlds.play(
    phi,
    seed,
    lambda begin, end: _Performer(act, begin, progress[:, begin:end]),
    watch,
  )
  return progress
