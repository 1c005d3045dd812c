# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains or resumes a run in its folder."""

import contextlib
import math
import pathlib
from collections.abc import Callable, Iterator

import tensorflow as tf

from vacl_tf import config
from vacl_tf import launch
from vacl_tf import overrides
from vacl_tf.environments import base
from vacl_tf.environments import map_layout
from vacl_tf.launch import command_line
from vacl_tf.launch import import_digests
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

_MANY_SECONDS = 600.0  # Of an iteration; the user is told if it may be longer.


def note(text: str) -> None:
  """Prints a note for the user."""
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
    envs: the worlds, one per entity count, the final count last.
    path: the folder, whose lock is held.
    asked: the signals that ask to end.
    group: the processes that train the run.
    began: time.monotonic() from which wall time counts.
    on_row: called with each row; if it fails, the run is saved first.
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
    return _leave_as_it_is(run, envs[-1], cfg, length, path)
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
    print(_stopped(run, path))
    return code
  print(f'Finished: {_summary(run, path)}')
  return _leave(run, envs[-1], cfg, path)


def _check_cost(
  run: run_lib.Run,
  envs: tuple[base.World, ...],
  cfg: config.Config,
  num_replicas: int,
) -> None:
  """Raises UsageError if memory is too small; prints a note if time is long."""
  memory.check(footprint.estimate(run, envs, cfg))
  seconds = footprint.iteration_seconds(envs, cfg) / num_replicas
  if seconds > _MANY_SECONDS:
    note(
      f'an iteration may take {seconds / 60.0:,.0f} minutes; to shorten it, '
      'lower the number of agents or config.training.num_tasks'
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
  """Brings the files of a run to its state; prints that training begins."""
  imports = command_line.imports()
  if is_resumed:
    first = import_digests.of_run(path / run_folder.CONFIG)
    now = import_digests.of_files(imports)
    for name in import_digests.changed(first, now):
      note(f'{name} differs from the file with which this run began')
    was = records.read_length(path)
    if loop.is_finished(run, was):  # Its end was recorded, even if not due.
      _cut(run, path, was.evaluation_interval, was.checkpoint_interval)
    else:
      _cut(run, path)
  provenance.write(
    *(path / run_folder.CONFIG, cfg, length, imports, num_replicas, is_resumed)
  )
  if not is_resumed:
    checkpointer.save()  # There are no results without one; see run_folder.
  verb = 'Resuming' if is_resumed else 'Training'
  by = '' if num_replicas == 1 else f' with {num_replicas} replicas'
  print(f'{verb} in {path}{by}: {_summary(run, path)}')
  # The first row appears a minute later; until then it would seem to hang.
  print('compiling ...', flush=True)


def _cut(
  run: run_lib.Run,
  path: pathlib.Path,
  evaluation_interval: int = 1,
  checkpoint_interval: int = 1,
) -> None:
  """Drops what was logged after the checkpoint of a run.

  Args:
    run: the restored run.
    path: its folder.
    evaluation_interval: iterations between evaluations; the scores of other
      iterations are dropped, too.
    checkpoint_interval: iterations between snapshots of the curriculum; other
      snapshots are dropped, too.
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
  # Perhaps only one of them has received the signal.
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
  """Yields functions that log a row, and save a run with all its rows."""
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

    def save() -> None:
      for output in outputs:
        output.sync()
      checkpointer.save()

    yield _telling(on_row, log, save, lambda: loop.is_finished(run, length))


def _telling(
  on_row: Callable[[dict[str, float]], None],
  log: Callable[[dict[str, float]], None],
  save: Callable[[], None],
  is_finished: Callable[[], bool],
) -> tuple[Callable[[dict[str, float]], None], Callable[[], None]]:
  """Returns `log` and `save` which also tell a user's function of each row.

  If the function fails, the run is saved before its error is raised again.
  """
  errors: list[BaseException] = []

  def log_and_tell(row: dict[str, float]) -> None:
    log(row)
    try:
      on_row(row)
    except BaseException as error:
      errors.append(error)
      if not is_finished():  # Else `loop.train` saves what belongs to its end.
        save_and_raise()

  def save_and_raise() -> None:
    save()
    if errors:
      raise errors[0]

  return log_and_tell, save_and_raise


def _layout(cfg: config.Config) -> map_layout.MapLayout | None:
  """Returns the map of a run's tasks, None if there is none.

  Raises:
    base.WorldError: a user's map is wrong. The error comes at the start of the
      run rather than at its end.
  """
  try:
    return plot_curriculum.layout_of(cfg)
  except ImportError:
    return None  # The picture at the end of the run says why.


class _Stop:
  """Tells `loop.train` whether to save and stop.

  From the first call on there is something to save, so the first signal no
  longer ends the process at once.
  """

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
  """Trains with the chief, but writes nothing; returns the exit code."""
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
  """Writes the policy, which replaces an earlier one."""
  directory = path / run_folder.POLICY
  export.export(run.judged, env, cfg, directory, loop.progress(run))


def _leave(
  run: run_lib.Run, env: base.World, cfg: config.Config, path: pathlib.Path
) -> int:
  """Writes the results of a finished run; returns the exit code."""
  _export(run, env, cfg, path)
  history.record(
    path / run_folder.SNAPSHOTS, run.curriculum, int(run.iteration)
  )
  for name in run_folder.PICTURES:
    if (path / name).is_dir():
      beside = files.set_aside(path / name, '.broken')
      note(f'{path / name} is a folder; it was renamed to {beside.name}')
  print(f'  policy  {path / run_folder.POLICY}')
  try:
    # Notes would only be about steps missing because the run ended early.
    drawn = plot.plot([path], path / run_folder.CURVES, note=lambda text: None)
    print(f'  curves  {", ".join(map(str, drawn))}')
  except records.NothingYetError:  # It ended before the first evaluation.
    print('  curves  none, as nothing was evaluated')
  return 0


def _leave_as_it_is(
  run: run_lib.Run,
  env: base.World,
  cfg: config.Config,
  length: config.RunLength,
  path: pathlib.Path,
) -> int:
  """Writes the results of a run that had finished; returns the exit code."""
  # With another run length than before, a run may be finished at a checkpoint
  # that is earlier than its last rows.
  _cut(run, path)
  provenance.note_length(path / run_folder.CONFIG, length)
  print(f'{path} is finished: {_summary(run, path)}. Nothing to train.')
  return _leave(run, env, cfg, path)


def _stopped(run: run_lib.Run, path: pathlib.Path) -> str:
  where = _summary(run, path)
  return f'Stopped and saved in {path}: {where}; the same command resumes.'


def _summary(run: run_lib.Run, path: pathlib.Path) -> str:
  """Returns how far a run has come, and the last coverage in its folder.

  A checkpoint lacks the coverage of the closing evaluation.
  """
  seen = ''
  with contextlib.suppress(command_line.UsageError):
    coverage = records.last_coverage(path)
    seen = '' if math.isnan(coverage) else f', coverage {coverage:.3f}'
  return (
    f'iteration {int(run.iteration)}, {int(run.env_steps):,} env steps, '
    f'{float(run.wall_seconds):.0f} s{seen}'
  )
