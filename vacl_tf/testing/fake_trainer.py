# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretends to train or to evaluate: fake_trainer train --run_dir=DIR --seed=1.

It pretends to play 10 steps at a time and to evaluate each time, and continues
where a run stopped. The environment variable that KINDS names maps seeds to the
behaviour of their runs, as JSON: the coverage of `chance` stays at 0, `diverge`
and `fail` end with code 1, `hang` waits after 20 steps for a file called `go`,
and an evaluation of `bad evaluation` is cut short.
"""

import json
import os
import pathlib
import signal
import sys
import time

COMMAND = (sys.executable, '-m', 'vacl_tf.testing.fake_trainer')
KINDS = 'FAKE_TRAINER_KINDS'
COLUMNS = 'iteration,env_steps,wall_seconds,coverage,success\n'
ESTIMATE = {'mean': 0.5, 'low': 0.4, 'high': 0.6}

_STEPS = 10  # Steps of an iteration.
_DIVERGES_AT, _HANGS_AT, _CHANCE_AT = 3, 2, 6  # Iterations.
_NAP_SECONDS = 0.01


def _kind(seed: str) -> str:
  return json.loads(os.environ[KINDS]).get(seed, '')


def train(values: dict[str, str]) -> None:
  """Writes the files that a trainer writes, and a line in `starts`."""
  asked = []
  signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
  path, kind = pathlib.Path(values['run_dir']), _kind(values['seed'])
  with (path / 'starts').open('a') as file:
    print(os.getpid(), os.environ['OMP_NUM_THREADS'], *sys.argv, file=file)
  if kind == 'fail':
    sys.exit('error: no such flag')
  (path / 'config.json').write_text(
    json.dumps(
      {
        'config': {'environment.name': 'simple_spread'},
        'git_revision': 'abc',
      }
    )
  )
  metrics = path / 'metrics.csv'
  text = metrics.read_text() if metrics.exists() else COLUMNS
  text = text[: text.rindex('\n') + 1]  # Drops an incomplete line.
  metrics.write_text(text)
  for done in range(
    text.count('\n'), int(values['num_env_steps']) // _STEPS + 1
  ):
    coverage = 0 if kind == 'chance' else done / 10
    with metrics.open('a') as file:
      file.write(f'{done},{_STEPS * done},{done},{coverage},{coverage}\n')
    if kind == 'diverge' and done == _DIVERGES_AT:
      sys.exit(f'error: policy_loss is nan at iteration {done}; go back')
    while not asked and (
      (kind == 'hang' and done == _HANGS_AT and not (path / 'go').exists())
      or (kind == 'chance' and done == _CHANCE_AT)
    ):
      time.sleep(_NAP_SECONDS)
    if asked:
      sys.exit(128 + signal.SIGTERM)


def evaluate(values: dict[str, str]) -> None:
  """Prints what an evaluation prints; writes a line in `evaluations`."""
  path = pathlib.Path(values['run_dir'])
  with (path / 'evaluations').open('a') as file:
    print(*sys.argv, file=file)
  found = {
    'env': 'simple_spread',
    'num_tasks': int(values['num_tasks']),
    'seed': int(values['seed']),
    'policy': 'greedy',
    'coverage': ESTIMATE,
    'success': ESTIMATE,
    'more': 'kept',
  }
  text = json.dumps(found)
  is_bad = _kind(path.name.removeprefix('seed')) == 'bad evaluation'
  print(text[: len(text) // 2] if is_bad else text)


if __name__ == '__main__':
  _, _command, *_flags = sys.argv
  _values = dict(flag[2:].split('=') for flag in _flags if '=' in flag)
  {'train': train, 'evaluate': evaluate}[_command](_values)
