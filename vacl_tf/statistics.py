# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scores of runs, and statistics of several runs.

Definitions are those of Agarwal et al., Deep Reinforcement Learning at the Edge
of the Statistical Precipice (NeurIPS 2021). Scores come as `groups`: one array
per task with one number per run. Tasks may have different numbers of runs.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

_MOST_PAIRS = 10**7  # Of scores that are compared at once.
WINDOW = 3  # Number of evaluations whose mean counts.
_NUM_DRAWS = 50_000
_NUM_BAND_DRAWS = 2000  # For each point of a curve.
_PERCENTILES = (2.5, 97.5)
# Means of float32 coverages may lie this far below the exact means.
_ROUNDING = 1e-6

# One array [..., runs] per task; statistics keep the leading axes.
Groups = Sequence[np.ndarray]


class Interval(NamedTuple):
  """A number with its 95 % interval, NaN if a single run gives none."""

  value: float
  low: float
  high: float


def from_origin(
  steps: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Returns a curve that begins at 0 steps, with 0 if no value is given there.

  To extend the first value back to 0 steps would favour methods whose first
  evaluation is late.

  Args:
    steps: [N] increasing.
    values: [N].
  """
  if len(steps) and steps[0] <= 0.0:
    return steps, values
  return np.append(0.0, steps), np.append(0.0, values)


def area(steps: np.ndarray, values: np.ndarray, budget: float) -> float:
  """Returns the mean of a curve over a budget, by the trapezoid rule.

  The curve begins `from_origin`, and is constant after its last point.

  Args:
    steps: [N] increasing; points beyond the budget are cut off.
    values: [N].
    budget: number of steps, from 0.
  """
  steps, values = from_origin(steps, values)
  inside = steps[(steps > 0) & (steps < budget)]
  grid = np.concatenate([[0.0], inside, [budget]])
  return float(np.trapezoid(np.interp(grid, steps, values), grid) / budget)


def steps_to(
  steps: np.ndarray, values: np.ndarray, level: float
) -> float | None:
  """Returns the steps when a level is reached for good; None if it is not.

  This is the first point from which on the mean of the latest three values is
  never below the level.
  """
  if len(values) < WINDOW:
    return None
  means = np.lib.stride_tricks.sliding_window_view(values, WINDOW).mean(-1)
  is_below = means < level - _ROUNDING
  first = len(means) - int(is_below[::-1].argmax()) if is_below.any() else 0
  return float(steps[first + WINDOW - 1]) if first < len(means) else None


def is_at_chance(
  steps: np.ndarray, values: np.ndarray, budget: float, chance: float
) -> bool:
  """Returns whether a curve is below chance at half of a budget.

  The curve has to reach half of the budget, and the mean of its last three
  points up to there has to be below chance.
  """
  early = values[steps <= budget / 2]
  if not len(steps) or steps[-1] < budget / 2 or len(early) < WINDOW:
    return False
  return bool(early[-WINDOW:].mean() < chance - _ROUNDING)


def mean(groups: Groups) -> np.ndarray:
  """Returns the mean over tasks of the mean over runs."""
  return np.mean([group.mean(-1) for group in groups], axis=0)


def interquartile_mean(groups: Groups) -> np.ndarray:
  """Returns the mean of all scores but the lowest and the highest quarter.

  Each task has the same weight, however many runs it has. A run that lies only
  partly in an outer quarter counts with its other part. With equally many runs
  per task this is the mean of Agarwal et al. (2021).
  """
  scores = np.concatenate(groups, axis=-1)
  weights = np.concatenate(
    [np.full(group.shape[-1], 1.0 / group.shape[-1]) for group in groups]
  )
  order = scores.argsort(-1)
  count = scores.shape[-1]
  # Whole runs if all have the same weight.
  cut = (count // 4) / count
  end = np.cumsum(weights[order] / len(groups), -1)
  inside = np.diff(np.clip(end, cut, 1.0 - cut), axis=-1, prepend=cut)
  scores = np.take_along_axis(scores, order, -1)
  return (scores * inside).sum(-1) / (1.0 - 2.0 * cut)


def probability_of_improvement(ours: Groups, theirs: Groups) -> np.ndarray:
  """Returns the probability that a run of ours is better than one of theirs.

  A tie counts half. This is the mean over tasks, which are the same for both.
  """
  found = [_wins(*pair) for pair in zip(ours, theirs, strict=True)]
  return np.mean(found, axis=0)


def _wins(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
  """Returns the share [...] of pairs of [..., N] and [..., M] that ours win."""
  if ours.ndim > 1:  # In parts, since all pairs may not fit into memory.
    num_parts = -(-ours.size * theirs.shape[-1] // _MOST_PAIRS)
    parts = (np.array_split(x, num_parts) for x in (ours, theirs))
    if num_parts > 1:
      return np.concatenate([_wins(*part) for part in zip(*parts, strict=True)])
  one, other = ours[..., :, None], theirs[..., None, :]
  return ((one > other) + 0.5 * (one == other)).mean((-2, -1))


def bootstrap(
  statistic: Callable[..., np.ndarray],
  *samples: Groups,
  num_draws: int = _NUM_DRAWS,
  seed: int = 0,
) -> Interval:
  """Returns a statistic with its interval by the stratified bootstrap.

  Args:
    statistic: function of the samples; works along the last axis of each group.
    *samples: groups of runs. The runs of each group are resampled separately,
      as many as there are.
    num_draws: number of resamples.
    seed: seed of the resamples; the same scores always have the same interval.
  """
  samples = [[np.asarray(x, float) for x in groups] for groups in samples]
  value = float(statistic(*samples))
  # The bootstrap would treat a single run as exact.
  if any(len(group) < 2 for groups in samples for group in groups):
    return Interval(value, np.nan, np.nan)
  rng = np.random.default_rng(seed)
  drawn = [
    [x[rng.integers(len(x), size=(num_draws, len(x)))] for x in groups]
    for groups in samples
  ]
  low, high = np.percentile(statistic(*drawn), _PERCENTILES)
  return Interval(value, float(low), float(high))


def worst_mean(
  ranked: np.ndarray, values: np.ndarray, per_cent: float
) -> float:
  """Returns the mean of values [N] where another measure [N] is the lowest.

  This is the conditional value at risk of the values at a level, if both
  are measured independently.

  Args:
    ranked: the measure that determines the worst tasks.
    values: values of the same tasks.
    per_cent: share of the tasks in per cent, rounded up to whole tasks.
  """
  count = math.ceil(len(values) * per_cent / 100.0 - 1e-9)
  worst = np.argsort(ranked, kind='stable')[:count]
  return float(values[worst].mean())


def mean_band(
  values: np.ndarray, num_draws: int = _NUM_BAND_DRAWS, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
  """Returns the 95 % bootstrap interval of the mean of some curves.

  Args:
    values: [runs, points], with 2 runs or more.
    num_draws: number of resamples.
    seed: seed of the resamples; the same curves always have the same interval.

  Returns:
    Its low and its high end [points]. With two runs these are the runs.
  """
  rng = np.random.default_rng(seed)
  drawn = rng.integers(len(values), size=(num_draws, len(values)))
  # Shares of each run in the draws: far smaller than the drawn curves.
  weights = np.stack([(drawn == run).mean(-1) for run in range(len(values))], 1)
  low, high = np.percentile(weights @ values, _PERCENTILES, axis=0)
  return low, high
