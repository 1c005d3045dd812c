# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Draws coverage against steps: python plot.py curves.png results/*.csv."""

import csv
import pathlib
import sys

from matplotlib import figure

_COLOURS = {'vacl': 'tab:blue', 'uniform': 'tab:orange'}


def main() -> None:
  """Draws a line for each file, in one colour for each curriculum."""
  drawn = figure.Figure(figsize=(6.0, 3.5), layout='constrained')
  axes = drawn.add_subplot()
  named = set()
  if len(sys.argv) < 3:
    sys.exit('error: give a picture to write, and CSV files of train.py')
  for path in sorted(map(pathlib.Path, sys.argv[2:])):
    rows = list(csv.DictReader(path.open()))
    name = path.stem.split('_')[0]
    axes.plot(
      [int(row['env_steps']) / 1e6 for row in rows],
      [float(row['coverage']) for row in rows],
      color=_COLOURS.setdefault(name, f'C{2 + len(_COLOURS)}'),
      label=None if name in named else name,
    )
    named.add(name)
  axes.set(xlabel='environment steps (millions)', ylim=(-0.02, 1.02))
  axes.set_ylabel('coverage of uniform tasks, greedy')
  axes.legend(loc='center right')
  axes.grid(alpha=0.3)
  drawn.savefig(sys.argv[1], dpi=100)


if __name__ == '__main__':
  main()
