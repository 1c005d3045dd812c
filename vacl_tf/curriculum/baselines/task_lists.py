# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lists of tasks in the state of a chooser, whose arrays keep their shapes.

The list `x` is the first `state['num_x']` rows of the array `state['x']`; its
other rows are not used.
"""

import numpy as np


def rows_of(state: dict[str, np.ndarray], name: str) -> np.ndarray:
  """Returns the rows [K, ...] of a list."""
  return state[name][: int(state[f'num_{name}'])]


def store(state: dict[str, np.ndarray], name: str, rows: np.ndarray) -> None:
  """Sets a list to the last of `rows` [K, ...], as many as fit.

  The list gets a new array, so that rows taken from it before stay as they are.
  """
  array = np.zeros_like(state[name])
  rows = rows[-len(array) :]
  array[: len(rows)] = rows
  state[name], state[f'num_{name}'] = array, np.array(len(rows))
