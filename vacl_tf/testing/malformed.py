# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Command lines of `launch.main`, most of them wrong in some way."""

import random
from collections.abc import Iterator
from typing import Any

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides

# Values to try for a flag of any type.
_VALUES = (
  *('', ' ', '0', '-1', '1', '1.5', 'nan', '-inf', 'inf', '1e400', '1e9'),
  *('9' * 20, '-' + '9' * 20, '0x10', '1_000', '1,5', '2x2', '4,', 'x', 'true'),
  *('None', '[]', '{}', "'", '"', '%s', '{x}', '${HOME}', '\\', '\n', '\t'),
  *('\u00e9', '\u0661', '\U0001f600', '\udce9', 'a' * 10_000, '9' * 5000),
)
_COUNTS = (
  *('4,' * 1000, ','.join(map(str, range(2, 101))), '4,8,4', '0x4', '4xx4'),
  *('4x', 'x4', '-4,-8', '1000000000', '4,1000000000', '4x4x4', '4.0,8'),
)
_OTHERS = (
  *('-', '--', '---', '--=', '--=1', '-x', 'x', '--no', '--config.'),
  *('--config', '--config.ppo', '--config.ppo.clip', '--config.seed=1'),
  *('--noseed', '--nojson=1', '--json=2', '--undefok', '--undefok=clip'),
  *('--flagfile=nowhere', '--import=', '--import=nowhere.py', '--import=os.x'),
  *('--import=.', '--import=/', '--import=\u00e9', '--help=1', '--env'),
)


def lines(number: int, seed: int = 0) -> Iterator[list[str]]:
  """Yields the arguments of randomly chosen commands.

  Args:
    number: number of commands.
    seed: seed of the choice.
  """
  chance = random.Random(seed)
  for index in range(number):
    task = catalog.TASKS.get(chance.choice(catalog.TASKS.names()))
    agent = chance.choice([task.agent, *catalog.AGENTS.names()])
    curriculum = chance.choice(catalog.CURRICULA.names())
    values = _flags(catalog.skeleton(task.world, agent, curriculum))
    chosen = [f'--env={task.name}', f'--agent={agent}']
    chosen.append(f'--curriculum={curriculum}')
    names = list(values)
    # Every flag is tried in turn.
    for name in (names[index % len(names)], *chance.sample(names, index % 3)):
      value = chance.choice([*_VALUES, *values[name]])
      if chance.random() < 0.1:
        chosen += [f'--{name}', value]
      else:
        chosen.append(f'--{name}={value}')
    if chance.random() < 0.2:
      chosen.append(chance.choice(_OTHERS))
    if chance.random() < 0.2:
      chosen.append(chance.choice(chosen))
    if chance.random() < 0.2:
      chance.shuffle(chosen)
    yield chosen


def _flags(cfg: config.Config) -> dict[str, list[str]]:
  """Returns values that are probably wrong or barely valid, by flag."""
  found = {}
  for prefix, node in (('config.', cfg), ('', config.RunLength())):
    for name, value in overrides.leaves(node).items():
      found[prefix + name] = _values(node, name, value)
  found['seed'] = found.pop('config.seed')
  for name in ('environment.num_agents', 'environment.num_boxes'):
    if f'config.{name}' in found:
      found[name.partition('.')[2]] = found.pop(f'config.{name}')
  for name in ('preset', 'env', 'curriculum'):
    found[name] = ['default', 'paper', *catalog.TASKS.names()]
  found['entity_counts'] = list(_COUNTS)
  return found


def _values(node: Any, name: str, value: Any) -> list[str]:
  """Returns values of a leaf, among them those at and beyond its bounds."""
  values = [value, *overrides.choices(node, name)]
  if bounds := overrides.bounds(node, name):
    low, high = bounds
    values += [low, high, low - 1, high + 1, 10 * high, (low + high) / 2, -high]
    values += [int(high) // 2 + 1, int(high) - 1]
  return list(map(str, values))
