# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Broken checkpoints, and policies used without vacl_tf."""

import pathlib
import subprocess
import sys

import numpy as np
import tensorflow as tf

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.networks import policy_value
from vacl_tf.networks import recurrent
from vacl_tf.training import saving


class _Counter(tf.Module):
  """Stands for a run."""

  def __init__(self) -> None:
    super().__init__(name='counter')
    self.value = tf.Variable(0)
    self.block = tf.Variable(tf.zeros([1000]))


class CheckpointerTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.directory = pathlib.Path(self.create_tempdir().full_path) / 'ckpt'
    self.notes = []

  def _open(self) -> tuple[_Counter, saving.Checkpointer, bool]:
    counter = _Counter()
    checkpointer = saving.Checkpointer(counter, self.directory, 3)
    return counter, checkpointer, checkpointer.restore(self.notes.append)

  def _save(self, *values: int) -> None:
    counter, checkpointer, _ = self._open()
    for value in values:
      counter.value.assign(value)
      counter.block.assign(tf.fill([1000], float(value)))
      checkpointer.save()

  def test_an_empty_directory_starts_afresh(self):
    counter, _, is_restored = self._open()
    self.assertFalse(is_restored)
    self.assertEqual(counter.value, 0)

  def test_the_newest_comes_back_and_old_ones_go(self):
    self._save(1, 2, 3, 4, 5)
    counter, _, is_restored = self._open()
    self.assertTrue(is_restored)
    self.assertEqual(counter.value, 5)
    self.assertLen(list(self.directory.glob('ckpt-*.index')), 3)

  def test_old_ones_go_after_a_restart_too(self):
    self._save(1, 2, 3)
    self._save(4, 5)
    self._save(6)
    kept = sorted(path.name for path in self.directory.glob('ckpt-*.index'))
    self.assertEqual(kept, [f'ckpt-{number}.index' for number in (4, 5, 6)])

  def test_a_lost_state_file_loses_nothing(self):
    self._save(1, 2)
    (self.directory / 'checkpoint').unlink()
    self._save(3)
    self.assertEqual(self._open()[0].value, 3)
    self.assertLen(list(self.directory.glob('ckpt-*.index')), 3)

  def test_a_truncated_checkpoint_falls_back_and_is_kept_aside(self):
    self._save(1, 2)
    data = next(self.directory.glob('ckpt-2.data*'))
    data.write_bytes(data.read_bytes()[:100])
    counter, checkpointer, is_restored = self._open()
    self.assertTrue(is_restored)
    self.assertEqual(counter.value, 1)
    self.assertAllEqual(counter.block, np.ones(1000))
    self.assertLen(self.notes, 1)
    self.assertIn('ckpt-2', self.notes[0])
    self.assertLen(list(self.directory.glob('ckpt-2.*.broken')), 2)
    checkpointer.save()
    self.assertTrue((self.directory / 'ckpt-3.index').exists())
    self.assertFalse((self.directory / 'ckpt-2.index').exists())

  def test_damage_in_the_middle_of_the_data_is_noticed(self):
    self._save(1, 2)
    data = next(self.directory.glob('ckpt-2.data*'))
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 0xFF
    data.write_bytes(bytes(content))
    self.assertEqual(self._open()[0].value, 1)

  def test_an_empty_index_falls_back(self):
    self._save(1, 2)
    (self.directory / 'ckpt-2.index').write_bytes(b'')
    self.assertEqual(self._open()[0].value, 1)

  def test_it_refuses_to_start_afresh_beside_broken_ones(self):
    self._save(1)
    next(self.directory.glob('ckpt-1.data*')).write_bytes(b'')
    for _ in range(2):  # The second time there are *.broken files alone.
      with self.assertRaisesRegex(saving.UnusableError, 'another --run_dir'):
        self._open()

  def test_reading_changes_no_file(self):
    self._save(1, 2)
    next(self.directory.glob('ckpt-2.data*')).write_bytes(b'')
    before = sorted(self.directory.iterdir())
    counter = _Counter()
    self.assertTrue(
      saving.Checkpointer(counter, self.directory, 1).read_newest()
    )
    self.assertEqual(counter.value, 1)
    self.assertEqual(sorted(self.directory.iterdir()), before)


_USE = """
import sys
import numpy as np
import tensorflow as tf
policy = tf.saved_model.load(sys.argv[1])
rng = np.random.default_rng(0)
for batch, n in ((3, 4), (5, 8)):
  seen = dict(
    own=rng.normal(size=[batch, n, 4]),
    agents=rng.normal(size=[batch, n, n - 1, 2]),
    landmarks=rng.normal(size=[batch, n, n, 3]),
  )
  seen = {k: tf.constant(v, tf.float32) for k, v in seen.items()}
  found = policy.act(seed=tf.constant([0, 1]), greedy=tf.constant(True), **seen)
  signature = policy.signatures['act'](
    seed=tf.constant([0, 1]), greedy=tf.constant(True), **seen
  )
  assert found['action'].shape == (batch, n)
  assert found['logits'].shape == (batch, n, 5)
  assert (signature['action'].numpy() == found['action'].numpy()).all()
  assert (found['action'].numpy() == found['logits'].numpy().argmax(-1)).all()
assert policy.initial_state(tf.constant(3), tf.constant(4)) == {}
assert not any(name.startswith('vacl_tf') for name in sys.modules)
print('used')
"""


_REMEMBER = """
import sys
import numpy as np
import tensorflow as tf
policy = tf.saved_model.load(sys.argv[1])

def play(given, is_greedy):
  steps, batch, n = given['own'].shape[:3]
  state = policy.initial_state(tf.constant(batch), tf.constant(n))
  assert list(state) == ['memory'] and not state['memory'].numpy().any()
  for t in range(steps):
    found = policy.act(
      seed=tf.constant([t, 1]),
      greedy=tf.constant(is_greedy),
      **{k: tf.constant(given[k][t]) for k in ('own', 'agents', 'boxes')},
      **state,
    )
    state = {'memory': found['memory']}
    for key in ('logits', 'memory'):
      np.testing.assert_allclose(found[key], given[key][t], 1e-4, 1e-4)
    action, mode = found['action'].numpy(), given['mode'][t]
    assert action.shape == mode.shape and action.dtype == np.int32
    assert (action == mode).all() == is_greedy
    assert (action >= 0).all() and (action < [11, 11, 11, 2, 2]).all()

for path in sys.argv[2:]:
  for is_greedy in (True, False):
    play(np.load(path), is_greedy)
assert not any(name.startswith('vacl_tf') for name in sys.modules)
print('used')
"""


class ExportTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.cfg = presets.make()
    self.env = environments.load('simple_spread', 4)
    self.network = policy_value.PolicyValue(
      self.env.roles, self.cfg.network, seed=1
    )
    self.directory = pathlib.Path(self.create_tempdir().full_path) / 'policy'
    saving.export(self.network, self.env, self.cfg, self.directory)

  def test_it_says_what_the_network_says(self):
    act, facts = saving.load_policy(self.directory)
    self.assertEqual(facts['env'], 'simple_spread')
    self.assertEqual(facts['num_task_dims'], 16)
    self.assertEqual(facts['roles'], saving.described(self.env.roles))
    phi = self.env.task_space.sample_uniform(6, randomness.root(0))
    observations = self.env.observe(self.env.place(phi, randomness.root(0)))
    named = saving.flat(self.env.roles, observations)
    found = act(seed=randomness.root(3), greedy=tf.constant(False), **named)
    expected = self.network.logits(observations)[0]
    self.assertAllClose(found['logits'], expected, 1e-5, 1e-6)
    self.assertBetween(int(tf.reduce_max(found['action'])), 1, 4)

  def test_it_works_without_vacl_tf_for_any_batch_and_count(self):
    result = subprocess.run(
      [sys.executable, '-c', _USE, str(self.directory)],
      capture_output=True,
      text=True,
      cwd=self.directory,
      check=False,
    )
    self.assertEqual(result.stdout.strip(), 'used', result.stderr)

  def test_a_folder_without_a_policy_is_refused(self):
    (self.directory / 'policy.json').unlink()
    with self.assertRaisesRegex(saving.UnusableError, 'saved_model folder'):
      saving.load_policy(self.directory)


class ExportWithMemoryTest(tf.test.TestCase):
  """Exports a policy of Lock-and-Return."""

  def setUp(self):
    super().setUp()
    cfg = presets.make(env='lock_and_return')
    self.env = environments.load('lock_and_return')
    self.network = recurrent.PolicyValue(self.env.roles[0], cfg.network, seed=1)
    # As it is initialised, the policy is all but uniform everywhere.
    logits = self.network.policies[0].logits
    logits.w.assign(100.0 * logits.w)
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    saving.export(self.network, self.env, cfg, self.folder / 'policy')

  def test_it_says_what_it_is_for(self):
    _, facts = saving.load_policy(self.folder / 'policy')
    self.assertEqual(facts['env'], 'lock_and_return')
    self.assertEqual((facts['num_agents'], facts['num_boxes']), (2, 2))
    self.assertEqual(facts['roles'], saving.described(self.env.roles))
    self.assertEqual(facts['roles'][0]['num_actions'], [11, 11, 11, 2, 2])

  def test_it_remembers_without_vacl_tf_for_any_numbers(self):
    paths = [str(self.folder / name) for name in ('few.npz', 'many.npz')]
    self._write(paths[0], batch=3, n=2, boxes=2)
    self._write(paths[1], batch=2, n=4, boxes=1)
    result = subprocess.run(
      [sys.executable, '-c', _REMEMBER, str(self.folder / 'policy'), *paths],
      capture_output=True,
      text=True,
      cwd=self.folder,
      check=False,
    )
    self.assertEqual(result.stdout.strip(), 'used', result.stderr)

  def _write(self, path, batch, n, boxes):
    """Writes what agents see in three steps, and what the network says."""
    rng, [role] = np.random.default_rng(0), self.env.roles
    shapes = {
      'own': [role.own_size],
      'agents': [n - 1, role.entity_sizes['agents']],
      'boxes': [boxes, role.entity_sizes['boxes']],
    }
    given = {
      kind: rng.normal(size=[3, batch, n, *shape]).astype(np.float32)
      for kind, shape in shapes.items()
    }
    memory, expected = tf.zeros([batch, n, self.network.hidden_size]), []
    for t in range(3):
      seen = {kind: tf.constant(x[t]) for kind, x in given.items()}
      own = seen.pop('own')
      distribution, memory = self.network.act(own, seen, memory)
      expected.append((distribution.logits, memory, distribution.mode()))
    columns = map(np.stack, zip(*expected, strict=True))
    said = dict(zip(('logits', 'memory', 'mode'), columns, strict=True))
    np.savez(path, **given, **said)


if __name__ == '__main__':
  tf.test.main()
