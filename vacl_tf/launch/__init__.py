# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands. This package is imported before anything heavy is."""

import os
import time

BEGAN = time.monotonic()  # Wall time of a run counts from here.
# Only errors: TensorFlow greets with lines that mean nothing to a user.
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')
