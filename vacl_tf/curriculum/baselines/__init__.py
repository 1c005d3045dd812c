# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula to compare VACL with, one a file, in NumPy.

Those of the paper and later ones of the field. docs/baselines.md says what each
is given, and where it differs from its source.
"""
