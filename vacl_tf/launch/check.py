# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks what a file registers: launch.check --import=mine.py.

Tasks are played with random actions, and agents are evaluated. Curricula are
asked for tasks, given made-up values and resumed. All of it takes seconds, and
nothing is trained.
"""

from collections.abc import Iterator
from typing import NamedTuple

from absl import flags

from vacl_tf import builtin
from vacl_tf import catalog
from vacl_tf import environments
from vacl_tf.launch import command_line

with command_line.quiet_imports():
  from vacl_tf.launch import curriculum_trials
  from vacl_tf.launch import devices
  from vacl_tf.launch import trials

_ENV = command_line.Flag(
  flags.DEFINE_string,
  'env',
  None,
  'Task on which agents and curricula are tried. Default: the first task of '
  "the file, or else the library's first.",
)


class _Trial(NamedTuple):
  """A registered task, agent or curriculum, and the task to try it on."""

  kind: str
  name: str
  env: str

  def run(self) -> str:
    """Returns a line on the result; raises what `trials` raises."""
    if self.kind == 'task':
      return trials.of_task(self.name)
    if self.kind == 'agent':
      return trials.of_agent(self.name, self.env)
    return curriculum_trials.of_curriculum(self.name, self.env)


def _list_trials() -> Iterator[_Trial]:
  """Yields a trial for each registered entry that is not the library's own.

  Raises:
    UsageError: there is no such entry, or the trials' task can't be made.
  """
  tasks, agents, curricula = (
    [name for name in registry.names() if name not in ours]
    for registry, ours in (
      (catalog.TASKS, builtin.TASKS),
      (catalog.AGENTS, builtin.AGENTS),
      (catalog.CURRICULA, builtin.CURRICULA),
    )
  )
  if not tasks + agents + curricula:
    raise command_line.UsageError(
      'there is nothing to check; give --import=FILE.py, which registers a '
      'task, an agent or a curriculum'
    )
  env = _ENV.value or (*tasks, *builtin.TASKS)[0]
  if agents or curricula:
    with command_line.as_usage_error(ImportError, ValueError):
      environments.load(env)
  for kind, names in (
    ('task', tasks),
    ('agent', agents),
    ('curriculum', curricula),
  ):
    yield from (_Trial(kind, name, env) for name in names)


define = command_line.defines(_ENV, devices.DEVICE, command_line.IMPORT)


def main() -> int:
  """Prints a line for each trial; returns the exit code."""
  devices.check_unused()
  devices.use()
  code = 0
  for trial in list(_list_trials()):
    what = f'{trial.kind} {trial.name}'
    try:
      print(f'{what}: {trial.run()}', flush=True)
    except (Exception, SystemExit) as error:
      code = command_line.fail(what + trials.told_of(error, trial.name))
  return code


if __name__ == '__main__':
  command_line.start(main, define, is_printer=True)
