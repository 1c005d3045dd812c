# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares particle tasks with those of the authors' release, step by step.

  python -m vacl_tf.testing.conformance --release=PATH --env=simple_spread

PATH is a checkout of the authors' repository, which is not part of this one.
Its worlds need the package gym. Both sides are placed at the same tasks and
play the same random actions. Before each step the release gets the positions
and velocities that our worlds have, so that rounding cannot build up: what is
compared is the result of a single step from a common state.
"""

import argparse
import importlib
import pathlib
import sys
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.testing import one_line

if TYPE_CHECKING:
  from vacl_tf.environments import base

# The largest differences that float32 explains; forces in walls reach 150 N.
_TOLERANCE = {
  'positions': 1e-5,  # Metres.
  'velocities': 1e-4,  # Metres per second.
  'rewards': 1e-6,
  'coverage': 1e-6,
  'flags': 0.0,
}
_KEPT = 0.7  # Probability that an agent repeats its action, to gain speed.


class _UsageError(Exception):
  """The command cannot use an argument; the message is one line."""


class _Step(NamedTuple):
  """The state and outcome after a step of B worlds."""

  positions: np.ndarray  # [B, bodies, 2]
  velocities: np.ndarray  # [B, bodies, 2]
  rewards: np.ndarray  # [B, agents]
  coverage: np.ndarray  # [B]
  flags: np.ndarray  # [B, landmarks]; [B, 0] where no agent observes any.


class Row(NamedTuple):
  """How a quantity compares over all steps of all worlds."""

  name: str
  num_compared: int
  num_different: int  # Beyond the tolerance.
  largest: float  # Difference.
  first: tuple[int, int] | None  # Step and task of the first difference.


class _Release:
  """One world of the release, which stands for each of our worlds in turn."""

  def __init__(self, path: pathlib.Path, env: 'base.World') -> None:
    """Loads a scenario.

    Args:
      path: folder of the release.
      env: our world of the same task.

    Raises:
      _UsageError: the release, or a package that it needs, is missing.
    """
    package = path / 'envs' / 'mpe'
    names = (env.name, f'simple_{env.name}')
    found = [x for x in names if (package / 'scenarios' / f'{x}.py').is_file()]
    if not (package / 'MPE.py').is_file() or not found:
      raise _UsageError(
        f'release={path} has no envs/mpe/MPE.py with a scenario {env.name}; '
        "give the folder of a checkout of the authors' repository"
      )
    # Its own __init__.py would import worlds that need MuJoCo.
    parent = types.ModuleType('envs')
    parent.__path__ = [str(path / 'envs')]
    sys.modules['envs'] = parent
    try:
      module = importlib.import_module('envs.mpe.MPE')
    except ImportError as error:
      raise _UsageError(
        f'release={path}: {error}; its worlds need gym: pip install gym==0.26.2'
      ) from error
    self._env = module.MPEEnv(
      argparse.Namespace(
        scenario_name=found[0],
        num_agents=_num_agents(env),
        num_landmarks=_num_landmarks(env),
      )
    )

  def step(
    self,
    points: np.ndarray,
    velocities: np.ndarray,
    goal: int | None,
    actions: list[np.ndarray],
  ) -> _Step:
    """Returns the outcome of actions in a state, without the dimension B.

    Args:
      points: positions [entities, 2] of agents, balls (if any) and landmarks.
      velocities: velocities [bodies, 2].
      goal: index of the goal landmark; None if the task has none.
      actions: one-hot action of each agent.
    """
    world = self._env.world
    for entity, point in zip(
      [*world.agents, *world.landmarks], points, strict=True
    ):
      entity.state.p_pos = point.astype(np.float64)
    for body, velocity in zip(world.agents, velocities, strict=True):
      body.state.p_vel = velocity.astype(np.float64)
    if goal is not None:
      world.agents[0].goal_b = world.landmarks[goal]
    _, rewards, _, infos, _ = self._env.step(actions)
    return _Step(
      positions=np.array([body.state.p_pos for body in world.agents]),
      velocities=np.array([body.state.p_vel for body in world.agents]),
      rewards=np.ravel(rewards),
      coverage=np.array(infos[0]['cover_rate']),
      flags=np.array([getattr(x, 'cover', 0) for x in world.landmarks]),
    )


class _Ours:
  """B worlds of this library."""

  def __init__(self, env: 'base.World', num_tasks: int, seed: int) -> None:
    """Places tasks; half of them are easy, so that bodies meet."""
    self.num_bodies = env.task_space.num_entities - _num_landmarks(env)
    self._worlds = env.make_simulator(num_tasks)
    draws = randomness.split(randomness.root(seed), 2)
    num_easy = num_tasks // 2
    easy = env.task_space.sample_easy(num_easy, draws[0])
    others = env.task_space.sample_uniform(num_tasks - num_easy, draws[1])
    self._worlds.place(np.concatenate([easy, others]), [seed])

  def points(self) -> np.ndarray:
    """Returns positions of all entities, [B, entities, 2]."""
    return self._worlds.read_task().reshape([self._worlds.num_worlds, -1, 2])

  def velocities(self) -> np.ndarray:
    """Returns [B, bodies, 2]; bodies that cannot move come first."""
    found = np.asarray(self._worlds.state.velocity)
    found = found.reshape([len(found), -1, 2])
    missing = self.num_bodies - found.shape[1]
    return np.pad(found, [(0, 0), (missing, 0), (0, 0)])

  def goals(self) -> Sequence[int | None]:
    """Returns the index of the goal landmark in each world, if any."""
    goals = getattr(self._worlds.state, 'goal', None)
    if goals is None:
      return [None] * self._worlds.num_worlds
    return np.asarray(goals).tolist()

  def step(self, actions: tuple[np.ndarray, ...]) -> _Step:
    outcome = self._worlds.step(actions)
    landmarks = self._worlds.observe()[0].entities.get('landmarks')
    return _Step(
      positions=self.points()[:, : self.num_bodies],
      velocities=self.velocities(),
      rewards=np.concatenate(outcome.reward, 1),
      coverage=outcome.progress,
      flags=np.zeros([len(outcome.progress), 0])
      if landmarks is None
      else landmarks[:, 0, :, 0],
    )


def _num_agents(env: 'base.World') -> int:
  return sum(role.num_agents for role in env.roles)


def _num_landmarks(env: 'base.World') -> int:
  """Returns the number of landmarks: that of agents, if these see flags."""
  if 'landmarks' in env.roles[0].entity_sizes:
    return _num_agents(env)
  return env.task_space.num_entities - _num_agents(env)


def _one_hot(
  env: 'base.World', actions: tuple[np.ndarray, ...], task: int
) -> list[np.ndarray]:
  """Returns the one-hot action of each agent in one of the worlds."""
  return [
    np.eye(int(role.action.maximum) + 1)[action]
    for role, chosen in zip(env.roles, actions, strict=True)
    for action in chosen[task]
  ]


def compare(
  release: pathlib.Path, env: 'base.World', num_tasks: int, seed: int
) -> list[Row]:
  """Plays an episode of each task on both sides.

  Args:
    release: folder of the authors' release.
    env: our world.
    num_tasks: number of tasks (B).
    seed: seed of tasks and actions.

  Raises:
    _UsageError: the release cannot be loaded.
  """
  theirs = _Release(release, env)
  ours = _Ours(env, num_tasks, seed)
  rng = np.random.default_rng(seed)
  differences = []
  actions = ()
  for _ in range(env.horizon):
    fresh = tuple(
      rng.integers(int(x.action.maximum) + 1, size=[num_tasks, x.num_agents])
      for x in env.roles
    )
    actions = tuple(
      np.where(rng.random(new.shape) < _KEPT, old, new)
      for old, new in zip(actions or fresh, fresh, strict=True)
    )
    begin = ours.points(), ours.velocities(), ours.goals()
    expected = [
      theirs.step(*state, _one_hot(env, actions, task))
      for task, state in enumerate(zip(*begin, strict=True))
    ]
    found = ours.step(actions)
    differences.append(_differences(found, expected))
  return _rows(differences)


def _differences(found: _Step, expected: list[_Step]) -> dict[str, np.ndarray]:
  """Returns absolute differences [B, ...] by quantity."""
  absent = () if found.flags.shape[1] else ('flags',)
  return {
    name: np.abs(ours - np.stack([getattr(x, name) for x in expected]))
    for name, ours in found._asdict().items()
    if name not in absent
  }


def _rows(differences: list[dict[str, np.ndarray]]) -> list[Row]:
  """Returns the summary of all steps, by quantity."""
  rows = []
  for name in differences[0]:
    all_steps = np.stack([step[name] for step in differences])  # [T, B, ...]
    # Written so that NaN is a difference, too.
    is_different = ~(all_steps <= _TOLERANCE[name])
    where = np.argwhere(is_different)
    rows.append(
      Row(
        name,
        all_steps.size,
        len(where),
        float(all_steps.max()),
        (int(where[0][0]) + 1, int(where[0][1])) if len(where) else None,
      )
    )
  return rows


def _print(rows: list[Row]) -> None:
  """Prints the rows as a table."""
  line = '{:12}{:>10}  {:>19}  {:>10}  {:>10}  {}'
  print(
    line.format(
      'quantity',
      'compared',
      'largest difference',
      'tolerance',
      'different',
      'first at',
    )
  )
  for row in rows:
    first = f'step {row.first[0]} of task {row.first[1]}' if row.first else '-'
    print(
      line.format(
        row.name,
        row.num_compared,
        f'{row.largest:.1e}',
        f'{_TOLERANCE[row.name]:.0e}',
        row.num_different,
        first,
      )
    )


def main() -> None:
  """Prints the table; exits with 1 on a difference, 2 on a bad argument."""
  parser = one_line.Parser(
    prog='conformance', description=__doc__.split('\n')[0]
  )
  parser.add_argument('--release', required=True, type=pathlib.Path)
  parser.add_argument('--env', required=True, help='a particle task')
  parser.add_argument('--num_agents', type=int)
  parser.add_argument('--num_tasks', type=int, default=20)
  parser.add_argument('--seed', type=int, default=0)
  args = parser.parse_args()
  if args.num_tasks < 2 or args.seed < 0:
    parser.error('allowed: num_tasks of 2 or more, seed of 0 or more')
  try:
    env = environments.load(args.env, args.num_agents)
  except (ImportError, ValueError) as error:
    parser.error(str(error))
  if not env.is_in_graph:
    parser.error(f'env={args.env} is no particle task')
  try:
    rows = compare(args.release.resolve(), env, args.num_tasks, args.seed)
  except _UsageError as error:
    parser.error(str(error))
  print(
    f'{env.name}, {_num_agents(env)} agents, {args.num_tasks} tasks of '
    f'{env.horizon} steps, each step from a common state'
  )
  _print(rows)
  is_same = not any(row.num_different for row in rows)
  print('the same' if is_same else 'DIFFERENT')
  sys.exit(0 if is_same else 1)


if __name__ == '__main__':
  main()
