# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A wheel holds the library and none of its tests."""

import pathlib
import shutil
import subprocess
import sys

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parent.parent
_FILES = ('LICENSE', 'README.md', 'pyproject.toml', 'setup.py')


@absltest.skipUnless((_ROOT / 'setup.py').is_file(), 'setup.py is not here')
class WheelTest(absltest.TestCase):
  def test_what_is_built(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    checkout, built = folder / 'checkout', folder / 'built'
    checkout.mkdir()
    for name in _FILES:
      shutil.copy(_ROOT / name, checkout)
    sources = {x.relative_to(_ROOT) for x in _ROOT.glob('vacl_tf/**/*.py')}
    data = {x.relative_to(_ROOT) for x in _ROOT.glob('vacl_tf/launch/page/*')}
    self.assertNotEmpty(data)
    for path in sources | data:
      (checkout / path).parent.mkdir(parents=True, exist_ok=True)
      shutil.copy(_ROOT / path, checkout / path)
    found = self._build(checkout, built)
    tests = {
      x for x in sources if x.stem.endswith('_test') or 'testing' in x.parts
    }
    self.assertGreater(len(tests), 100)
    self.assertEqual(found, (sources | data) - tests)
    gone = pathlib.Path('vacl_tf') / 'types.py'
    (checkout / gone).unlink()
    self.assertEqual(found - self._build(checkout, built), {gone})

  def _build(
    self, checkout: pathlib.Path, built: pathlib.Path
  ) -> set[pathlib.Path]:
    """Returns the files of a build."""
    command = [sys.executable, 'setup.py', '-q', 'build', '--build-lib', built]
    done = subprocess.run(
      command, capture_output=True, check=False, cwd=checkout, text=True
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    return {x.relative_to(built) for x in built.rglob('*') if x.is_file()}


if __name__ == '__main__':
  absltest.main()
