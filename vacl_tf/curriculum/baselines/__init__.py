# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula to compare VACL with, one per file, in NumPy.

They are the baselines of the paper and later methods of the field.
docs/baselines.md says what each is given, and how it differs from its source.
"""
