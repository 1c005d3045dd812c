# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Replicas of a run as threads of one process, for tests."""

import threading
from collections.abc import Callable
from concurrent import futures
from typing import TypeVar

import tensorflow as tf

from vacl_tf.training import replicas

_TIMEOUT_SECONDS = 60.0

Result = TypeVar('Result')


def run(
  count: int, function: Callable[[replicas.Group], Result]
) -> list[Result]:
  """Returns what a function returns in each of `count` replicas."""
  barrier = threading.Barrier(count, timeout=_TIMEOUT_SECONDS)
  told: list[tf.Tensor | None] = [None] * count

  def replica(index: int) -> Result:
    def exchange(x: tf.Tensor) -> list[tf.Tensor]:
      told[index] = x
      barrier.wait()
      found = list(told)
      barrier.wait()  # Nobody tells anything new before all have read.
      return found

    group = replicas.Group(
      count,
      index,
      add=lambda x: tf.add_n(exchange(x)),
      concatenate=lambda x: tf.concat(exchange(x), 0),
    )
    try:
      return function(group)
    except BaseException:
      barrier.abort()
      raise

  with futures.ThreadPoolExecutor(count) as pool:
    return list(pool.map(replica, range(count)))
