# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The notebook runs from its first cell to its last, and its policies learn."""

import json
import os
import pathlib

import matplotlib
import tensorflow as tf
from absl.testing import absltest

import vacl_tf
from vacl_tf.environments import box_tasks
from vacl_tf.environments import one_world
from vacl_tf.environments import pettingzoo_view
from vacl_tf.environments import python_world

_NOTEBOOK = pathlib.Path(__file__).parent.parent / 'docs' / 'tutorial.ipynb'


@absltest.skipUnless(_NOTEBOOK.is_file(), 'docs/ is not here')
class TutorialTest(absltest.TestCase):
  def test_its_cells_run(self):
    matplotlib.use('Agg')
    names = {'__name__': 'tutorial'}
    self.addCleanup(os.chdir, os.getcwd())
    os.chdir(self.create_tempdir().full_path)
    for cell in json.loads(_NOTEBOOK.read_text())['cells']:
      if cell['cell_type'] == 'code':
        code = compile(''.join(cell['source']), _NOTEBOOK.name, 'exec')
        exec(code, names)
    for name, module in (
      ('box_tasks', box_tasks),
      ('python_world', python_world),
      ('tf', tf),
      ('vacl_tf', vacl_tf),
    ):
      self.assertIs(names[name], module)
    self.assertIs(vacl_tf.parallel_env, pettingzoo_view.parallel_env)
    self.assertTrue(issubclass(names['Flags'], one_world.OneWorld))
    self.assertLen(names['pictures'], 71)
    for run in ('pair', 'team', 'own'):
      self.assertGreater(names[run].coverage, 0.9, run)


if __name__ == '__main__':
  absltest.main()
