# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Results of the parts of the suite, and the table of these results."""

import json
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vacl_tf.testing import commands

LIMIT_SECONDS = 60.0  # A command that takes longer counts as hanging.
MOST_SHOWN = 20  # Problems of a group that are listed below the table.

_LINE_LIMIT = 1000  # Characters; nobody reads longer lines.
_SECRET_PATH = re.compile(r'(/[^\s/:;,()\'"]+)+/(?=[^\s/])')


class Check(NamedTuple):
  """One thing that was tried.

  Attributes:
    part: part of the suite.
    group: line of the table that counts the check.
    case: what was tried.
    problem: what is wrong; empty if nothing is.
  """

  part: str
  group: str
  case: str
  problem: str = ''


def complaint(ended: commands.Ended, codes: Sequence[int]) -> str:
  """Returns what is wrong with how a command ended, or '' if nothing is.

  Args:
    ended: exit code and output of the command.
    codes: allowed exit codes.
  """
  lines = [x for x in ended.err.splitlines() if not x.startswith('note: ')]
  if 'Traceback' in ended.err + ended.out:
    return f'traceback, which ends in: {_shown(lines[-1:] or [ended.out])}'
  if ended.code not in codes:
    return f'exit code {ended.code}, not one of {codes}: {_shown(lines)}'
  if ended.code in (1, 2) and len(lines) != 1:
    return f'{len(lines)} lines instead of one: {_shown(lines)}'
  if ended.code == 0 and lines:
    return f'succeeds, but says: {_shown(lines)}'
  if any(len(line) > _LINE_LIMIT for line in lines):
    return f'a line of {max(map(len, lines))} characters'
  return ''


def _shown(lines: Iterable[str]) -> str:
  return ' / '.join(lines)[-300:]


def _hidden(text: str) -> str:
  """Returns a text without the names of folders on this machine."""
  return _SECRET_PATH.sub('.../', text)


def table(checks: Sequence[Check], minutes: Mapping[str, float]) -> list[str]:
  """Returns a table in Markdown, one line for each group."""
  lines = ['| part | what | tried | failed |', '| --- | --- | ---: | ---: |']
  groups = dict.fromkeys((x.part, x.group) for x in checks)
  for part, group in groups:
    mine = [x for x in checks if (x.part, x.group) == (part, group)]
    failed = sum(bool(x.problem) for x in mine)
    lines.append(f'| {part} | {group} | {len(mine)} | {failed} |')
  told = ', '.join(f'{part} {taken:.1f}' for part, taken in minutes.items())
  return [*lines, '', f'Minutes: {told}.']


def problems(checks: Sequence[Check], most: int = MOST_SHOWN) -> list[str]:
  """Returns a line for each problem, at most `most` for each group."""
  lines, seen = [], {}
  for check in checks:
    if check.problem:
      seen[check.group] = seen.get(check.group, 0) + 1
      if seen[check.group] <= most:
        text = ' '.join(check.problem.split())
        lines.append(f'* {check.part}, {check.group}, {check.case}: {text}')
  return lines


def write(
  folder: pathlib.Path,
  checks: Sequence[Check],
  minutes: Mapping[str, float],
  facts: Mapping[str, Any],
) -> None:
  """Writes reliability.md and reliability.json, without names of folders."""
  folder.mkdir(parents=True, exist_ok=True)
  found = problems(checks)
  text = [
    '# Reliability',
    '',
    'Printed by `make stress`; docs/reliability.md says what is tried.',
    '',
    *(f'* {name}: {value}' for name, value in facts.items()),
    '',
    *table(checks, minutes),
    '',
    *(['Problems:', '', *map(_hidden, found)] if found else ['No problem.']),
  ]
  (folder / 'reliability.md').write_text('\n'.join(text) + '\n')
  content = {
    **facts,
    'minutes': {name: round(taken, 1) for name, taken in minutes.items()},
    'checks': [
      {name: _hidden(x) for name, x in check._asdict().items() if x}
      for check in checks
    ],
  }
  text = json.dumps(content, indent=1) + '\n'
  (folder / 'reliability.json').write_text(text)
