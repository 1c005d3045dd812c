# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported policies are layers of Keras 3, as docs/policies.md says."""

import os
import pathlib
import re
import subprocess
import sys

from absl.testing import absltest

from vacl_tf import agents
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.testing import tiny
from vacl_tf.training import export

_ROOT = pathlib.Path(__file__).parents[2]
_PAGE = _ROOT / 'docs' / 'policies.md'
_PROGRAM = re.compile(r'^```python\n(import keras\n.*?)^```$', re.M | re.S)

# A layer does what the SavedModel does, by itself and in a functional model,
# for any numbers of worlds and agents, and the gradients of what it returns
# reach all variables.
_COMPARE = """
import sys
import keras, numpy as np, tensorflow as tf
assert keras.__version__.startswith('3.'), keras.__version__
rng = np.random.default_rng(0)
seed, greedy = tf.constant([4, 2]), tf.constant(True)

for path in sys.argv[1:]:
  layer = keras.layers.TFSMLayer(path, call_endpoint='act')
  policy = tf.saved_model.load(path)
  _, specs = policy.signatures['act'].structured_input_signature
  del specs['seed'], specs['greedy']
  inputs = {
    name: keras.Input(spec.shape[1:]) for name, spec in specs.items()
  }
  model = keras.Model(inputs, layer(seed, greedy=greedy, **inputs))
  for numbers in ([3, 2, 4], [2, 5, 1]):  # Worlds, agents, entities.
    given = {
      name: rng.normal(
        size=[x or number for x, number in zip(spec.shape, [*numbers, 0])]
      ).astype('f')
      for name, spec in specs.items()
    }
    expected = policy.act(seed=seed, greedy=greedy, **given)
    with tf.GradientTape() as tape:
      found = layer(seed, greedy=greedy, **given)
      floats = [x for x in found.values() if x.dtype.is_floating]
      cost = sum(tf.reduce_sum(x**2) for x in floats)
    variables = [x.value for x in layer.trainable_variables]
    assert variables
    assert all(x is not None for x in tape.gradient(cost, variables)), path
    played = model.predict(given, verbose=0)
    assert found.keys() == expected.keys() == played.keys()
    for name, x in expected.items():
      np.testing.assert_allclose(found[name], x, 1e-4, 1e-4)
      np.testing.assert_allclose(played[name], x, 1e-4, 1e-4)
print('same')
"""


def _run(program, *arguments):
  """Runs a program with Keras 3, in the root of the repository."""
  return subprocess.run(
    [sys.executable, '-c', program, *map(str, arguments)],
    capture_output=True,
    check=False,
    cwd=_ROOT,
    env=os.environ | {'TF_USE_LEGACY_KERAS': '0'},
    text=True,
  )


class KerasLayerTest(absltest.TestCase):
  def _compare(self, paths):
    done = _run(_COMPARE, *paths)
    self.assertEqual(done.stdout.strip(), 'same', done.stderr[-2000:])

  def test_what_is_exported_today_is_a_layer(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    paths = []
    for env in ('speaker_listener', 'lock_and_return'):
      cfg = tiny.shrunk(presets.make(env=env, seed=1))
      world = environments.make(cfg.environment)
      paths.append(folder / env)
      export.export(agents.make(cfg, world.roles), world, cfg, paths[-1])
    self._compare(paths)

  @absltest.skipUnless(_PAGE.is_file(), 'docs/ and results/ are not here')
  def test_what_lies_under_results_is_a_layer(self):
    runs = ('push_ball_n4/seed1', 'ramp_use_n1_reach/seed0')
    self._compare(_ROOT / 'results' / run / 'saved_model' for run in runs)

  @absltest.skipUnless(_PAGE.is_file(), 'docs/ and results/ are not here')
  def test_the_program_in_the_docs_runs(self):
    [program] = _PROGRAM.findall(_PAGE.read_text())
    done = _run(program)
    self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == '__main__':
  absltest.main()
