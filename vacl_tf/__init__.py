# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variational Automatic Curriculum Learning in TensorFlow 2."""

__version__ = '0.1.0'
