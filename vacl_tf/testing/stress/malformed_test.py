# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The suite tries what the issue asks for, and none of it is right."""

import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.testing.stress import malformed


class MalformedTest(parameterized.TestCase):
  def test_enough_and_all_different(self):
    folder = pathlib.Path('x')
    found = malformed.cases(folder, folder)
    self.assertGreaterEqual(len(found), 300)
    self.assertEqual(len({x[:2] for x in found}), len(found))

  @parameterized.parameters(('--seed=1', 'is accepted'), ('--seed=-1', ''))
  def test_what_is_accepted_is_a_fault(self, flag, fault):
    folder = pathlib.Path(self.create_tempdir().full_path)
    arguments = (f'--run_dir={folder / "new"}', flag)
    case = malformed.Case('main', arguments, folder)
    self.assertEqual(malformed.try_case(case), fault)

  def test_a_switch_needs_no_value(self):
    folder = pathlib.Path('x')
    lines = [y for x in malformed.cases(folder, folder) for y in x.arguments]
    self.assertIn('--config.ppo.clip', lines)
    self.assertNotIn('--config.ppo.center_rewards', lines)

  def test_every_field_of_a_config_is_tried(self):
    folder = pathlib.Path('x')
    text = ' '.join(y for x in malformed.cases(folder, folder) for y in x[1])
    for name in overrides.leaves(presets.make(env='ramp_use')):
      self.assertTrue(f'--config.{name}' in text, name)
    for name in overrides.leaves(config.RunLength()):
      self.assertTrue(f'--{name}' in text, name)

  @parameterized.parameters('ppo.clip', 'ppo.num_epochs', 'training.num_tasks')
  def test_numbers_beyond_the_bounds(self, name):
    cfg = config.Config()
    kind = type(overrides.leaves(cfg)[name])
    numbers = [float(x) for x in malformed.wrong_values(cfg, name)[-3:-1]]
    for number in numbers:
      with self.assertRaisesRegex(ValueError, 'out of range'):
        bounds.check(overrides.replace(cfg, {name: kind(number)}))


if __name__ == '__main__':
  absltest.main()
