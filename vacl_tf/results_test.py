# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every config and policy under results/ is one of today's, to the letter."""

import importlib
import json
import pathlib
import sys

from absl.testing import absltest

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import presets

_ROOT = pathlib.Path(__file__).parent.parent
_RESULTS = _ROOT / 'results'
_EXAMPLES = _ROOT / 'examples/pettingzoo_spread'


@absltest.skipUnless(_RESULTS.is_dir(), 'results/ is not here')
class ResultsTest(absltest.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    sys.path.append(str(_EXAMPLES))
    importlib.import_module('mpe_spread')  # Registers tasks of some results.

  def _read(self, name):
    """Returns {path: content} of all files called so."""
    paths = sorted(_RESULTS.rglob(name))
    self.assertNotEmpty(paths)
    return {path: json.loads(path.read_text()) for path in paths}

  def test_configs_can_be_read(self):
    for path, content in self._read('config.json').items():
      with self.subTest(str(path)):
        cfg = presets.restore(content['config'])
        bounds.check(cfg)
        self.assertIn(
          cfg.preset, catalog.TASKS.get(cfg.environment.name).presets
        )

  def test_policies_tell_the_world_that_they_are_for(self):
    for path, content in self._read('policy.json').items():
      with self.subTest(str(path)):
        cfg = presets.restore(content['config'])
        bounds.check(cfg)
        self.assertEqual(content['env'], cfg.environment.name)
        self.assertEqual(content['horizon'], cfg.environment.horizon)
        for field in cfg.environment.count_fields:
          self.assertEqual(content[field], getattr(cfg.environment, field))

  def test_a_policy_has_the_config_of_its_run(self):
    runs = self._read('config.json')
    for path, content in self._read('policy.json').items():
      with self.subTest(str(path)):
        run = runs[path.parent.parent / 'config.json']
        self.assertEqual(content['config'], run['config'])

  def test_the_config_says_which_agent_the_networks_are(self):
    for path, content in self._read('config.json').items():
      with self.subTest(str(path)):
        task = catalog.TASKS.get(content['config']['environment.name'])
        self.assertEqual(content['config']['agent.name'], task.agent)


if __name__ == '__main__':
  absltest.main()
