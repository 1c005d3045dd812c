# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Code that all workers share: arguments, timing and the JSON line.

It uses only the standard library, because the workers run in different Python
environments.
"""

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

State = TypeVar('State')


SPREAD, SPEAKER_LISTENER = 'simple_spread', 'simple_speaker_listener'
SCENARIOS = (SPREAD, SPEAKER_LISTENER)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
  """What is simulated, and how much.

  Attributes:
    scenario: one of SCENARIOS.
    num_agents: number of agents; simple_spread has as many landmarks.
    num_worlds: number of worlds that are stepped together.
    num_steps: steps of each world after its only reset.
    repeats: timed roll-outs, after an untimed one that compiles and warms up.
  """

  scenario: str
  num_agents: int
  num_worlds: int
  num_steps: int
  repeats: int


class Parser(argparse.ArgumentParser):
  """An argument parser whose error messages fit on one line."""

  def error(self, message: str) -> NoReturn:
    self.exit(2, f'{self.prog}: {message}\n')


def positive(text: str) -> int:
  """Parses an argument that must be a positive integer."""
  if not text.isdecimal() or int(text) == 0:
    raise argparse.ArgumentTypeError(f'{text!r} is not a positive integer')
  return int(text)


def parse_setting() -> Setting:
  """Reads a worker's arguments, one for each field of `Setting`."""
  parser = Parser(allow_abbrev=False)
  for field in dataclasses.fields(Setting):
    kind = str if field.name == 'scenario' else positive
    parser.add_argument(f'--{field.name}', type=kind, required=True)
  return Setting(**vars(parser.parse_args()))


def rates(
  setting: Setting,
  reset: Callable[[int], State],
  roll_out: Callable[[State, int], float],
) -> list[float]:
  """Times roll-outs.

  Args:
    setting: how much to simulate.
    reset: given a seed, makes the state that a roll-out starts from. Its time
      does not count.
    roll_out: given that state and a seed, plays all steps of all worlds with
      random actions. Returns a checksum over what the environment returned, as
      a Python float, so that the clock stops only when the work is done.

  Returns:
    Environment steps per second of each timed roll-out.
  """
  num_env_steps = setting.num_worlds * setting.num_steps
  results = []
  for seed in range(setting.repeats + 1):
    state = reset(seed)
    start = time.perf_counter()
    checksum = roll_out(state, seed)
    seconds = time.perf_counter() - start
    if not math.isfinite(checksum):
      raise ValueError(f'the checksum of roll-out {seed} is {checksum}')
    if seed:  # The first roll-out compiles.
      results.append(num_env_steps / seconds)
  return results


def report(env_steps_per_second: list[float], **details: Any) -> None:
  """Prints the line that env_speed.py reads; it must be the last one."""
  record = {
    'best': max(env_steps_per_second),
    'env_steps_per_second': env_steps_per_second,
    'details': details,
  }
  print(json.dumps(record), flush=True)
