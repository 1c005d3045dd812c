# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The reliability suite: python -m vacl_tf.testing.stress.suite --part=kills.

Without --part the suite runs all parts and writes its result to
results/reliability.
"""

import json
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from vacl_tf.testing import one_line
from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import damage
from vacl_tf.testing.stress import disk
from vacl_tf.testing.stress import kills
from vacl_tf.testing.stress import malformed
from vacl_tf.testing.stress import outputs
from vacl_tf.testing.stress import runs
from vacl_tf.testing.stress import signals
from vacl_tf.testing.stress import soak
from vacl_tf.testing.stress import twins

_RESULTS = pathlib.Path('results/reliability')

PARTS: dict[str, Callable[[pathlib.Path], list[checks.Check]]] = {
  module.PART: module.play
  for module in (
    malformed,
    damage,
    twins,
    outputs,
    signals,
    disk,
    kills,
    soak,
  )
}


def _facts(part: str | None, work: pathlib.Path) -> dict[str, str]:
  """Returns the command, commit and machine of the result."""
  run = runs.whole(runs.PARTICLE, work)
  found = json.loads((run / 'config.json').read_text())
  hardware = found['hardware']
  return {
    'command': 'make stress' + (f' PART={part}' if part else ''),
    'commit': found['git_revision'],
    'machine': f'{hardware["processor"]}, {hardware["cores"]} cores',
  }


def main(arguments: Sequence[str] | None = None) -> int:
  """Runs the chosen parts; returns the exit code."""
  parser = one_line.Parser(
    prog='stress', description=__doc__.partition('\n')[0]
  )
  parser.add_argument('--part', choices=PARTS, help='only this one')
  parser.add_argument(
    '--output', type=pathlib.Path, help='folder of the result'
  )
  args = parser.parse_args(arguments)
  found: list[checks.Check] = []
  minutes = {}
  with tempfile.TemporaryDirectory(prefix='stress') as name:
    work = pathlib.Path(name)
    for part in [args.part] if args.part else PARTS:
      print(f'{part} ...', flush=True)
      began = time.monotonic()
      found += PARTS[part](work)
      minutes[part] = (time.monotonic() - began) / 60.0
    facts = _facts(args.part, work)
  print('\n'.join([*checks.table(found, minutes), *checks.problems(found)]))
  output = args.output or (None if args.part else _RESULTS)
  if output:
    checks.write(output, found, minutes, facts)
  return int(any(check.problem for check in found))


if __name__ == '__main__':
  sys.exit(main())
