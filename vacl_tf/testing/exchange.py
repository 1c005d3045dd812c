# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Counts the data that replicas exchange in an iteration.

  python -m vacl_tf.testing.exchange --env=simple_spread --num_agents=4

Plays an iteration as one of two replicas, as if the other one sent the same
data. The table in docs/clusters.md is made with this program.
"""

import argparse
import os
from collections.abc import Sequence

import tensorflow as tf

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas
from vacl_tf.training import run as run_lib

_COUNT = 2


class Counted:
  """Two replicas, of which only one exists.

  Attributes:
    group: the replica that exists.
    summed: bytes of each sum.
    gathered: bytes that each replica contributes to each gather.
  """

  def __init__(self) -> None:
    self.summed: list[int] = []
    self.gathered: list[int] = []
    self.group = replicas.Group(_COUNT, 0, self._add, self._concatenate)

  def _add(self, x: tf.Tensor) -> tf.Tensor:
    self.summed.append(4 * int(tf.size(x)))
    return _COUNT * x

  def _concatenate(self, x: tf.Tensor) -> tf.Tensor:
    self.gathered.append(4 * int(tf.size(x)))
    return tf.concat([x] * _COUNT, 0)


def count(env: str, num_agents: int | None) -> Counted:
  """Returns the exchanges of an iteration of a task with its preset."""
  # No entity progression: as in the last iterations, all entities take part.
  cfg = presets.make(env=env, num_agents=num_agents, path='')
  envs = environments.load_all(cfg)
  run = run_lib.Run(cfg, envs)
  counted = Counted()
  programs = programs_lib.Programs(run, envs, cfg, replicas=counted.group)
  loop.iterate(run, programs, cfg)
  return counted


def main(arguments: Sequence[str] | None = None) -> None:
  """Prints the number of collectives and their bytes."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('--env', required=True)
  parser.add_argument('--num_agents', type=int)
  flags = parser.parse_args(arguments)
  found = count(flags.env, flags.num_agents)
  for name, sizes in (('sums', found.summed), ('gathers', found.gathered)):
    print(f'{len(sizes)} {name}, {sum(sizes):,} bytes')


if __name__ == '__main__':
  os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
  main()
