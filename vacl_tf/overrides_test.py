# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Overrides reach every leaf and only it, and unknown names are refused."""

import dataclasses
from typing import Annotated, Literal

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import overrides


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Inner:
  size: Annotated[int, config.Range(1, 9)] = 4
  kind: Literal['round', 'square'] = 'round'
  note: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Outer:
  inner: _Inner = _Inner()
  is_on: bool = False


class OverridesTest(parameterized.TestCase):
  def test_leaves_have_dotted_names(self):
    self.assertEqual(
      overrides.leaves(_Outer()),
      {
        'inner.size': 4,
        'inner.kind': 'round',
        'inner.note': '',
        'is_on': False,
      },
    )

  def test_replace_reaches_every_leaf_and_only_it(self):
    cfg = config.Config()
    for name, value in overrides.leaves(cfg).items():
      other = not value if isinstance(value, bool) else value * 2
      changed = overrides.replace(cfg, {name: other})
      expected = [] if other == value else [f'{name}: {value} -> {other}']
      self.assertEqual(overrides.differences(cfg, changed), expected)

  @parameterized.parameters(
    ('ppo.clop', 'did you mean ppo.clip'),
    ('clip', 'did you mean ppo.clip'),
    ('ppo', 'unknown'),
    ('curriculum.num_goals', 'unknown'),
  )
  def test_an_unknown_name_is_refused(self, name, message):
    with self.assertRaisesRegex(ValueError, f'{name}.*{message}'):
      overrides.replace(config.Config(), {name: 1.0})

  def test_of_another_agent_the_name_says_it_all(self):
    one = config.Config()
    other = overrides.replace(one, {'seed': 3})
    other = dataclasses.replace(other, agent=config.RecurrentConfig())
    found = overrides.differences(one, other)
    self.assertContainsSubset(
      {'seed: 0 -> 3', 'agent.name: attention -> recurrent_attention'}, found
    )
    self.assertFalse([x for x in found if 'none' in x], found)

  def test_differences_name_leaves_that_only_one_has(self):
    one = config.Config()
    other = dataclasses.replace(
      one, agent=config.RecurrentConfig(name=one.agent.name)
    )
    self.assertContainsSubset(
      {'agent.num_hops: 1 -> none', 'agent.segment_length: none -> 10'},
      overrides.differences(one, other),
    )

  def test_choices_and_bounds_are_those_of_the_annotation(self):
    node = _Outer()
    self.assertEqual(overrides.choices(node, 'inner.kind'), ('round', 'square'))
    self.assertEqual(overrides.choices(node, 'inner.size'), ())
    self.assertEqual(overrides.bounds(node, 'inner.size'), (1, 9))
    for name in ('inner.kind', 'inner.note', 'is_on'):
      self.assertIsNone(overrides.bounds(node, name))

  def test_unknown_names_the_closest_or_else_all(self):
    allowed = ('simple_spread', 'push_ball')
    self.assertEqual(
      overrides.unknown('env', 'simple_spred', allowed),
      "env='simple_spred' is unknown; did you mean simple_spread?",
    )
    self.assertEqual(
      overrides.unknown('env', 'chess', allowed),
      "env='chess' is unknown; allowed: simple_spread, push_ball",
    )
    self.assertEqual(
      overrides.unknown('field', 'ppo', ('ppo.clip', 'ppo.rate', 'seed')),
      "field='ppo' is unknown; allowed: ppo.clip, ppo.rate",
    )


if __name__ == '__main__':
  absltest.main()
