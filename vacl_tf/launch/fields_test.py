# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every field tells what it means and what it may be, users' fields too."""

import dataclasses
from typing import Annotated

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf.launch import fields


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Wide(config.CurriculumConfig):
  """As others indent.

  Attributes:
      pace: how fast it is,
          like this: 0.5 tasks
          a step.
      steep: whether it climbs.
  """

  pace: Annotated[float, config.Range(0.0, 1e-7)] = 0.0
  steep: bool = False
  untold: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Odd(config.CurriculumConfig):
  """Attributes:
  nothing that can be read
  """


class FieldsTest(parameterized.TestCase):
  @parameterized.parameters(
    ('pace', 'how fast it is, like this: 0.5 tasks a step', '0 to 1e-07'),
    ('steep', 'whether it climbs', 'true, false'),
    ('untold', '', ''),
    ('name', 'name of the curriculum', ''),
  )
  def test_docstrings_of_any_indent(self, name, meaning, allowed):
    self.assertEqual(fields.meaning(_Wide(), name), meaning)
    self.assertEqual(fields.allowed(_Wide(), name), allowed)

  def test_a_docstring_without_fields_means_nothing(self):
    self.assertEqual(fields.meaning(_Odd(), 'name'), 'name of the curriculum')

  def test_fields_of_a_section(self):
    cfg = config.Config()
    self.assertEqual(
      fields.meaning(cfg, 'training.num_tasks'),
      'worlds played in parallel (B)',
    )
    self.assertEqual(fields.allowed(cfg, 'agent.activation'), 'relu, tanh')


if __name__ == '__main__':
  absltest.main()
