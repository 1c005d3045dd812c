# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random numbers for many worlds at once, with a separate key for each world.

What a world draws depends on its key and on when it draws, never on how many
other worlds there are or on what happens to them. The generator is SplitMix64
(Steele, Lea and Flood, 2014) in its counter form, which suits arrays.
"""

from collections.abc import Sequence

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def keys(seed: int | Sequence[int] | np.ndarray, num: int) -> np.ndarray:
  """Returns uint64 [num]: keys of worlds; the first do not depend on num.

  Args:
    seed: one or several integers from -2**63 to 2**63 - 1.
    num: number of worlds.
  """
  numbers = np.atleast_1d(np.asarray(seed, np.int64)).astype(np.uint64)
  return np.random.SeedSequence(numbers.tolist()).generate_state(num, np.uint64)


def uniform(keys: np.ndarray, stream: int, num: int) -> np.ndarray:
  """Returns float64 [B, num] from U[0, 1), independent between streams."""
  start = _mix(keys ^ _mix(np.full(1, stream, np.uint64) + _GOLDEN))
  counter = _GOLDEN * np.arange(1, num + 1, dtype=np.uint64)
  return (_mix(start[:, None] + counter) >> np.uint64(11)) * 2.0**-53


def _mix(x: np.ndarray) -> np.ndarray:
  """Returns uint64 numbers of which each bit depends on all bits of x."""
  x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
  x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
  return x ^ (x >> np.uint64(31))
