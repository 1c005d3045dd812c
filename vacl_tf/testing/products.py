# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs two iterations of any task with any agent and any curriculum."""

import functools
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import tensorflow as tf

from vacl_tf import agents
from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.testing import tiny
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_NUM_ITERATIONS = 2
# Curricula that need the `goals` of a task space.
_NEED_GOALS = ('hindsight', 'amigo')


class Product(NamedTuple):
  """A combination of task, agent and curriculum, by name."""

  task: str
  agent: str
  curriculum: str


def each_once() -> list[Product]:
  """Returns products with each task-agent pair and each curriculum."""
  names = catalog.CURRICULA.names()
  # Curricula that do not suit all tasks come first.
  waiting = sorted(names, key=lambda name: name not in _NEED_GOALS)
  pairs, found = list(_pairs()), []
  while waiting or len(found) < len(pairs):
    task, agent = pairs[len(found) % len(pairs)]
    suiting = (x for x in (*waiting, *names) if suits(task, x))
    name = next(suiting)
    waiting = [x for x in waiting if x != name]
    found.append(Product(task, agent, name))
  return found


def all_products() -> list[Product]:
  """Returns all combinations that suit each other."""
  return [
    Product(*pair, curriculum)
    for curriculum in catalog.CURRICULA.names()
    for pair in _pairs()
    if suits(pair[0], curriculum)
  ]


def _pairs() -> Iterator[tuple[str, str]]:
  """Yields all pairs of task and agent."""
  return itertools.product(catalog.TASKS.names(), catalog.AGENTS.names())


@functools.cache
def suits(task: str, curriculum: str) -> bool:
  """Returns whether a task has what a curriculum needs to know."""
  if curriculum not in _NEED_GOALS:
    return True
  [env] = environments.load_all(presets.make(env=task, path=''))
  return bool(env.task_space.goals)


def check(test: tf.test.TestCase, product: Product) -> None:
  """Checks that a run of a product is finite and changes most variables."""
  cfg = tiny.shrunk(
    presets.make(
      env=product.task,
      agent=product.agent,
      curriculum=product.curriculum,
      path='',
    )
  )
  bounds.check(cfg)
  envs = environments.load_all(cfg)
  agents.check(cfg, envs[-1].roles)
  run = run_lib.Run(cfg, envs)
  programs = programs_lib.Programs(run, envs, cfg, use_xla=False)
  before = [x.numpy() for x in run.agent.variables]
  for _ in range(_NUM_ITERATIONS):
    metrics = loop.iterate(run, programs, cfg)
  for name, value in metrics.items():
    test.assertTrue(math.isfinite(value), name)
  changed = [
    not tf.reduce_all(old == new)
    for old, new in zip(before, run.agent.variables, strict=True)
  ]
  test.assertGreater(sum(changed), len(changed) / 2)
  scores = loop.evaluate(run, programs)
  test.assertBetween(scores['coverage'], 0.0, 1.0)
  steps = cfg.training.num_tasks * cfg.environment.horizon
  steps *= cfg.training.num_rollouts * _NUM_ITERATIONS
  probed = int(run.env_steps) - steps
  test.assertBetween(probed, 0, steps if run.curriculum.can_probe else 0)
