# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lets tests that are written for absl's runner pass under pytest too."""

from absl import flags


def pytest_configure() -> None:
  """Gives absl flags their defaults: pytest parses the command line."""
  flags.FLAGS.mark_as_parsed()
