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


def check_compiles(function: Callable, *args: Any) -> None:
  """Raises an error if XLA can't compile a function of tensors.

  The function is traced and translated, which takes milliseconds, but neither
  compiled nor run.

  Args:
    function: a function to be called in a compiled graph.
    *args: tensors like those of later calls.

  Raises:
    ValueError: the function has operations that XLA does not know.
    Exception: what the function raises while it is traced.
  """
  program(function).experimental_get_compiler_ir(*args)(stage='hlo')


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
