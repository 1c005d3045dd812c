# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Env-only speed of vacl_tf, JaxMARL and VMAS, side by side on this CPU.

The parties take turns. Each turn is a separate process, and no two run at once,
so that a change in the machine's load affects all parties alike. Each turn is
taken twice, on all CPUs and on a single one, and the better result counts: with
arrays this small, threads may gain nothing and cost much.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
from typing import Any, NoReturn

from comparisons import measure

_ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKERS = {
  'ours': 'comparisons.ours',
  'jaxmarl': 'comparisons.peer_jaxmarl',
  'vmas': 'comparisons.peer_vmas',
}
OURS = 'ours'
TIMEOUT_SECONDS = 900  # Far longer than any normal run; ends a hung worker.


def fail(message: str) -> NoReturn:
  """Ends the program with one line about what the user can fix."""
  print(f'env_speed.py: {message}', file=sys.stderr)
  raise SystemExit(2)


def parse_counts(text: str) -> list[int]:
  """'4,8' -> [4, 8]."""
  return [measure.positive(part) for part in text.split(',')]


def parse_parties(text: str) -> list[str]:
  """'ours,vmas' -> ['ours', 'vmas'], each at most once."""
  parties = list(dict.fromkeys(text.split(',')))
  for party in parties:
    if party not in WORKERS:
      raise argparse.ArgumentTypeError(
        f'unknown party {party!r}: choose from {", ".join(WORKERS)}'
      )
  return parties


def parse_options() -> argparse.Namespace:
  """Reads the arguments; rejects those that would fail minutes later."""
  parser = measure.Parser(description=__doc__, allow_abbrev=False)
  add = parser.add_argument
  add('--scenario', choices=measure.SCENARIOS, default=measure.SPREAD)
  add(
    '--num_agents',
    type=parse_counts,
    metavar='N,N,...',
    help='default: 4,8, or 2 where there is no other',
  )
  add('--num_worlds', type=measure.positive, default=500)
  add('--num_steps', type=measure.positive, default=70)
  add('--rounds', type=measure.positive, default=5)
  add(
    '--repeats',
    type=measure.positive,
    default=7,
    help='timed roll-outs of a process; its best one counts',
  )
  add(
    '--parties',
    type=parse_parties,
    default=list(WORKERS),
    metavar='PARTY,...',
    help=f'of {", ".join(WORKERS)}',
  )
  add(
    '--ours_python',
    default=sys.executable,
    metavar='PATH',
    help='the python that has what vacl_tf needs; default: this one',
  )
  add(
    '--peers_python',
    metavar='PATH',
    help='the python that has requirements.txt of this folder',
  )
  add('--output', type=pathlib.Path, metavar='FILE.json')
  options = parser.parse_args()
  has_two = options.scenario == measure.SPEAKER_LISTENER
  options.num_agents = options.num_agents or ([2] if has_two else [4, 8])
  if has_two and options.num_agents != [2]:
    parser.error(f'--num_agents: {options.scenario} has 2, leave it out')
  for party in options.parties:
    name = python_option(party)
    path = getattr(options, name)
    if path is None:
      parser.error(f'--{name}=PATH is needed for {party} (see README.md)')
    if shutil.which(path) is None:
      parser.error(f'--{name}: {path} is not a program')
  if options.output and not options.output.absolute().parent.is_dir():
    parser.error(f'--output: there is no folder {options.output.parent}')
  return options


def python_option(party: str) -> str:
  """The argument that names the interpreter of a party."""
  return 'ours_python' if party == OURS else 'peers_python'


def run_worker(
  party: str, num_agents: int, cpus: set[int], options: argparse.Namespace
) -> dict[str, Any]:
  """Runs one process of a party on some CPUs; returns what it reported."""
  # Made absolute without following links: a venv's python is a link.
  python = shutil.which(getattr(options, python_option(party)))
  command = [
    os.path.abspath(python),
    '-m',
    WORKERS[party],
    f'--scenario={options.scenario}',
    f'--num_agents={num_agents}',
    f'--num_worlds={options.num_worlds}',
    f'--num_steps={options.num_steps}',
    f'--repeats={options.repeats}',
  ]
  load = os.getloadavg()[0]
  everywhere = os.sched_getaffinity(0)
  os.sched_setaffinity(0, cpus)  # The child inherits it.
  try:
    done = subprocess.run(
      command,
      cwd=_ROOT,
      capture_output=True,
      text=True,
      check=False,
      timeout=TIMEOUT_SECONDS,
    )
  except subprocess.TimeoutExpired:
    fail(f'{party}: no answer within {TIMEOUT_SECONDS} s')
  finally:
    os.sched_setaffinity(0, everywhere)
  if done.returncode:
    reason = (done.stderr.strip() or 'no message').splitlines()[-1]
    fail(f'{party} ended with {done.returncode}: {reason} (see README.md)')
  # Libraries may print while they load; the record is the last line.
  record = json.loads(done.stdout.strip().splitlines()[-1])
  about = {'party': party, 'num_agents': num_agents, 'num_cpus': len(cpus)}
  return about | {'load': load} | record


def bests(
  records: list[dict[str, Any]], party: str, num_agents: int
) -> list[float]:
  """The best rate of a party in each round."""
  best = {}
  for record in records:
    if (record['party'], record['num_agents']) == (party, num_agents):
      rate = max(record['best'], best.get(record['round'], 0.0))
      best[record['round']] = rate
  return list(best.values())


def table(
  records: list[dict[str, Any]], counts: list[int], parties: list[str]
) -> str:
  """A table of medians over the rounds, with ratios if ours ran."""
  rows = [
    f'{"n":>3}  {"party":8}{"median":>12}{"lowest":>12}{"highest":>12}'
    f'{"ours/party":>12}{"lowest":>8}{"highest":>8}'
  ]
  for num_agents in counts:
    ours = bests(records, OURS, num_agents)
    for party in parties:
      rates = bests(records, party, num_agents)
      row = (
        f'{num_agents:3}  {party:8}{statistics.median(rates):12,.0f}'
        f'{min(rates):12,.0f}{max(rates):12,.0f}'
      )
      if ours and party != OURS:
        # Ratios compare results of one round, in which the two ran one after
        # the other. The machine's load may change from round to round.
        ratios = [
          mine / theirs for mine, theirs in zip(ours, rates, strict=True)
        ]
        row += (
          f'{statistics.median(ratios):12.2f}'
          f'{min(ratios):8.2f}{max(ratios):8.2f}'
        )
      rows.append(row)
  return '\n'.join(rows)


def save(path: pathlib.Path, document: dict[str, Any]) -> None:
  """Writes the JSON file, or ends with one line that says why not."""
  try:
    path.write_text(json.dumps(document, indent=2) + '\n', encoding='utf-8')
  except OSError as error:
    fail(f'--output: {error}')


def main() -> None:
  """Measures round by round, then prints the table."""
  options = parse_options()
  cpus = os.sched_getaffinity(0)
  choices = [cpus, {max(cpus)}] if len(cpus) > 1 else [cpus]
  records = []
  document = {
    'env': options.scenario,
    'num_worlds': options.num_worlds,
    'num_steps': options.num_steps,
    'rounds': options.rounds,
    'repeats': options.repeats,
    'num_cpus': len(cpus),
    'records': records,
  }
  start = time.monotonic()
  for round_index in range(options.rounds):
    for num_agents in options.num_agents:
      for party, chosen in itertools.product(options.parties, choices):
        record = run_worker(party, num_agents, chosen, options)
        records.append({'round': round_index} | record)
        print(
          f'round {round_index + 1}  n = {num_agents}  {party:8}'
          f'{record["num_cpus"]:3} CPU{record["best"]:12,.0f}'
          f'  load {record["load"]:.1f}',
          file=sys.stderr,
        )
    if options.output:  # After each round, so that an interrupt loses little.
      save(options.output, document)
  loads = [record['load'] for record in records]
  print(
    f'{options.scenario}, env steps per second; {options.num_worlds} worlds, '
    f'{options.num_steps} steps,\nbest of {options.repeats} in each of '
    f'{options.rounds} rounds; {document["num_cpus"]} CPUs, load '
    f'{min(loads):.1f} to {max(loads):.1f}, '
    f'{time.monotonic() - start:.0f} s in all'
  )
  print(table(records, options.num_agents, options.parties))


if __name__ == '__main__':
  # SIGTERM raises an exception, so that the running worker is ended too.
  signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
  try:
    main()
  except KeyboardInterrupt:
    raise SystemExit(130) from None
