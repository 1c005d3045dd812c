# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a function would return: structure, shapes and types."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def outputs(function: Callable, *args: Any) -> Any:
  """Returns the symbolic outputs of function(*args), without running it."""
  traced = tf.function(function, autograph=False)
  return traced.get_concrete_function(*args).structured_outputs
