# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Damaged runs and policies: one line, an exit code, and nothing is touched."""

import io
import json
import os
import pathlib
import shutil
import tempfile
import zipfile

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import evaluate
from vacl_tf.launch import plot
from vacl_tf.launch import provenance
from vacl_tf.launch import records
from vacl_tf.testing import commands
from vacl_tf.testing import tiny
from vacl_tf.training import checkpoints
from vacl_tf.training import export
from vacl_tf.training import run as run_lib

_POLICY = 'saved_model/policy.json'
_INDEX = 'saved_model/variables/variables.index'
_DATA = 'saved_model/variables/variables.data-00000-of-00001'
_COLUMNS = 'iteration,env_steps,wall_seconds,coverage,active_tasks,'
_COLUMNS += 'solved_tasks,newly_solved,solved_spread\n'
_ROWS = ''.join(f'{i},{700 * i},{i},0.{i},9,9,1,0.5\n' for i in range(1, 6))


def _config(**changes):
  """Returns a change of the leaves of a JSON file's config."""

  def change(text):
    content = json.loads(text)
    content['config'] |= {k.replace('__', '.'): x for k, x in changes.items()}
    return json.dumps(content).encode()

  return change


def _npy(array, **changes):
  """Returns an .npz file of one snapshot, with other arrays besides."""
  file = io.BytesIO()
  arrays = {'5/active_phi': array, '5/solved_phi': array} | changes
  np.savez_compressed(file, **arrays)
  return file.getvalue()


def _bomb():
  """Returns a small .npz file that expands to 2 GB."""
  file, part = io.BytesIO(), bytes(1 << 24)
  with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as z:
    with z.open('5/active_phi.npy', 'w', force_zip64=True) as inner:
      for _ in range(8):
        inner.write(part)
  return file.getvalue().replace(
    (8 << 24).to_bytes(8, 'little'), (1 << 31).to_bytes(8, 'little')
  )


# By name: what becomes of the bytes of any file.
_ANY = {
  'empty': lambda x: b'',
  'cut': lambda x: x[: len(x) // 2],
  'nonsense': lambda x: b'\xff\x00\x1b[2J nonsense\n',
}
_ANY_JSON = {
  'list': lambda x: b'[1, 2]',
  'number': lambda x: b'3',
  'bare': lambda x: b'{}',
  'deep': lambda x: b'[' * 100_000,
  'deep inside': lambda x: b'{"config": ' + b'[' * 50 + b']' * 50 + b'}',
  'nan': lambda x: b'{"config": NaN}',
  'config is text': lambda x: b'{"config": "text"}',
  'not UTF-8': lambda x: x.replace(b'simple', b'\xff\xfe'),
  'horizon': _config(environment__horizon=10**9),
  'half an agent': _config(environment__num_agents=2.5),
  'many agents': _config(environment__num_agents=10**9),
  'no agents': _config(environment__num_agents=None),
  'list of agents': _config(environment__num_agents=[4]),
  'unknown field': _config(environment__colour='red'),
  'unknown task': _config(environment__name='\x1b[2J'),
  'task of no text': _config(environment__name={'a': 1}),
  'unknown agent': _config(agent__name='nobody'),
  'size': _config(agent__hidden_size=10**12),
  'huge number': _config(agent__attention_gain=10**400),
  'path': _config(progression__entity_counts='4,4,x'),
  'surrogate': _config(preset='\ud800'),
}
_DAMAGES = {
  'config.json': _ANY | _ANY_JSON,
  _POLICY: _ANY
  | _ANY_JSON
  | {'roles': lambda x: x.replace(b'own_size', b'own_sise')},
  _INDEX: _ANY,
  _DATA: _ANY | {'cut': lambda x: x[:100]},
  'metrics.csv': _ANY
  | {
    'renamed column': lambda x: x.replace(b'env_steps', b'steps'),
    'twice a column': lambda x: x.replace(b'env_steps', b'iteration'),
    'letter': lambda x: x.replace(b'2100', b'21o0'),
    'infinite': lambda x: x.replace(b'2100', b'1e999'),
    'negative': lambda x: x.replace(b'2100', b'-2100'),
    'no steps': lambda x: x.replace(b'2100', b''),
    'extra cell': lambda x: x.replace(b'2100', b'2100,1'),
    'missing cell': lambda x: x.replace(b'2100,', b''),
    'long field': lambda x: x.replace(b'2100', b'1' * 150_000),
    'zero bytes': lambda x: x.replace(b'2100', b'21\x000'),
  },
  'curriculum.npz': _ANY
  | {
    'bomb': lambda x: _bomb(),
    'no snapshot': lambda x: _npy(np.ones([3, 16]), foreign=np.ones(3)),
    'foreign key': lambda x: _npy(np.ones([3, 16]), **{'x/y': np.ones(3)}),
    'objects': lambda x: _npy(np.array([{}, print], object)),
    'text': lambda x: _npy(np.array([['a', 'b']])),
    'another map': lambda x: _npy(np.ones([3, 7])),
    'no rows': lambda x: _npy(np.ones([3])),
    'not finite': lambda x: _npy(np.full([3, 16], np.nan)),
    'wide': lambda x: _npy(np.ones([1, 50_000])),
  },
}
_PLACES = ('large', 'folder', 'pipe', 'device', 'loop')


def _cases():
  for name, damages in _DAMAGES.items():
    for damage in (*damages, *_PLACES):
      yield name, damage


def _resume():
  """Reads what a run that is started again reads first."""
  records.read_config(pathlib.Path(command_line.RUN_DIR.value))


class DamageTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    folder = cls.enterClassContext(tempfile.TemporaryDirectory())
    cls.root = pathlib.Path(folder)
    cfg = tiny.shrunk(presets.make(env='simple_spread'))
    cls.whole = cls.root / 'whole'
    cls.whole.mkdir()
    envs = environments.load_all(cfg)
    run = run_lib.Run(cfg, envs)
    provenance.write(cls.whole / 'config.json', cfg, config.RunLength())
    saved = checkpoints.Checkpointer(run, cls.whole / 'checkpoints', 1)
    saved.restore(report=print)
    saved.save()
    export.export(run.agent, envs[-1], cfg, cls.whole / 'saved_model')
    (cls.whole / 'metrics.csv').write_text(_COLUMNS + _ROWS)
    rows = np.random.default_rng(0).normal(size=[9, 16])
    (cls.whole / 'curriculum.npz').write_bytes(_npy(rows))

  def setUp(self):
    super().setUp()
    self.run_dir = self.root / 'run'
    shutil.rmtree(self.run_dir, ignore_errors=True)
    shutil.copytree(self.whole, self.run_dir)

  def _commands(self, name):
    """Returns the commands that read a file, by name."""
    run_dir = f'--run_dir={self.run_dir}'
    output = f'--output={self.root / "picture.png"}'
    played = (evaluate.main, evaluate.define, '--num_tasks=2', run_dir)
    drawn = (plot.main, plot.define, f'--run_dirs={self.run_dir}', output)
    return {
      'config.json': {
        'plot': drawn,
        'resume': (_resume, evaluate.define, run_dir),
      },
      'metrics.csv': {'plot': drawn},
      'curriculum.npz': {'plot': drawn},
    }.get(name, {'evaluate': played})

  def _tree(self):
    """Returns what there is, without waiting for pipes."""
    found = {}
    for path in sorted(self.root.rglob('*')):
      is_file = path.is_file() and path.stat().st_size < 1 << 20
      found[str(path)] = path.read_bytes() if is_file else path.lstat()[:2]
    return found

  def _damage(self, name, damage):
    path = self.run_dir / name
    if damage not in _PLACES:
      path.write_bytes(_DAMAGES[name][damage](path.read_bytes()))
      return
    if damage == 'large':
      os.truncate(path, 1 << 40)  # Takes no space.
      return
    path.unlink()
    if damage == 'folder':
      path.mkdir()
    elif damage == 'pipe':
      os.mkfifo(path)
    else:
      path.symlink_to('/dev/zero' if damage == 'device' else path)

  def _assert_refused(self, main, define, *arguments):
    ended = commands.run(lambda: command_line.run(main, define), *arguments)
    self.assertEqual((ended.code, ended.out), (command_line.USAGE, ''))
    line = ended.err.removesuffix('\n')
    self.assertStartsWith(line, 'error: ')
    self.assertTrue(line.isprintable(), line)
    self.assertLess(len(line), 1500)
    self.assertIn('; ' if ';' in line else 'allowed', line)  # A remedy.

  @parameterized.parameters(*_cases())
  def test_one_line_and_nothing_is_touched(self, name, damage):
    self._damage(name, damage)
    before = self._tree()
    for command in self._commands(name).values():
      with self.subTest(command[0].__module__):
        self._assert_refused(*command)
        self.assertEqual(self._tree(), before)

  @parameterized.parameters('config.json', 'checkpoints')
  def test_a_run_in_progress_that_is_damaged(self, name):
    shutil.rmtree(self.run_dir / 'saved_model')
    for path in list((self.run_dir / name).glob('ckpt-*')):
      path.unlink()
      os.mkfifo(path)
    if name == 'config.json':
      (self.run_dir / name).write_text('{')
    self._assert_refused(
      *(evaluate.main, evaluate.define),
      *('--num_tasks=2', f'--run_dir={self.run_dir}'),
    )


if __name__ == '__main__':
  absltest.main()
