# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/policies.md says what the files under results/ say."""

import json
import pathlib
import re

from absl.testing import absltest

from vacl_tf.environments import hide_and_seek

_ROOT = pathlib.Path(__file__).parent.parent
_PAGE = _ROOT / 'docs' / 'policies.md'
_SECTION = re.compile(r'^## ([^\n]*)\n(.*?)(?=^## |\Z)', re.M | re.S)
_SCORES = re.compile(r'^\| `(\w+)` \| (\d+) \| (.*) \|$', re.M)
_SCORE = re.compile(r'[01]\.\d{3} \[[01]\.\d{3}, [01]\.\d{3}\]')
_ARGUMENT = re.compile(r'^\| `(\w+)` \| (\d+) \| (.*) \|$', re.M)


@absltest.skipUnless(_PAGE.is_file(), 'docs/ is not here')
class PoliciesPageTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.sections = dict(_SECTION.findall(_PAGE.read_text()))
    self.scores = _SCORES.findall(self.sections['Scores'])
    self.assertGreater(len(self.scores), 8)

  def _facts(self, run, seed=0):
    path = _ROOT / 'results' / run / f'seed{seed}' / 'saved_model/policy.json'
    return json.loads(path.read_text())

  def test_every_score_is_of_a_policy_and_a_result(self):
    results = (_ROOT / 'results' / 'README.md').read_text()
    for run, num_agents, scores in self.scores:
      for seed, score in enumerate(_SCORE.findall(scores)):
        facts = self._facts(run, seed)
        self.assertEqual(facts['config']['seed'], seed)
        self.assertEqual(facts['num_agents'], int(num_agents))
        self.assertIn(score, results, run)
      folders = list((_ROOT / 'results' / run).glob('seed*'))
      self.assertLen(folders, scores.count('['))

  def test_observations_are_those_of_the_policies(self):
    seen = set()
    for run, _, _ in self.scores:
      facts = self._facts(run)
      roles, expected = facts['roles'], {}
      for role in roles:
        start = f'{role["name"]}_' if len(roles) > 1 else ''
        sizes = {'own': role['own_size'], **role['entity_sizes']}
        expected |= {start + name: size for name, size in sizes.items()}
      title = '-'.join(x.title() for x in facts['env'].split('_'))
      title = title.replace('-And-', '-and-')
      told = _ARGUMENT.findall(self.sections[title])
      self.assertEqual({x: int(size) for x, size, _ in told}, expected, title)
      seen.add(title)
    others = {'To load one', 'Scores', 'What holds for all'}
    self.assertEqual(seen, self.sections.keys() - others)

  def test_features_of_hide_and_seek_are_in_their_order(self):
    for title, name in (
      ('Lock-and-Return', 'lock_and_return'),
      ('Ramp-Use', 'ramp_use'),
    ):
      told = {x: y for x, _, y in _ARGUMENT.findall(self.sections[title])}
      features = hide_and_seek.load(name).features
      self.assertEqual(
        told,
        {kind: ', '.join(x.name for x in fs) for kind, fs in features.items()},
      )


if __name__ == '__main__':
  absltest.main()
