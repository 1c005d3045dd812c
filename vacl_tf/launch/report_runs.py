# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The runs of a report, which may be unfinished or damaged."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf import reading
from vacl_tf.launch import command_line
from vacl_tf.launch import records

Note = Callable[[str], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
  """What could be read of a run.

  Attributes:
    path: folder of the run.
    cfg: config of the run, None if it can't be read.
    record: everything that curves need, None if a part of it is missing.
    columns: columns of metrics.csv, empty if it can't be read.
    facts: content of config.json, empty if it can't be read.
  """

  path: pathlib.Path
  cfg: config.Config | None
  record: records.Record | None
  columns: dict[str, np.ndarray]
  facts: dict[str, Any]

  def fact(self, name: str) -> dict[str, Any]:
    """Returns an object of config.json, empty if it is missing."""
    found = self.facts.get(name)
    return found if isinstance(found, dict) else {}


def read(paths: Sequence[pathlib.Path], note: Note) -> list[Run]:
  """Reads runs.

  Args:
    paths: folders of the runs.
    note: called with a message for everything that is missing.

  Raises:
    UsageError: none of the runs has anything to show.
  """
  if not paths:
    raise command_line.UsageError(
      'no run to report on; give --run_dirs=FOLDER or several with commas'
    )
  for path in paths:
    records.check_folder(path)
  distinct: dict[str, pathlib.Path] = {}
  for path in paths:
    distinct.setdefault(os.path.realpath(path), path)
  runs = [_read(path, note) for path in distinct.values()]
  found = [run for run in runs if run.cfg is not None or run.columns]
  if not found:
    names = ', '.join(str(run.path) for run in runs)
    remedy = records.meant(runs[0].path, 'give the run_dir of a run')
    raise command_line.UsageError(
      f'{names} has neither a config.json nor a metrics.csv that can be read; '
      f'{remedy}'
    )
  return found


def _read(path: pathlib.Path, note: Note) -> Run:
  """Reads what can be read of one run."""
  cfg, record, columns, facts = None, None, {}, {}
  try:
    facts = reading.read_json(path / 'config.json')
    cfg = records.read_config(path)
  except (FileNotFoundError, reading.UnreadableError):
    note(f'{path} has no config.json that can be read: no constants, no map')
  except command_line.UsageError as error:
    note(f'{error}: no constants, no map')
  try:
    columns = records.read_metrics(path / 'metrics.csv')
    if not columns['iteration'].size:
      columns = {}
      note(f'{path} has no iteration yet: no curves')
  except command_line.UsageError as error:
    note(f'{error}: no curves')
  if cfg is not None and columns:
    try:
      record = records.read(path)
    except command_line.UsageError as error:
      note(str(error))
  if record is not None and record.is_unfinished:
    note(
      f'{path} is not finished: {columns["env_steps"][-1]:,.0f} of '
      f'{record.length.num_env_steps:,} environment steps are shown'
    )
  return Run(path=path, cfg=cfg, record=record, columns=columns, facts=facts)


def of_preset(cfg: config.Config) -> config.Config:
  """Returns the preset's config of a run's task, agent and curriculum.

  Raises:
    ValueError: the preset no longer exists.
  """
  world = cfg.environment
  counts = dict(zip(world.count_fields, world.counts, strict=True))
  return presets.make(
    env=world.name,
    **counts,
    preset=cfg.preset,
    agent=cfg.agent.name,
    curriculum=cfg.curriculum.name,
    seed=cfg.seed,
  )


def changes(cfg: config.Config) -> list[tuple[str, Any, Any]]:
  """Returns leaves that differ: (name, preset's value, run's value).

  Raises:
    ValueError: the preset no longer exists.
  """
  wanted = overrides.leaves(of_preset(cfg))
  return [
    (name, wanted.get(name), value)
    for name, value in overrides.leaves(cfg).items()
    if wanted.get(name) != value
  ]
