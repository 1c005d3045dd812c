# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variational Automatic Curriculum Learning in TensorFlow 2."""

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog

__version__ = '0.1.0'

register_agent = catalog.register_agent
register_curriculum = catalog.register_curriculum
register_task = catalog.register_task
