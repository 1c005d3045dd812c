# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Functions that are traced or compiled separately from their callers."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def once(function: Callable, *args: Any) -> tuple[Callable, Any]:
  """Traces a function without running it.

  Args:
    function: a function to be called in a graph, any number of times.
    *args: tensors, or their specs, like those of later calls.

  Returns:
    The function, which will not be traced again, and its symbolic outputs:
    structure, shapes and types.
  """
  traced = tf.function(function, autograph=False)
  return traced, traced.get_concrete_function(*args).structured_outputs


def program(function: Callable) -> Callable:
  """Returns a function that XLA compiles even if its caller is not compiled.

  If its caller is compiled, the function becomes a part of it.
  """
  return tf.function(function, jit_compile=True, autograph=False)


def graph(function: Callable) -> Callable:
  """Returns a function that is traced once for each shape of its arguments.

  For functions with little work and many operations: XLA would take longer to
  compile them than all their calls take.
  """
  return tf.function(function, autograph=False)
