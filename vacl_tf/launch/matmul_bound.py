# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The time that an update would take if it only multiplied matrices.

The matrix products of an update are counted in its graph. The speed of such
products is measured on this machine, with matrices that stay in its caches.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from vacl_tf import randomness

_SIZE = 64  # Units of a layer, as in the attention networks.
_CHAIN = 50  # Consecutive products in a call.
_ROWS = (1000, 2000, 8000, 32000)  # Few fit the caches, many use all cores.

Graph = Any  # tf.Graph, or the graph of a function inside one.


def flops_per_second(repeats: int) -> float:
  """Measures products [rows, 64] x [64, 64] with all cores of this process.

  Args:
    repeats: timed calls for each number of rows.

  Returns:
    Floating-point operations per second, the highest over numbers of rows.
  """
  weights = randomness.uniform(randomness.root(0), [_SIZE, _SIZE], -0.2, 0.2)

  # One trace for all numbers of rows: TensorFlow warns about many traces.
  @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, _SIZE])])
  def chain(x: tf.Tensor) -> tf.Tensor:
    for _ in range(_CHAIN):
      x = x @ weights
    return x

  found = 0.0
  for rows in _ROWS:
    x = tf.ones([rows, _SIZE])
    chain(x).numpy()
    for _ in range(repeats):
      began = time.perf_counter()
      chain(x).numpy()
      seconds = time.perf_counter() - began
      found = max(found, 2.0 * _CHAIN * rows * _SIZE**2 / seconds)
  return found


def flops(function: Callable, *args: Any, loop_steps: int) -> int:
  """Returns the floating-point operations of a function's matrix products.

  An outer loop counts once, because its number of iterations depends on data. A
  loop inside a loop counts `loop_steps` times.

  Args:
    function: a `tf.function`; it is traced, not run.
    *args: arguments to trace it with.
    loop_steps: number of iterations of inner loops.
  """
  graph = function.get_concrete_function(*args).graph
  return _of_graph(graph, graph, 0, loop_steps)


def _of_graph(graph: Graph, outer: Graph, depth: int, steps: int) -> int:
  total = 0
  for op in graph.get_operations():
    if op.type in ('MatMul', 'BatchMatMulV2', 'BatchMatMulV3'):
      total += _of_product(op)
    times = steps if depth and 'While' in op.type else 1
    is_loop = 'While' in op.type
    for name in _called(op):
      inner = _function(name, graph, outer)
      total += times * _of_graph(inner, outer, depth + is_loop, steps)
  return total


def _called(op: tf.Operation) -> list[str]:
  """Returns the names of the functions that an operation calls."""
  if 'While' in op.type:
    return [op.get_attr('body').name]
  if op.type in ('PartitionedCall', 'StatefulPartitionedCall'):
    return [op.get_attr('f').name]
  return []


def _function(name: str, graph: Graph, outer: Graph) -> Graph:
  """Finds a function by its name in two graphs; returns its graph."""
  for known in (graph, outer):
    if known._is_function(name):  # noqa: SLF001  There is no public API.
      return known._get_function(name).graph
  raise LookupError(name)


def _of_product(op: tf.Operation) -> int:
  """Returns 2 m n k times the batch size, for a product of known shapes."""
  left, right = (x.shape.as_list() for x in op.inputs[:2])
  is_matmul = op.type == 'MatMul'
  transposed = op.get_attr('transpose_a' if is_matmul else 'adj_x')
  inner = left[-2 if transposed else -1]
  return 2 * math.prod(op.outputs[0].shape.as_list()) * inner
