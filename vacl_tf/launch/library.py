# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands as functions, for notebooks and scripts.

They are available as vacl_tf.make_config, vacl_tf.train and so on.
"""

import contextlib
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vacl_tf import agents
from vacl_tf import bounds
from vacl_tf import builtin
from vacl_tf import config
from vacl_tf import entity_counts as entity_counts_lib
from vacl_tf import environments
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import rendering
from vacl_tf.environments import simulator
from vacl_tf.launch import command_line
from vacl_tf.launch import config_flags
from vacl_tf.launch import judging
from vacl_tf.launch import records
from vacl_tf.launch import run_folder
from vacl_tf.launch import session
from vacl_tf.launch import signals
from vacl_tf.training import export
from vacl_tf.training import policy_files

load_policy = policy_files.load_policy


class Trained(NamedTuple):
  """The result of training.

  Attributes:
    run_dir: folder with the policy, checkpoints, metrics and curves.
    rows: rows of metrics.csv that this call has added.
  """

  run_dir: pathlib.Path
  rows: list[dict[str, float]]

  @property
  def coverage(self) -> float:
    """Coverage in the last evaluation of the run, NaN if there was none."""
    return records.last_coverage(self.run_dir)

  def __repr__(self) -> str:
    told = [f'run_dir={str(self.run_dir)!r}', f'{len(self.rows)} new rows']
    if self.rows:
      told.append(f'{self.rows[-1]["env_steps"]:,.0f} env steps')
    with contextlib.suppress(command_line.UsageError):  # It may be gone.
      told.append(f'coverage {self.coverage:.3f}')
    return f'<Trained: {", ".join(told)}>'


def make_config(
  env: str,
  num_agents: int | None = None,
  *,
  num_boxes: int | None = None,
  preset: str = 'default',
  agent: str | None = None,
  curriculum: str | None = None,
  entity_counts: entity_counts_lib.Path | None = None,
  seed: int = 0,
  changes: Mapping[str, Any] | None = None,
) -> config.Config:
  """Returns the constants of a run.

  Args:
    env: name of the task.
    num_agents: number of agents to train for; None for num_boxes or the last of
      entity_counts, if one is given, or else the task's own number.
    num_boxes: number of boxes, if the task has any; None for as many as agents.
    preset: name of the preset to start from.
    agent: name of the agent; None for the task's own.
    curriculum: name of the curriculum; None for the default one.
    entity_counts: counts to train one after another, like '4,8,16', (4, 8, 16)
      or [(2, 2), (4, 4)]; '' for no entity progression, None for the default.
    seed: root of all randomness.
    changes: other constants to change, like {'ppo.clip': 0.1};
      docs/configuration.md lists them. Those that an argument above sets are
      refused.

  Raises:
    ValueError: the config is not possible; the message says what is allowed.
  """
  for name in (changes or {}).keys() & config_flags.CHOOSE_PRESETS.keys():
    raise ValueError(
      f'changes: other constants depend on {name}; give '
      f'{config_flags.CHOOSE_PRESETS[name]}={changes[name]!r} instead'
    )
  cfg = presets.make(
    env=env,
    num_agents=num_agents,
    num_boxes=num_boxes,
    preset=preset,
    agent=agent,
    curriculum=curriculum,
    path=entity_counts_lib.as_text(entity_counts),
    seed=seed,
  )
  cfg = overrides.replace(cfg, dict(changes or {}))
  bounds.check(cfg)
  return cfg


def make_length(
  cfg: config.Config,
  changes: Mapping[str, Any] | None = None,
  length: config.RunLength | None = None,
) -> config.RunLength:
  """Returns when a run ends, is evaluated and saved.

  Args:
    cfg: constants of the run.
    changes: {field: value} of `config.RunLength`.
    length: what is changed; None for the preset's.

  Raises:
    ValueError: a value is not possible; the message says what is allowed.
  """
  length = length or presets.run_length(cfg)
  length = overrides.replace(length, dict(changes or {}))
  bounds.check_leaves(length)
  steps = (
    cfg.training.num_tasks * cfg.environment.horizon * cfg.training.num_rollouts
  )
  if length.num_env_steps < steps:
    raise ValueError(
      f'num_env_steps={length.num_env_steps} is below one iteration; give at '
      f'least {steps} (num_tasks * horizon * num_rollouts)'
    )
  return length


def make_worlds(cfg: config.Config) -> tuple[base.World, ...]:
  """Returns a world for each entity count, in the order of training.

  Raises:
    ImportError: the simulator of the world is not installed.
    ValueError: the agent can't play the world.
  """
  envs = environments.load_all(cfg)
  check_playable(cfg, envs[-1])
  return envs


def check_playable(cfg: config.Config, env: base.World) -> None:
  """Raises ValueError if the agent can't play a world, or be exported."""
  agents.check(
    cfg, env.roles, lambda: checked_simulator.first_observations(env)
  )
  if cfg.agent.name not in builtin.AGENTS:
    try:
      export.check(agents.make(cfg, env.roles), env.roles)
    except ValueError as error:
      raise ValueError(f'agent={cfg.agent.name}: {error}') from error


def _checked_worlds(
  cfg: config.Config, given: Sequence[base.World]
) -> tuple[base.World, ...]:
  """Returns a user's worlds, if they fit a config.

  Raises:
    ValueError: the worlds do not fit, or the agent can't play them.
  """
  worlds = tuple(given) if isinstance(given, Sequence) else (given,)
  wanted = [(x, cfg.environment.horizon) for x in entity_counts_lib.path(cfg)]
  found = [
    (world.counts, world.horizon)
    if isinstance(world, base.World)
    else type(world).__name__
    for world in worlds
  ]
  if found != wanted:
    raise ValueError(
      f'envs: expected a world for each (entity counts, horizon) of '
      f'{wanted}, given {found}; environments.load_all(cfg) makes them'
    )
  check_playable(cfg, worlds[-1])
  return worlds


def default_run_dir(cfg: config.Config) -> str:
  """Returns the default folder of a run.

  Its name includes the preset, agent and curriculum that are not the task's
  own.
  """
  count = entity_counts_lib.spelled(cfg.environment.counts)
  usual = presets.make(env=cfg.environment.name)
  others = [
    given
    for given, default in (
      (cfg.preset, usual.preset),
      (cfg.agent.name, usual.agent.name),
      (cfg.curriculum.name, usual.curriculum.name),
    )
    if given != default
  ]
  name = '_'.join([cfg.environment.name, f'n{count}', *others, f's{cfg.seed}'])
  return f'runs/{name}'


def train(
  cfg: config.Config | None = None,
  run_dir: str | pathlib.Path | None = None,
  *,
  envs: Sequence[base.World] | None = None,
  restart: bool = False,
  on_row: Callable[[dict[str, float]], None] = lambda row: None,
  **length: Any,
) -> Trained:
  """Trains as `launch.main` does, or resumes the run in the folder.

  A process may train several times. After Ctrl-C the same call resumes the run.

  Args:
    cfg: config from `make_config`; None for that of the run in run_dir, whose
      length is then the default.
    run_dir: folder of the run; None for one in runs/ named after the task.
    envs: your own worlds, as environments.load_all(cfg) returns them, or None.
    restart: whether to set aside a run that is there; leave it out to resume.
    on_row: called with each row of metrics.csv, as numbers by name.
    **length: fields of `config.RunLength`, such as num_env_steps=1_000_000.

  Raises:
    ValueError: the config, the length or a user's world is not possible, the
      folder can't be used, or memory is too small.
    ImportError: the simulator of the world is not installed.
    curriculum.base.CurriculumError: a user's curriculum broke its contract.
    training.loop.DivergedError, training.files.WriteError: numbers became
      infinite, or the disk is full; the last checkpoint is good.
    KeyboardInterrupt, SystemExit: Ctrl-C or SIGTERM came; the run was saved
      first. Only calls in the main thread notice signals.
    BaseException: on_row raised it; the run was saved first.
  """
  began = time.monotonic()
  cfg, usual = _begun(run_dir) if cfg is None else (cfg, None)
  bounds.check(cfg)
  run_length = make_length(cfg, length, usual)
  worlds = make_worlds(cfg) if envs is None else _checked_worlds(cfg, envs)
  rows: list[dict[str, float]] = []

  def note(row: dict[str, float]) -> None:
    rows.append(row)
    on_row(row)

  with _held(run_dir or default_run_dir(cfg), cfg, restart) as (path, asked):
    code = session.train(
      *(cfg, run_length, worlds, path, asked), began=began, on_row=note
    )
  _leave(code, asked)
  return Trained(path.absolute(), rows)


def _begun(
  run_dir: str | pathlib.Path | None,
) -> tuple[config.Config, config.RunLength]:
  """Returns the config and the length of the run in a folder."""
  if run_dir is None:
    raise ValueError('give a cfg, or the run_dir of a run to resume')
  path = command_line.folder(run_dir)
  return records.read_config(path), records.read_length(path)


def evaluate(
  run_dir: str | pathlib.Path | None = None,
  *,
  saved_model: str | pathlib.Path | None = None,
  num_agents: int | None = None,
  num_boxes: int | None = None,
  num_tasks: int = 500,
  horizon: int | None = None,
  seed: int = 0,
  is_greedy: bool = True,
  run_graph: bool = False,
  video: str | pathlib.Path | None = None,
) -> dict[str, Any]:
  """Plays fresh target tasks, as `launch.evaluate --json` does.

  Args:
    run_dir: folder of a run, in progress or finished.
    saved_model: folder of an exported policy to play instead of run_dir.
    num_agents: agents in each world; None for as many as in training.
    num_boxes: boxes in each world; None for as many as num_agents, if that is
      given, or else as in training.
    num_tasks: number of tasks, 2 to 100,000.
    horizon: steps of an episode; None for as many as in training.
    seed: seed of tasks and actions.
    is_greedy: whether the most likely action is taken.
    run_graph: whether to run the program in the saved model; use this only if
      you trust its author.
    video: film of four episodes to write, FILE.gif or FILE.mp4.

  Returns:
    Coverage and success, each as {'mean', 'low', 'high'}, what was played, and
    the path of the video.

  Raises:
    ValueError: there is no such world, a number is out of range, the policy
      can't play, the video can't be made, or a user's world fails.
    tensorflow.errors.OpError, TypeError: the graph of the policy can't play.
  """
  _check_played(num_tasks, seed, horizon)
  if video is not None:
    rendering.check_suffix(pathlib.Path(video))
  places = (x and command_line.folder(x) for x in (run_dir, saved_model))
  policy = judging.load(*places, run_graph)
  counts = judging.wanted_counts(policy.world, num_agents, num_boxes)
  world = judging.make_world(policy.world, counts, horizon)
  options = judging.Options(int(num_tasks), int(seed), is_greedy)
  found = judging.judge(policy, world, options)
  if video is not None:
    found['video'] = judging.film(policy, world, options, str(video))
  return found


def _check_played(num_tasks: int, seed: int, horizon: int | None) -> None:
  """Raises ValueError if a number is out of range."""
  bounds.check_value('num_tasks', num_tasks, int, bounds.JUDGED_TASKS)
  bounds.check_leaves(config.Config(seed=seed))
  if horizon is not None:
    bounds.check_leaves(config.EnvironmentConfig(horizon=horizon))


@contextlib.contextmanager
def _held(
  run_dir: str | pathlib.Path, cfg: config.Config, restart: bool
) -> Iterator[tuple[pathlib.Path, signals.Asked]]:
  """Locks a run folder; yields its path and whether to stop."""
  path = command_line.folder(run_dir)
  with (
    run_folder.hold(path, cfg, session.note, restart) as path,
    _signals() as asked,
    simulator.out_of_graphs(),
  ):
    yield path, asked


def _leave(code: int, asked: signals.Asked) -> None:
  """Raises KeyboardInterrupt or SystemExit if a signal came."""
  # One that came too late to stop the run is passed on to the caller.
  code = code or (asked.number and 128 + asked.number)
  if code == 128 + signal.SIGINT:
    raise KeyboardInterrupt
  if code:
    sys.exit(code)


def _signals() -> contextlib.AbstractContextManager[signals.Asked]:
  """Notes signals without ending the process; only in the main thread."""
  if threading.current_thread() is threading.main_thread():
    return signals.noted(patience=sys.maxsize)
  return contextlib.nullcontext(signals.Asked())
