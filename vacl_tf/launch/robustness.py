# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The success of a policy in its hardest tasks, and which tasks these are."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import optimize
from scipy import spatial

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import randomness
from vacl_tf import statistics
from vacl_tf import types
from vacl_tf.environments import map_layout
from vacl_tf.environments import simulator
from vacl_tf.launch import judging
from vacl_tf.training import players
from vacl_tf.training import rollout

WORST = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)  # Per cent of the tasks.
_NUM_STRATA = 4


@simulator.out_of_graphs()
def judge(
  policy: judging.Policy,
  world: config.EnvironmentConfig,
  options: judging.Options,
  num_repeats: int,
) -> dict[str, Any]:
  """Measures success with sampled actions in the worst tasks and in strata.

  Each task is played num_repeats times in each of two passes. The first pass
  selects the worst tasks, and the second one measures the success in them. In a
  single pass, tasks would also be selected for bad luck, and the result would
  be too low (Rutherford et al., "No Regrets", NeurIPS 2024).

  Args:
    policy: the policy.
    world: world to play in.
    options: number and seed of the tasks; `is_greedy` is ignored.
    num_repeats: episodes of each task in a pass.

  Raises:
    UsageError: the policy can't play in this world.
  """
  env = judging.environment(policy, world)
  draw, *passes = randomness.split(judging.seed_of(options), 3)
  phi = env.task_space.sample_target(options.num_tasks, draw).numpy()
  player = players.ExportedPlayer(policy.acting, env, is_greedy=False)
  first, second = (_success(player, phi, num_repeats, seed) for seed in passes)
  worst = {f'{x:g}': statistics.worst_mean(first, second, x) for x in WORST}
  layout = catalog.TASKS.get(world.name).layout(world, (world.counts,))
  success = np.mean([first, second], 0)
  return {
    'env': world.name,
    'counts': entity_counts.spelled(world.counts),
    'num_tasks': options.num_tasks,
    'num_repeats': num_repeats,
    'seed': options.seed,
    'policy': 'stochastic',
    'success_of_worst': worst,
    'unit': layout.length if layout else None,
    'strata': {
      name: _strata(lengths, success)
      for name, lengths in (_lengths(layout, phi) if layout else ())
    },
    'unstable_worlds': player.num_unstable,
  }


def _success(
  player: players.ExportedPlayer,
  phi: np.ndarray,
  num_repeats: int,
  seed: types.Seed,
) -> np.ndarray:
  """Returns the share [B] of episodes of each task [B, D] that succeed."""
  progress = player.progress_of(np.repeat(phi, num_repeats, 0), seed)
  success = np.asarray(rollout.is_success(progress), float)
  return success.reshape(len(phi), num_repeats).mean(1)


def _lengths(
  layout: map_layout.MapLayout, phi: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
  """Yields names and values [B] of lengths that may make tasks hard."""
  points = layout.points(phi)
  movers, goals = points[layout.mover], points[layout.goal]
  is_alone = layout.mover == layout.goal
  if movers.shape[1] == goals.shape[1] and not is_alone:
    yield (
      f'longest way from {layout.mover} to {layout.goal}',
      np.array(list(map(_longest_way, movers, goals))),
    )
  if movers.shape[1] > 1:
    yield (
      f'two nearest {layout.mover}s',
      np.array([spatial.distance.pdist(x).min() for x in movers]),
    )


def _longest_way(movers: np.ndarray, goals: np.ndarray) -> float:
  """Returns the longest distance in the matching of least total distance."""
  distance = spatial.distance.cdist(movers, goals)
  return float(distance[optimize.linear_sum_assignment(distance)].max())


def _strata(lengths: np.ndarray, success: np.ndarray) -> list[dict[str, float]]:
  """Returns the success in quarters of the tasks, from short to long."""
  num_parts = min(_NUM_STRATA, len(lengths))
  parts = np.array_split(np.argsort(lengths, kind='stable'), num_parts)
  return [
    {
      'from': float(lengths[part].min()),
      'to': float(lengths[part].max()),
      'success': float(success[part].mean()),
    }
    for part in parts
  ]


def lines(found: dict[str, Any]) -> Iterator[str]:
  """Yields the lines of a result for the terminal."""
  yield (
    f'{found["env"]}, n = {found["counts"]}: {found["num_tasks"]} target '
    f'tasks, {found["num_repeats"]} episodes each with sampled actions, twice'
  )
  yield 'worst tasks  success rate'
  for share, success in found['success_of_worst'].items():
    yield f'{share + " %":>11}  {success:.4f}'
  for name, parts in found['strata'].items():
    yield f'quarters by the {name} ({found["unit"]})'
    for part in parts:
      length = f'{part["from"]:.2f} to {part["to"]:.2f}'
      yield f'{length:>16}  {part["success"]:.4f}'
