# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A batch of worlds of one task, stepped by MuJoCo's thread pool.

An environment step is one call to `mujoco.batch.Batch` for the physics of all
worlds and a few array operations for the rules. Rays are cast only where a rule
depends on visibility. To place a world, its state is written; the model is not
compiled again.
"""

from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco import batch

from vacl_tf import machine
from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import counter_rng
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib

JITTER = 0.1  # Metres; largest random offset from a cell's corner, x and y.
_EPSILON = 1e-6  # Cells; keeps rounding from moving a corner one cell down.
_STREAMS_PER_STEP = 2  # Random streams: one for starts, one for lockers.


class HideAndSeekWorlds:
  """B worlds that begin and end together.

  Attributes:
    task: the task.
    num_worlds: number of worlds (B).
    physics: MuJoCo's simulations; `get_data` and `get_model` return what its
      renderer needs.
    num_unstable: number of simulations that have diverged so far. A diverged
      world is reset to the start of its task, and the episode continues.
  """

  def __init__(
    self, task: task_lib.Task, num_worlds: int, threads: int = 0
  ) -> None:
    """Makes empty worlds; `place` begins episodes.

    Args:
      task: the task.
      num_worlds: number of worlds (B).
      threads: threads for the physics, including the calling one; 0 for one
        per CPU available to this process. Results do not depend on it.

    Raises:
      ValueError: one of the numbers is too small.
    """
    for name, given, least in (
      ('num_worlds', num_worlds, 1),
      ('threads', threads, 0),
    ):
      if given < least:
        raise ValueError(f'{name}={given}; allowed: {least} or more')
    self.task = task
    self.num_worlds = num_worlds
    self.num_unstable = 0
    cast = task.cast
    model = entities.compile_model(task.arena, cast)
    names = map(entities.entity_name, range(cast.num_entities))
    self._bodies = np.array([model.body(name).id for name in names])
    # By default bodies with motors never sleep. Idle agents may sleep.
    idle = np.delete(self._bodies[: cast.num_agents], task.actors)
    asleep = mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED
    model.tree_sleep_policy[model.body_treeid[idle]] = asleep
    # With more threads than CPUs, steps are many times slower, as waiting
    # threads spin. The batch is persistent: each world has its own MjData,
    # because the state does not include which bodies sleep.
    self.physics = batch.Batch(
      model, num_worlds, threads or machine.threads(), persistent=True
    )
    self._attach()

    self._half_sizes = cast.half_sizes()
    self._aims = cast.aims()
    self._teams = np.array(task.teams)
    # The last element is for geom -1: the ray hits nothing.
    self._body_of_geom = np.append(model.geom_bodyid, -1)
    hands = [cast.num_agents, cast.num_objects]
    agents, things = np.indices(hands).reshape(2, -1)
    self._hands = agents, cast.num_agents + things
    self._looks = tuple(np.reshape(task.looks, [-1, 2]).astype(int).T)
    self._clear()

  @property
  def state(self) -> task_lib.State:
    """A copy of the current state."""
    *arrays, step = self._state()
    return task_lib.State(*(x.copy() for x in arrays), step)

  def place(
    self, phi: np.ndarray, seed: int | Sequence[int] | np.ndarray
  ) -> None:
    """Begins an episode in every world.

    Args:
      phi: [B, D] tasks in cells; fractions are rounded.
      seed: one or several integers. A world depends on the seed, its index and
        its own row of phi, not on the number of worlds.

    Raises:
      ValueError: a task is not legal.
    """
    phi = self.task.grid.check(phi)
    expected = (self.num_worlds, self.task.grid.num_dims)
    if phi.shape != expected:
      raise ValueError(
        f'phi has shape {list(phi.shape)}; allowed: {list(expected)}, a task '
        'for each world'
      )
    self._phi = phi
    self._keys = counter_rng.keys(seed, self.num_worlds)
    self._step = 0
    self._put(np.arange(self.num_worlds))
    self._look()

  def read_task(self) -> np.ndarray:
    """Returns the phi [B, D], in whole cells, of the current positions."""
    cells = np.floor(self._position[..., :2] / arena.CELL + _EPSILON)
    return self.task.read_task(cells).astype(np.float32)

  def step(self, actions: np.ndarray) -> task_lib.Outcome:
    """Plays one action of every acting agent in every world.

    Args:
      actions: int [B, n, 5]: bins of the forces along x and y and of the
        torque, whether to lock and whether to pull; see `mechanics.HEADS`.

    Returns:
      Reward, progress and success in the resulting state.

    Raises:
      ValueError: there are no tasks yet, or the actions are not valid.
    """
    if self._phi is None:
      raise ValueError('step was called before place; call place first')
    actions = self._actions_of_all(actions)
    self._handle(actions)
    forces = mechanics.FORCES[actions[..., : mechanics.LOCK]]
    self._control[:] = forces.reshape(self.num_worlds, -1)
    self.physics.step(nstep=arena.NUM_SUBSTEPS)
    self._step += 1
    self._mend()
    self._look()
    return self.task.judge(self._state())

  def observe(self) -> task_lib.Observation:
    """Returns what the acting agents observe after `place` or `step`."""
    return self.task.observe(self._state())

  def _clear(self) -> None:
    """Initialises the state of the rules, without tasks."""
    task, cast, num_worlds = self.task, self.task.cast, self.num_worlds
    self._phi = None  # Until there are tasks.
    self._keys = counter_rng.keys(0, num_worlds)
    self._step = 0
    self._is_locked = np.zeros([num_worlds, cast.num_objects], bool)
    self._locker = np.zeros([num_worlds, cast.num_objects], int)
    self._held = np.full([num_worlds, cast.num_agents], mechanics.NOTHING)
    self._birthplace = np.zeros([num_worlds, cast.num_agents, 2])
    self._is_seen = np.zeros([num_worlds, len(task.looks)], bool)

  def _state(self) -> task_lib.State:
    """Returns the current state as views, which later steps change."""
    return task_lib.State(
      position=self._position,
      velocity=self._velocity,
      is_locked=self._is_locked,
      locker=self._locker,
      held=self._held,
      birthplace=self._birthplace,
      is_seen=self._is_seen,
      step=self._step,
    )

  def _attach(self) -> None:
    """Binds arrays that are views of the simulations and their models."""
    cast, num_worlds = self.task.cast, self.num_worlds
    shape = [num_worlds, cast.num_entities, entities.NUM_JOINTS]
    welds = [num_worlds, cast.num_agents, cast.num_objects]
    self._position = self.physics.bind('qpos').reshape(shape)
    self._velocity = self.physics.bind('qvel').reshape(shape)
    self._control = self.physics.bind('ctrl')
    self._is_welded = self.physics.bind('eq_active').reshape(welds)
    # Fields of the model; `expand` gives each world its own copy.
    self._weld = self.physics.expand('eq_data').reshape([*welds, -1])
    is_limited = self.physics.expand('jnt_limited').reshape(shape)
    limits = self.physics.expand('jnt_range').reshape([*shape, 2])
    self._is_limited = is_limited[:, cast.num_agents :]
    self._limits = limits[:, cast.num_agents :]

  def _put(self, rows: np.ndarray) -> None:
    """Places some worlds at their tasks: at rest, nothing locked or held."""
    cast, num_draws = self.task.cast, self.task.num_start_draws
    numbers = counter_rng.uniform(
      self._keys[rows],
      _STREAMS_PER_STEP * self._step,
      num_draws + 2 * cast.num_entities,
    )
    cells = self.task.start(self._phi[rows], numbers[:, :num_draws])
    jitter = JITTER * numbers[:, num_draws:].reshape(cells.shape)
    # Without a reset, the solver would start from the last episode's solution.
    self.physics.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
    self._position[rows, :, :2] = arena.CELL * cells + jitter
    self._is_locked[rows] = False
    self._locker[rows] = 0
    self._held[rows] = mechanics.NOTHING
    self._birthplace[rows] = self._position[rows, : cast.num_agents, :2]

  def _mend(self) -> None:
    """Resets diverged simulations, and counts them.

    A world with an entity outside the arena counts as diverged, because the
    entity could never return.
    """
    corner = self._position[..., :2]
    is_sound = ((corner >= 0.0) & (corner <= self.task.arena.side)).all((1, 2))
    is_sound &= (np.abs(self._position) < task_lib.LARGEST).all((1, 2))
    is_sound &= (np.abs(self._velocity) < task_lib.LARGEST).all((1, 2))
    broken = np.flatnonzero(~is_sound)
    if broken.size:
      self.num_unstable += broken.size
      self._put(broken)

  def _handle(self, actions: np.ndarray) -> None:
    """Applies grabbing and locking; actions [B, N, 5] of all agents."""
    num_agents = self.task.cast.num_agents
    agent, thing = np.s_[:, :num_agents], np.s_[:, num_agents:]
    centre = mechanics.centres(self._position, self._half_sizes)
    yaw = self._position[..., 3]
    distance = mechanics.surface_distances(
      centre[agent], centre[thing], yaw[thing], self._half_sizes[num_agents:]
    )
    pulls = actions[..., mechanics.PULL, None] == 1
    is_near = distance <= self.task.reach
    must_see = is_near & (pulls | self.task.must_see_to_lock)
    sees = self._sees(self._hands, must_see.reshape(self.num_worlds, -1))
    sees = sees.reshape(distance.shape)
    self._grab(mechanics.choose_grabs(distance, sees & pulls), centre, yaw)
    self._lock(
      actions[..., mechanics.LOCK] == 1,
      sees if self.task.must_see_to_lock else is_near,
    )

  def _grab(
    self, held: np.ndarray, centre: np.ndarray, yaw: np.ndarray
  ) -> None:
    """Welds held objects, int [B, N]; a new grab sets the relative pose."""
    is_new = (held != self._held) & (held != mechanics.NOTHING)
    world, agent = np.nonzero(is_new)
    if world.size:
      grabbed = held[world, agent]
      thing = self.task.cast.num_agents + grabbed
      weld = np.zeros([world.size, self._weld.shape[-1]])
      weld[:, 3:6], weld[:, 6:10] = mechanics.relative_poses(
        centre[world, agent],
        yaw[world, agent],
        centre[world, thing],
        yaw[world, thing],
      )
      weld[:, 10] = 1.0  # Torque per force.
      self._weld[world, agent, grabbed] = weld
    self._held = held
    self._is_welded[:] = held[..., None] == np.arange(self._weld.shape[2])

  def _lock(self, wants: np.ndarray, can_reach: np.ndarray) -> None:
    """Updates locks; a new lock limits the joints to their positions."""
    stream = _STREAMS_PER_STEP * self._step + 1
    is_locked, self._locker = mechanics.resolve_locks(
      wants,
      can_reach,
      self._teams,
      self._is_locked,
      self._locker,
      counter_rng.uniform(self._keys, stream, self._is_locked.shape[1]),
    )
    is_new = is_locked & ~self._is_locked
    if is_new.any():
      frozen = self._position[:, self.task.cast.num_agents :][is_new]
      self._limits[is_new] = frozen[..., None]
    self._is_locked = is_locked
    self._is_limited[:] = is_locked[..., None]

  def _look(self) -> None:
    """Updates whether the agent sees the entity, for pairs in `task.looks`."""
    is_asked = np.ones(self._is_seen.shape, bool)
    self._is_seen = self._sees(self._looks, is_asked)

  def _sees(
    self, pairs: tuple[np.ndarray, np.ndarray], is_asked: np.ndarray
  ) -> np.ndarray:
    """Returns bool [B, P]: whether the agent sees the entity.

    Args:
      pairs: agents [P] and entities [P].
      is_asked: bool [B, P]; pairs to test. The result is False for the others.
    """
    agent, target = pairs
    centre = mechanics.centres(self._position, self._half_sizes)
    yaw = self._position[..., 3]
    towards = centre[:, target] - centre[:, agent]
    is_asked = is_asked & mechanics.in_front(yaw[:, agent], towards)
    is_seen = np.zeros(is_asked.shape, bool)
    worlds = np.flatnonzero(is_asked.any(1))
    if not worlds.size:
      return is_seen
    # All worlds cast as many rays as the world with the most pairs to test. The
    # pairs to test come first.
    num_rays = is_asked.sum(1).max()
    which = np.argsort(~is_asked[worlds], 1, kind='stable')[:, :num_rays]
    world = worlds[:, None]
    agent, target = agent[which], target[which]
    aim = mechanics.turned(self._aims[target], yaw[world, target])
    begin = centre[world, agent]
    _, geom = self.physics.ray(
      begin,
      centre[world, target] + aim - begin,
      flg_static=True,  # Walls are static.
      bodyexclude=self._bodies[agent],
      ids=worlds,
    )
    is_seen[world, which] = self._body_of_geom[geom] == self._bodies[target]
    return is_seen & is_asked

  def _actions_of_all(self, actions: np.ndarray) -> np.ndarray:
    """Returns actions [B, N, 5] of all agents; idle ones do nothing."""
    actions, cast = np.asarray(actions), self.task.cast
    expected = (
      self.num_worlds,
      len(self.task.actors),
      len(mechanics.HEADS),
    )
    is_integer = np.issubdtype(actions.dtype, np.integer)
    if actions.shape != expected or not is_integer:
      raise ValueError(
        f'actions are {actions.dtype} of shape {list(actions.shape)}; allowed: '
        f'integers of shape {list(expected)}, five choices for each agent'
      )
    least, most = actions.min((0, 1)), actions.max((0, 1))
    if np.any(least < 0) or np.any(most >= mechanics.HEADS):
      raise ValueError(
        f'actions range from {least.tolist()} to {most.tolist()}; allowed: 0 '
        f'to {[choices - 1 for choices in mechanics.HEADS]} for the five heads'
      )
    everybody = np.empty([self.num_worlds, cast.num_agents, expected[2]], int)
    everybody[:] = mechanics.NO_OP
    everybody[:, list(self.task.actors)] = actions
    return everybody
