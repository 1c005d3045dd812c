# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every party's worker shares: arguments, the clock, the JSON line.

Standard library only, because each worker runs in an environment of its own.
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
    scenario: of SCENARIOS.
    num_agents: agents; in simple_spread as many landmarks.
    num_worlds: worlds stepped together.
    num_steps: steps of every world after its one reset.
    repeats: timed roll-outs, after one that compiles and warms up.
  """

  scenario: str
  num_agents: int
  num_worlds: int
  num_steps: int
  repeats: int


class Parser(argparse.ArgumentParser):
  """An argument parser whose complaints fit one line."""

  def error(self, message: str) -> NoReturn:
    self.exit(2, f'{self.prog}: {message}\n')


def positive(text: str) -> int:
  """The type of an argument that counts something."""
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
    reset: from a seed, the state a roll-out starts at. Outside the clock.
    roll_out: from that state and a seed, all steps of all worlds with random
      actions. Returns a checksum over what the environment returned, as a
      Python float, so that the clock stops only when the work is done.

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
    if seed:  # The first one compiled.
      results.append(num_env_steps / seconds)
  return results


def report(env_steps_per_second: list[float], **details: Any) -> None:
  """Prints the line that the driver reads: it must be the last."""
  record = {
    'best': max(env_steps_per_second),
    'env_steps_per_second': env_steps_per_second,
    'details': details,
  }
  print(json.dumps(record), flush=True)
