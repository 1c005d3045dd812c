# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands. This package is imported before anything heavy is."""

import os
import time

BEGAN = time.monotonic()  # Wall time of a run counts from here.
# TensorFlow greets with lines that mean nothing to a user, and tells of a lost
# replica in many; what matters comes as an exception.
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
# Ends a revision that has trained only the rest of a run.
RESUMED = '-resumed'
