# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""All commands by one name: vacl train --env=simple_spread --num_agents=4.

`vacl train` is `python -m vacl_tf.launch.main`; check, evaluate, plot, report,
study, benchmark, benchmark_curriculum and configuration are the modules of the
same name in vacl_tf.launch.
"""

import importlib
import sys

from vacl_tf import overrides
from vacl_tf.launch import command_line
from vacl_tf.launch import outputs
from vacl_tf.launch import signals

_COMMANDS = {
  'train': 'main',
  'check': 'check',
  'evaluate': 'evaluate',
  'plot': 'plot',
  'report': 'report',
  'study': 'study',
  'benchmark': 'benchmark',
  'benchmark_curriculum': 'benchmark_curriculum',
  'configuration': 'configuration',
}
_PRINTERS = ('check', 'evaluate', 'benchmark', 'configuration')


def main() -> None:
  """Runs the command that the first argument names."""
  outputs.guard()
  signals.listen()  # Importing what a command needs takes seconds.
  name = sys.argv[1] if len(sys.argv) > 1 else '--help'
  if name in ('-h', '--help', 'help'):
    print(__doc__.strip())
    print(f'\nCommands: {", ".join(_COMMANDS)}. Each has --help.')
    sys.exit(0)
  if name not in _COMMANDS:
    message = overrides.unknown('command', name, _COMMANDS)
    print(f'error: {message}', file=sys.stderr)
    sys.exit(command_line.USAGE)
  sys.argv = [f'{sys.argv[0]} {name}', *sys.argv[2:]]
  module = importlib.import_module(f'vacl_tf.launch.{_COMMANDS[name]}')
  command_line.start(module.main, module.define, is_printer=name in _PRINTERS)


if __name__ == '__main__':
  main()
