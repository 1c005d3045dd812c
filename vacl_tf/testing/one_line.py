# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reports wrong arguments of test programs in one line."""

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
  """An argument parser whose error messages have no usage lines."""

  def error(self, message: str) -> NoReturn:
    self.exit(2, f'error: {" ".join(message.split())}\n')
