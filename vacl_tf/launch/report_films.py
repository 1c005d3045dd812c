# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A policy in a report: its scores, its worst tasks, and films."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import shapes
from vacl_tf.launch import command_line
from vacl_tf.launch import judging
from vacl_tf.launch import records
from vacl_tf.launch import report_packing
from vacl_tf.launch import report_runs
from vacl_tf.launch import report_sets
from vacl_tf.training import players
from vacl_tf.training import rollout

NUM_FAILURES = 20
_NUM_FILMS = 200
_NUM_TARGET_FILMS = 60  # Of target tasks, the worst ones first.
_MOST_BYTES = 5_000_000  # Of all films; the page should stay below 8 MB.
_MOST_DISCS = 1_500_000  # In memory at once, over all worlds and times.
_DISCS = 3  # Per entity, roughly.


class Failure(NamedTuple):
  """A task that went badly."""

  value: float
  film: int


class Shown(NamedTuple):
  """Films and values of tasks that a policy played.

  Attributes:
    films: packed films, and the data that they share.
    filmed: the tasks of the sets, and the target tasks, that the films show.
    failures: the worst of the target tasks, worst first.
    values: [rows] values of all target tasks that were played.
  """

  films: dict[str, Any]
  filmed: report_sets.Filmed
  failures: list[Failure]
  values: np.ndarray


def load(
  run_dir: pathlib.Path, note: report_runs.Note
) -> judging.Policy | None:
  """Returns the policy of a run, None if it can't be read."""
  try:
    return judging.load(run_dir, None, run_graph=False)
  except (ImportError, ValueError) as error:
    note(f'no policy is played: {error}')
    return None


def judge(
  policy: judging.Policy,
  numbers: Sequence[int],
  options: judging.Options,
  note: report_runs.Note,
) -> list[dict[str, Any]]:
  """Returns the scores of a policy with several numbers of entities.

  Args:
    policy: the policy.
    numbers: numbers of agents; if empty, as many as it was trained with, and
      twice as many if the task allows it.
    options: how to play.
    note: called with a message for each number that can't be played.
  """
  trained = policy.world
  wanted: list[int | None] = list(numbers)
  if not wanted:
    twice = 2 * trained.num_agents
    fits = twice <= catalog.TASKS.get(trained.name).most[0]
    wanted = [None, twice] if fits else [None]
  found = []
  for number in wanted:
    try:
      counts = judging.wanted_counts(trained, number, None)
      world = judging.make_world(trained, counts)
      found.append(judging.judge(policy, world, options))
    except ValueError as error:
      told = f'{number} agents' if number else 'as many agents as in training'
      note(f'no scores with {told}: {error}')
  return found


def show(
  policy: judging.Policy,
  cfg: config.Config,
  snapshots: Mapping[int, records.Snapshot],
  options: judging.Options,
  note: report_runs.Note,
) -> Shown | None:
  """Plays target tasks and tasks of the sets, and films some of them.

  Args:
    policy: the policy.
    cfg: config of its run.
    snapshots: snapshots of the sets of tasks; may be empty.
    options: how to play, and how many target tasks.
    note: called with a message on what can't be filmed.

  Returns:
    The films; None if the policy can't be played or the worlds can't be drawn
    from shapes.
  """
  album = _Album()
  own, others = randomness.split(judging.seed_of(options), 2)
  try:
    phi, values, target = _film_target(policy, options, album, own)
    legend = judging.environment(policy, policy.world).legend
    filmed = _film_sets(policy, cfg, snapshots, options, album, others, note)
  except (command_line.UsageError, base.WorldError) as error:
    note(f'the policy was not played: {error}')
    return None
  except (NotImplementedError, ValueError) as error:
    note(f'no films: {error}')
    return None
  if album.is_full:
    note(
      f'films are large: this page has only {len(album.films)} of up to '
      f'{_NUM_FILMS} films'
    )
  failures = [
    Failure(float(values[row]), target[row])
    for row in list(target)[:NUM_FAILURES]
  ]
  films = {'shared': album.packer.shared(), 'items': album.films}
  filmed = report_sets.Filmed(filmed, phi, target, legend)
  return Shown(films, filmed, failures, values)


class _Album:
  """Films up to a total size."""

  def __init__(self) -> None:
    self.packer = report_packing.Packer()
    self.films: list[dict[str, Any]] = []
    self.is_full = False
    self._num_bytes = 0

  def add(
    self,
    index: dict[int, int],
    row: int,
    scenes: Sequence[shapes.Scene],
    progress: np.ndarray,
  ) -> None:
    """Adds a film, and its number to the index of rows, if there is room."""
    film = self.packer.film(scenes, progress)
    num_bytes = len(json.dumps(film))
    self.is_full |= self._num_bytes + num_bytes > _MOST_BYTES
    if not self.is_full:
      self._num_bytes += num_bytes
      index[row] = len(self.films)
      self.films.append(film)


def _film_target(
  policy: judging.Policy,
  options: judging.Options,
  album: _Album,
  seed: types.Seed,
) -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
  """Films target tasks, the worst ones first.

  Returns:
    All tasks that were played [rows, D], their values [rows], and {row: number
    of its film}, worst first.
  """
  draw, play = randomness.split(seed, 2)
  player, env = _player(policy, policy.world, options)
  num_tasks = min(options.num_tasks, _most_at_once(env))
  phi = env.task_space.sample_target(num_tasks, draw).numpy()
  progress, scenes = player.watch(phi, play)
  values = np.asarray(rollout.task_value(progress))
  films: dict[int, int] = {}
  for row in np.argsort(values, kind='stable')[:_NUM_TARGET_FILMS].tolist():
    album.add(films, row, scenes[row], progress[:, row])
  return phi, values, films


def _film_sets(
  policy: judging.Policy,
  cfg: config.Config,
  snapshots: Mapping[int, records.Snapshot],
  options: judging.Options,
  album: _Album,
  seed: types.Seed,
  note: report_runs.Note,
) -> dict[tuple[int, str], dict[int, int]]:
  """Films some tasks of each set.

  Returns:
    {(iteration, set): {row: number of its film}}.
  """
  places = 2 * max(len(snapshots), 1)
  each = max((_NUM_FILMS - _NUM_TARGET_FILMS) // places, 1)
  found: dict[tuple[int, str], dict[int, int]] = {}
  worlds = _worlds_by_size(policy, cfg, options)
  for size, tasks in report_sets.by_size(snapshots, each).items():
    if size not in worlds:
      note(
        f'tasks with {size} numbers are not played: no entity count has tasks '
        'of this size'
      )
      continue
    player, env = worlds[size]
    tasks = tasks[:: -(-len(tasks) // _most_at_once(env))]
    rows = [snapshots[time][f'{name}_phi'][row] for time, name, row in tasks]
    try:
      progress, scenes = player.watch(np.array(rows, np.float32), seed)
    except ValueError as error:
      note(f'tasks with {size} numbers are not played: {error}')
      continue
    for index, (time, name, row) in enumerate(tasks):
      films = found.setdefault((time, name), {})
      album.add(films, row, scenes[index], progress[:, index])
  return found


def _worlds_by_size(
  policy: judging.Policy, cfg: config.Config, options: judging.Options
) -> dict[int, tuple[players.ExportedPlayer, base.World]]:
  """Returns a player and its world for each entity count, by task size D."""
  found = {}
  for counts in entity_counts.path(cfg):
    fields = cfg.environment.count_fields
    wanted = dict(zip(fields, counts, strict=True))
    world = judging.make_world(policy.world, wanted)
    player, env = _player(policy, world, options)
    found[env.task_space.num_dims] = (player, env)
  return found


def _player(
  policy: judging.Policy,
  world: config.EnvironmentConfig,
  options: judging.Options,
) -> tuple[players.ExportedPlayer, base.World]:
  env = judging.environment(policy, world)
  player = players.ExportedPlayer(policy.acting, env, options.is_greedy)
  return player, env


def _most_at_once(env: base.World) -> int:
  """Returns how many worlds can be filmed together."""
  discs = _DISCS * env.task_space.num_entities * (env.horizon + 1)
  return max(_MOST_DISCS // discs, NUM_FAILURES)
