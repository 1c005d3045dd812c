# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Mixtures of Gaussians with diagonal covariance."""

from typing import NamedTuple

import numpy as np

_FLOOR = 1e-3  # Added to variances, for numbers of the width of a map (6 m).


class Mixture(NamedTuple):
  """K components in M dimensions."""

  weight: np.ndarray  # [K], sums to 1.
  mean: np.ndarray  # [K, M]
  variance: np.ndarray  # [K, M]


def fit(
  rows: np.ndarray,
  num_components: int,
  num_steps: int,
  rng: np.random.Generator,
) -> Mixture:
  """Returns a mixture fitted to rows by expectation maximisation.

  The first means are random rows.

  Args:
    rows: [N, M], with N at least num_components.
    num_components: number of components (K).
    num_steps: number of steps of expectation and maximisation.
    rng: random generator for the first means.
  """
  rows = rows.astype(np.float64)
  first = rng.choice(len(rows), num_components, replace=False)
  found = Mixture(
    weight=np.full([num_components], 1.0 / num_components),
    mean=rows[first],
    variance=np.tile(rows.var(0) + _FLOOR, [num_components, 1]),
  )
  for _ in range(num_steps):
    found = _maximised(rows, _shares(rows, found))
  return found


def _shares(rows: np.ndarray, mixture: Mixture) -> np.ndarray:
  """Returns each component's share [N, K] in the density of rows [N, M]."""
  precision = 1.0 / mixture.variance
  square = (
    rows**2 @ precision.T
    - 2.0 * rows @ (mixture.mean * precision).T
    + np.sum(mixture.mean**2 * precision, 1)
  )
  scale = np.log(2.0 * np.pi * mixture.variance).sum(1)
  with np.errstate(divide='ignore'):  # A component may have lost all rows.
    joint = np.log(mixture.weight) - 0.5 * (square + scale)
  most = joint.max(1, keepdims=True)
  total = most + np.log(np.exp(joint - most).sum(1, keepdims=True))
  return np.exp(joint - total)


def _maximised(rows: np.ndarray, share: np.ndarray) -> Mixture:
  """Returns the likeliest mixture, given the components' shares [N, K]."""
  amount = share.sum(0)
  # A component without rows has weight and mean 0, and never gets any row.
  part = share / np.maximum(amount, 1e-300)
  mean = part.T @ rows
  variance = np.maximum(part.T @ rows**2 - mean**2, 0.0) + _FLOOR
  return Mixture(amount / len(rows), mean, variance)
