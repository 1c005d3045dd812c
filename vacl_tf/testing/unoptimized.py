# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs programs as they were traced.

TensorFlow's optimizer takes a third of the time of a test that traces a run and
makes a few iterations. What users train is compiled by XLA instead.
"""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

_SWITCH = 'disable_meta_optimizer'


@contextlib.contextmanager
def programs() -> Iterator[None]:
  """Leaves out the optimizer of graphs; tests enter it in setUpClass."""
  before = tf.config.optimizer.get_experimental_options().get(_SWITCH, False)
  tf.config.optimizer.set_experimental_options({_SWITCH: True})
  try:
    yield
  finally:
    tf.config.optimizer.set_experimental_options({_SWITCH: before})
