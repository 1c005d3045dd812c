# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors in the arguments of programs of tests, in one line."""

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
  """An argument parser without usage lines in its errors."""

  def error(self, message: str) -> NoReturn:
    self.exit(2, f'error: {" ".join(message.split())}\n')
