# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A wheel holds the library and none of its tests, and says what it needs."""

import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

from absl.testing import absltest

from vacl_tf.testing import source_tree

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

  def test_what_is_imported_is_required(self):
    project = tomllib.loads((_ROOT / 'pyproject.toml').read_text())['project']
    required = {
      '@pip//' + re.split('[>[]', text)[0].replace('-', '_'): text
      for text in itertools.chain(
        project['dependencies'], *project['optional-dependencies'].values()
      )
    }
    imported = set.union(
      *(
        source_tree.distributions(source)
        for source in source_tree.sources().values()
        if not source.is_test and source.package != 'testing'
      )
    )
    self.assertGreater(len(imported), 10)
    self.assertEqual(imported - required.keys(), set())
    # Both files name the same versions.
    lines = (_ROOT / 'requirements.txt').read_text().splitlines()
    developed = {line.partition(' ')[0] for line in lines}
    for text in required.values():
      if '[' not in text and 'ffmpeg' not in text:  # Not in this environment.
        self.assertIn(text, developed)

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
