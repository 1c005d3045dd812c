# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Leaves tests out of wheels; everything else is in pyproject.toml."""

import shutil

import setuptools
from setuptools.command import build_py


class BuildPy(build_py.build_py):
  """Builds the package without its tests, which need a whole checkout."""

  def run(self) -> None:
    """Builds from scratch, so that no deleted module is in the wheel."""
    if not self.editable_mode:
      shutil.rmtree(self.build_lib, ignore_errors=True)
    super().run()

  def find_package_modules(
    self, package: str, package_dir: str
  ) -> list[tuple[str, str, str]]:
    """Returns package, module and file of each module that is built."""
    found = super().find_package_modules(package, package_dir)
    return [x for x in found if not x[1].endswith('_test')]


setuptools.setup(
  cmdclass={'build_py': BuildPy},
  # On a file system that ignores case, build/ would be the file BUILD.
  options={'build': {'build_base': '.build'}},
)
