# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Nearest neighbours among tasks."""

import numpy as np


def nearest(points: np.ndarray, known: np.ndarray, number: int) -> np.ndarray:
  """Returns int [K, number]: the rows of known nearest to each point.

  The rows of a point are in no particular order.

  Args:
    points: [K, D].
    known: [N, D].
    number: number of neighbours; it is lowered to N if N is smaller.
  """
  # Squared distances, without the term that is the same for all of known.
  distance = np.sum(known**2, 1) - 2.0 * points @ known.T
  if number == 1:
    return distance.argmin(1)[:, None]  # Much quicker than a partition.
  number = min(number, len(known))
  return np.argpartition(distance, number - 1, 1)[:, :number]
