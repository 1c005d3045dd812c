# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The text of --help: flags by purpose, each with its range and default."""

import textwrap
from collections.abc import Mapping

from absl import flags

_WIDTH = 80  # Columns of the narrowest common terminal.
_INDENT = '      '
_OTHER = 'Others'  # Heading of flags without a group, if others have one.
_REPEATED = ';\n'  # Precedes what absl adds to repeatable flags.
_FORMS = {'int': 'N', 'float': 'X', 'bool': ''}


def page(about: str, groups: Mapping[str, str]) -> str:
  """Returns the description of a command, and its flags.

  Args:
    about: the command's docstring.
    groups: {flag: purpose} in the order of printing; '' if there is none.
  """
  purposes = sorted(dict.fromkeys(groups.values()), key=lambda x: not x)
  other = _OTHER if any(purposes) else 'Flags'
  parts = [about.strip()]
  for purpose in purposes:
    parts += ['', *textwrap.wrap(purpose or other, _WIDTH)]
    for name in (x for x, group in groups.items() if group == purpose):
      parts += _told(flags.FLAGS[name])
  return '\n'.join(parts)


def _told(flag: flags.Flag) -> list[str]:
  """Returns the lines on a flag."""
  text = flag.help.partition(_REPEATED)[0].strip()
  low, high = (
    getattr(flag.parser, bound, None)
    for bound in ('lower_bound', 'upper_bound')
  )
  if low is not None and high is not None:
    text += f' Allowed: {low} to {high}.'
  has_default = isinstance(flag.default, int) and not flag.boolean
  if (flag.default or has_default) and 'default:' not in text.lower():
    text += f' Default: {flag.default}.'
  return [
    f'  {_form(flag)}',
    *textwrap.wrap(
      text,
      _WIDTH,
      initial_indent=_INDENT,
      subsequent_indent=_INDENT,
      break_on_hyphens=False,
    ),
  ]


def _form(flag: flags.Flag) -> str:
  """Returns how to write a flag, for example --clip=X."""
  if flag.boolean:
    return f'--[no]{flag.name}'
  is_list = isinstance(flag.parser, flags.ListParser)
  form = 'A,B' if is_list else _FORMS.get(flag.flag_type(), 'TEXT')
  return f'--{flag.name}={form}'
