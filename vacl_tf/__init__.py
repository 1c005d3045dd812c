# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variational Automatic Curriculum Learning in TensorFlow 2."""

import sys

# While one of the commands starts, `python -m vacl_tf.launch.main`: it may be
# asked to end at any moment, and find its outputs closed.
if sys.argv[:1] == ['-m'] and any(
  argument.startswith('vacl_tf.launch.') for argument in sys.orig_argv
):
  from vacl_tf.launch import outputs
  from vacl_tf.launch import signals

  outputs.guard()
  signals.listen()

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog

__version__ = '0.1.0'

register_agent = catalog.register_agent
register_curriculum = catalog.register_curriculum
register_task = catalog.register_task
