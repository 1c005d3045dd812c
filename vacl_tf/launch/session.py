# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A run is trained or resumed in its folder."""

import contextlib
import pathlib
from collections.abc import Callable, Iterator

import tensorflow as tf

from vacl_tf import config
from vacl_tf import launch
from vacl_tf import overrides
from vacl_tf.environments import base
from vacl_tf.environments import map_layout
from vacl_tf.launch import command_line
from vacl_tf.launch import memory
from vacl_tf.launch import plot
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import progress_films
from vacl_tf.launch import provenance
from vacl_tf.launch import records
from vacl_tf.launch import run_folder
from vacl_tf.launch import set_pictures
from vacl_tf.launch import signals
from vacl_tf.training import checkpoints
from vacl_tf.training import export
from vacl_tf.training import files
from vacl_tf.training import footprint
from vacl_tf.training import history
from vacl_tf.training import loggers
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas
from vacl_tf.training import run as run_lib

_MANY_SECONDS = 600.0  # Of an iteration, before which a user is told.


def note(text: str) -> None:
  """Prints what a user may want to know of."""
  print('note:', text)


def train(
  cfg: config.Config,
  length: config.RunLength,
  envs: tuple[base.World, ...],
  path: pathlib.Path,
  asked: signals.Asked,
  group: replicas.Replicas = replicas.ALONE,
  began: float = launch.BEGAN,
  on_row: Callable[[dict[str, float]], None] = lambda row: None,
) -> int:
  """Trains or resumes in a run directory; returns the exit code.

  Args:
    cfg: all constants.
    length: when to end, evaluate and save.
    envs: the world with each entity count, the one to master last.
    path: the folder, which is held.
    asked: to end.
    group: who else trains it.
    began: time.monotonic() from when on wall time counts.
    on_row: takes each row.
  """
  run = run_lib.Run(cfg, envs)
  _check_cost(run, envs, cfg, group.count)
  checkpointer = checkpoints.Checkpointer(
    run, path / run_folder.CHECKPOINTS, length.num_checkpoints
  )
  is_resumed = checkpointer.restore(note)
  group.copy_from_chief(run.variables)
  export.recover(path / run_folder.POLICY)
  if is_resumed and loop.is_finished(run, length):
    return _leave_as_it_is(run, envs[-1], cfg, path)
  _begin(run, cfg, length, path, checkpointer, is_resumed, group.count)
  programs = programs_lib.Programs(run, envs, cfg, replicas=group)
  written = _outputs(run, envs[-1], cfg, length, path, checkpointer, on_row)
  with contextlib.closing(programs), written as (log, save):
    is_done = loop.train(
      *(run, programs, cfg, length),
      log=asked.whole(log),
      save=asked.whole(save),
      should_stop=_Stop(asked),
      began=began,
    )
  if not is_done:
    code = _code_of(asked, group)
    asked.whole(_export)(run, envs[-1], cfg, path)
    print(f'Stopped and saved in {path}; the same command resumes.')
    return code
  print(f'Finished: {_summary(run)}')
  return _leave(run, envs[-1], cfg, path)


def _check_cost(
  run: run_lib.Run,
  envs: tuple[base.World, ...],
  cfg: config.Config,
  num_replicas: int,
) -> None:
  """Refuses what takes too much memory; says so if it takes much time."""
  memory.check(footprint.estimate(run, envs, cfg))
  seconds = footprint.iteration_seconds(envs, cfg) / num_replicas
  if seconds > _MANY_SECONDS:
    note(
      f'an iteration may take {seconds / 60.0:,.0f} minutes; it is shorter '
      'with fewer agents or config.training.num_tasks'
    )


def _begin(
  run: run_lib.Run,
  cfg: config.Config,
  length: config.RunLength,
  path: pathlib.Path,
  checkpointer: checkpoints.Checkpointer,
  is_resumed: bool,
  num_replicas: int,
) -> None:
  """Writes what a run has before its first iteration, and says so."""
  imports = command_line.imports()
  if is_resumed:
    was = records.read_length(path)
    if loop.is_finished(run, was):  # Then its end has what was not due.
      _cut(run, path, was.evaluation_interval, was.checkpoint_interval)
    else:
      _cut(run, path)
  provenance.write(
    *(path / run_folder.CONFIG, cfg, length, imports, num_replicas, is_resumed)
  )
  if not is_resumed:
    checkpointer.save()  # Results are never without one; see run_folder.
  verb = 'Resuming' if is_resumed else 'Training'
  by = '' if num_replicas == 1 else f' with {num_replicas} replicas'
  print(f'{verb} in {path}{by}: {_summary(run)}')
  # The first row comes a minute later; without this it looks as if it hung.
  print('compiling ...', flush=True)


def _cut(
  run: run_lib.Run,
  path: pathlib.Path,
  evaluation_interval: int = 1,
  checkpoint_interval: int = 1,
) -> None:
  """Drops what was logged after the state of a run.

  Args:
    run: that was restored.
    path: its folder.
    evaluation_interval: what was evaluated between is dropped, too.
    checkpoint_interval: so is what was kept of the curriculum between.
  """
  iteration = int(run.iteration)
  loggers.CsvLogger.cut(
    path / run_folder.METRICS, iteration, evaluation_interval, note
  )
  loggers.TensorBoardLogger.cut(
    path / run_folder.EVENTS, int(run.env_steps), note
  )
  history.cut(path / run_folder.SNAPSHOTS, iteration, checkpoint_interval, note)


def _code_of(asked: signals.Asked, group: replicas.Replicas) -> int:
  """Returns the exit code of replicas that stopped, the same for all."""
  # Only one of them may have been asked to, or has heard of it.
  numbers = group.gather(tf.constant([[asked.number]], tf.float32))
  return 128 + int(tf.reduce_max(numbers))


@contextlib.contextmanager
def _outputs(
  run: run_lib.Run,
  env: base.World,
  cfg: config.Config,
  length: config.RunLength,
  path: pathlib.Path,
  checkpointer: checkpoints.Checkpointer,
  on_row: Callable[[dict[str, float]], None],
) -> Iterator[tuple[Callable[[dict[str, float]], None], Callable[[], None]]]:
  """Yields what logs a row of a run, and what saves it with all its rows."""
  with contextlib.ExitStack() as opened:
    outputs: list[loggers.Logger] = []
    events = loggers.TensorBoardLogger(
      path / run_folder.EVENTS,
      overrides.leaves(cfg),
      int(run.env_steps),
      float(run.wall_seconds),
    )
    layout = _layout(cfg)
    films = progress_films.Films(run.judged, env, int(run.env_steps))
    for output in (
      loggers.CsvLogger(path / run_folder.METRICS),
      events,
      loggers.TerminalLogger(length),
    ):
      outputs.append(output)
      opened.callback(output.close)

    def log(row: dict[str, float]) -> None:
      for output in outputs:
        output.write(row)
      iteration, env_steps = int(row['iteration']), int(row['env_steps'])
      if films.is_due(env_steps) and (film := films.shoot()) is not None:
        events.write_film('policy', film, env_steps)
      if history.is_due(iteration, length.checkpoint_interval):
        snapshots = path / run_folder.SNAPSHOTS
        history.record(snapshots, run.curriculum, iteration)
        if layout is not None:
          sets = set_pictures.draw(layout, run.curriculum.history())
          named = {f'curriculum/{kind}': x for kind, x in sets.items()}
          events.write_pictures(named, env_steps)
      on_row(row)

    def save() -> None:
      for output in outputs:
        output.sync()
      checkpointer.save()

    yield log, save


def _layout(cfg: config.Config) -> map_layout.MapLayout | None:
  """Returns the map of a run's tasks, None if there is none to be had.

  Raises:
    base.WorldError: a user's map is wrong, which is better told now than when
      the run is finished.
  """
  try:
    return plot_curriculum.layout_of(cfg)
  except ImportError:
    return None  # The picture at the end of the run says why.


class _Stop:
  """Whether to save and stop, asked when there is something to save."""

  def __init__(self, asked: signals.Asked) -> None:
    self._asked = asked

  def __call__(self) -> bool:
    self._asked.patience = max(self._asked.patience, 1)
    return self._asked.number != 0


def follow(
  cfg: config.Config,
  length: config.RunLength,
  envs: tuple[base.World, ...],
  group: replicas.Replicas,
) -> int:
  """Trains what the chief trains, writes nothing; returns the exit code."""
  run = run_lib.Run(cfg, envs, group.index)
  group.copy_from_chief(run.variables)
  if loop.is_finished(run, length):
    return 0
  programs = programs_lib.Programs(run, envs, cfg, replicas=group)
  with signals.noted() as asked, contextlib.closing(programs):
    is_done = loop.train(
      run,
      programs,
      cfg,
      length,
      log=lambda row: None,
      save=lambda: None,
      should_stop=_Stop(asked),
      began=launch.BEGAN,
    )
  return 0 if is_done else _code_of(asked, group)


def _export(
  run: run_lib.Run, env: base.World, cfg: config.Config, path: pathlib.Path
) -> None:
  """Writes the policy, in place of an earlier one."""
  directory = path / run_folder.POLICY
  export.export(run.judged, env, cfg, directory, loop.progress(run))


def _leave(
  run: run_lib.Run, env: base.World, cfg: config.Config, path: pathlib.Path
) -> int:
  """Writes what a finished run leaves for others; returns the exit code."""
  _export(run, env, cfg, path)
  history.record(
    path / run_folder.SNAPSHOTS, run.curriculum, int(run.iteration)
  )
  for name in run_folder.PICTURES:
    if (path / name).is_dir():
      beside = files.set_aside(path / name, '.broken')
      note(f'{path / name} is a folder; it is now {beside.name}')
  print(f'  policy  {path / run_folder.POLICY}')
  try:
    # Notes would be on steps that are missing because the run ended early.
    drawn = plot.plot([path], path / run_folder.CURVES, note=lambda text: None)
    print(f'  curves  {", ".join(map(str, drawn))}')
  except records.NothingYetError:  # It was stopped before the first one.
    print('  curves  none, as nothing was evaluated')
  return 0


def _leave_as_it_is(
  run: run_lib.Run, env: base.World, cfg: config.Config, path: pathlib.Path
) -> int:
  """Leaves a run that was found finished; returns the exit code."""
  _cut(run, path)  # By another length it may be so before its rows end.
  print(f'{path} is finished: {_summary(run)}. Nothing to train.')
  return _leave(run, env, cfg, path)


def _summary(run: run_lib.Run) -> str:
  coverage = float(run.coverage[-1, -1])
  seen = '' if coverage != coverage else f', coverage {coverage:.3f}'
  return (
    f'iteration {int(run.iteration)}, {int(run.env_steps):,} env steps, '
    f'{float(run.wall_seconds):.0f} s{seen}'
  )
