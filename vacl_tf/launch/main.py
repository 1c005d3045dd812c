# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains: python -m vacl_tf.launch.main --env=simple_spread --num_agents=4.

The same command with the same run_dir resumes the run, as does --run_dir
without constants. Every constant of the task, the agent and the curriculum is a
flag. --import=my_task.py registers tasks, agents and curricula of your own.
"""

import contextlib
import functools
import os
import pathlib
from collections.abc import Sequence

from absl import flags

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import config_flags
from vacl_tf.launch import config_table
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import plot
from vacl_tf.launch import run_folder
from vacl_tf.launch import signals

with command_line.quiet_imports():
  import tensorflow as tf

from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.environments import base
from vacl_tf.environments import simulator
from vacl_tf.environments import task_spec
from vacl_tf.launch import devices
from vacl_tf.launch import library
from vacl_tf.launch import provenance
from vacl_tf.launch import records
from vacl_tf.launch import replication
from vacl_tf.launch import session
from vacl_tf.launch import xla_cache
from vacl_tf.training import checkpoints
from vacl_tf.training import files
from vacl_tf.training import loop
from vacl_tf.training import replicas

_WHAT, _WHERE = 'What is trained', 'Where, and how long'

_ENV = command_line.Flag(flags.DEFINE_string, 'env', None, 'Task.', _WHAT)
_PRESET = command_line.Flag(
  flags.DEFINE_string, 'preset', 'default', 'Constants to start from.', _WHAT
)
_NUM_AGENTS = command_line.Flag(
  flag_kinds.whole,
  'num_agents',
  None,
  'Number of agents to train for. Default: as many as --num_boxes if that is '
  "given, or else the task's own number.",
  _WHAT,
)
_NUM_BOXES = command_line.Flag(
  flag_kinds.whole,
  'num_boxes',
  None,
  'Number of boxes to train for, if the task has any. Default: as many as '
  'agents.',
  _WHAT,
)
_ENTITY_COUNTS = command_line.Flag(
  flags.DEFINE_string,
  'entity_counts',
  None,
  'Entity counts to train one after another, like 4,8,16 or 2x2,4x2,4x4; '
  'empty: no entity progression. Default: if the curriculum grows, counts '
  "double from the task's own; with preset paper, agents before boxes.",
  _WHAT,
)
_AGENT = command_line.AGENT.meaning('Agent.', _WHAT)
_CURRICULUM = command_line.Flag(
  flags.DEFINE_string, 'curriculum', None, 'Curriculum.', _WHAT
)
_SEED = command_line.SEED.meaning(
  'Root of all randomness: the same seed gives the same run.', _WHAT
)
_RUN_DIR = command_line.RUN_DIR.meaning(
  'Folder of the run. A run that has begun there is resumed; its constants and '
  'its length may be left out. Default: '
  'runs/ENV_nCOUNT_sSEED; the name of a preset, agent or curriculum other than '
  "the task's own stands before the seed.",
  _WHERE,
)
_RESTART = command_line.Flag(
  flag_kinds.switch,
  'restart',
  False,
  'Train from scratch; a run in run_dir is first renamed to run_dir.old1.',
  _WHERE,
)
_PRINT_CONFIG = command_line.Flag(
  flag_kinds.switch,
  'print_config',
  False,
  'Print the constants that the run would have and where each comes from, '
  'without training.',
  _WHERE,
)

_REMEDY = 'give another run_dir, or --env and --restart, which sets it aside'

_define = command_line.defines(
  *(_ENV, _NUM_AGENTS, _NUM_BOXES, _ENTITY_COUNTS, _CURRICULUM, _AGENT),
  *(_PRESET, _SEED, _RUN_DIR, _RESTART, _PRINT_CONFIG),
)
_define_machine = command_line.defines(
  *(replication.NUM_REPLICAS, devices.DEVICE, devices.THREADS),
  *(xla_cache.FOLDER, command_line.IMPORT),
)


def define(arguments: Sequence[str]) -> None:
  """Defines a flag for each constant of the task, agent and curriculum.

  Args:
    arguments: the command line, which chooses task, agent and curriculum.

  Raises:
    UsageError: the chosen task, agent or curriculum does not exist.
  """
  _define(arguments)

  with command_line.as_usage_error(ValueError):
    task, cfg = _chosen(arguments)
  length = presets.run_length(cfg)
  command_line.define_leaves('', length, groups=lambda name: _WHERE)
  _define_machine(arguments)
  config_flags.define(cfg)
  for flag, names, default in (
    (_ENV, catalog.TASKS.names(), _task_name(None)),
    (_PRESET, task.presets, _PRESET.default),
    (_AGENT, catalog.AGENTS.names(), task.agent),
    (
      _CURRICULUM,
      catalog.CURRICULA.names(),
      config.TaskExpansionConfig().name,
    ),
  ):
    about = f'One of {", ".join(names)}. Default: {default}.'
    command_line.describe(flag.name, about)


def _chosen(
  arguments: Sequence[str],
) -> tuple[task_spec.TaskSpec, config.Config]:
  """Returns the task and the constants that unparsed arguments choose.

  Raises:
    ValueError: the task, the agent or the curriculum does not exist.
  """
  last = functools.partial(command_line.last, arguments)

  def number(flag: command_line.Flag) -> int | None:
    text = last(flag)
    return None if text is None else int(text)

  task = catalog.TASKS.get(_task_name(last(_ENV)))
  agent = last(_AGENT)
  curriculum = last(_CURRICULUM)
  cfg = catalog.skeleton(
    task.world,
    agent or task.agent,
    curriculum or config.TaskExpansionConfig().name,
  )
  # Errors in the other arguments are reported after parsing.
  with contextlib.suppress(ValueError):
    cfg = presets.make(
      env=task.name,
      num_agents=number(_NUM_AGENTS),
      num_boxes=number(_NUM_BOXES),
      preset=last(_PRESET) or _PRESET.default,
      agent=agent,
      curriculum=curriculum,
      path=last(_ENTITY_COUNTS),
    )
  return task, cfg


def _task_name(given: str | None) -> str:
  """Returns the given task name, or else the name of the first task."""
  return catalog.TASKS.names()[0] if given is None else given


def _begun() -> pathlib.Path | None:
  """Returns the folder of --run_dir, if its run has to say the constants."""
  name = command_line.RUN_DIR.value
  if not name or any(map(config_flags.is_constant, _given_flags())):
    return None
  path = command_line.folder(name)
  return path if os.path.lexists(path / run_folder.CONFIG) else None


def make_config() -> config.Config:
  """Returns the config that the flags ask for, or that of a run to resume.

  Raises:
    UsageError: the flags do not make a valid config.
  """
  if path := _begun():
    cfg = records.read_config(path, _REMEDY)
    with command_line.as_usage_error(ValueError):
      bounds.check(cfg)
    return cfg
  counts = _ENTITY_COUNTS.value
  chosen = {
    'env': _task_name(_ENV.value),
    'num_agents': _NUM_AGENTS.value,
    'num_boxes': _NUM_BOXES.value,
    'preset': _PRESET.value,
    'agent': _AGENT.value,
    'curriculum': _CURRICULUM.value,
    'seed': command_line.SEED.value,
  }
  with command_line.as_usage_error(ValueError):
    cfg = presets.make(**chosen, path=counts)
    changes = config_flags.given(cfg)
    return library.make_config(**chosen, entity_counts=counts, changes=changes)


def make_length(cfg: config.Config) -> config.RunLength:
  """Returns the run length that the flags ask for."""
  changes = command_line.given_leaves('', config.RunLength())
  path = _begun()
  usual = records.read_length(path) if path else None
  with command_line.as_usage_error(ValueError):
    return library.make_length(cfg, changes, usual)


def _given_flags() -> list[str]:
  return [name for name in flags.FLAGS if flags.FLAGS[name].present]


def _origins(cfg: config.Config, length: config.RunLength) -> dict[str, str]:
  """Returns where fields come from that flags or the run in a folder set."""
  leaf_of = {flag: leaf for leaf, flag in config_flags.CHOOSE_PRESETS.items()}
  given = (
    leaf_of.get(name, name.removeprefix(config_flags.PREFIX))
    for name in _given_flags()
  )
  of_run = {**overrides.leaves(cfg), **overrides.leaves(length)}
  return {
    **dict.fromkeys(of_run if _begun() else (), 'run_dir'),
    **dict.fromkeys(given, 'command line'),
  }


def run_dir(cfg: config.Config) -> pathlib.Path:
  """Returns the folder that --run_dir names, or the default one."""
  name = command_line.RUN_DIR.value or library.default_run_dir(cfg)
  return command_line.folder(name)


def main() -> int:
  """Trains as the flags say; returns the exit code."""
  cfg = make_config()
  length = make_length(cfg)
  if _PRINT_CONFIG.value:
    print(config_table.page(cfg, length, _origins(cfg, length)))
    return 0
  devices.bound_threads()
  xla_cache.use(session.note)
  with replication.joined(
    lambda count: bounds.divides(cfg, count),
    lambda: provenance.shared(cfg, length),
  ) as group:
    code = _main(cfg, length, group)
    # A failed follower exits at once, so that the chief does not wait for it.
    # Otherwise it ends in `joined`, together with the others.
    if code == command_line.FAILURE and not group.is_chief:
      replication.leave(code)
    return code


def _main(
  cfg: config.Config, length: config.RunLength, group: replicas.Replicas
) -> int:
  """Trains as one of the replicas; returns the exit code."""
  with command_line.as_usage_error(ImportError, ValueError):
    envs = library.make_worlds(cfg)
  path = run_dir(cfg)
  try:
    if not group.is_chief:
      return session.follow(cfg, length, envs, group)
    with (
      run_folder.hold(path, cfg, session.note, _RESTART.value) as path,
      signals.noted() as asked,
    ):
      return session.train(
        *(cfg, length, envs, path, asked, group),
        on_row=lambda row: xla_cache.keep(),
      )
  except checkpoints.UnusableError as error:
    raise command_line.UsageError(str(error)) from error
  except base.WorldError as error:
    return command_line.fail(f'env={cfg.environment.name}: {error}')
  except tf.errors.OpError as error:
    if (told := xla_cache.failure(error)) is not None:
      return command_line.fail(told)
    if (told := simulator.raised(error)) is None:
      raise
    return command_line.fail(f'env={cfg.environment.name}: {told}')
  except curriculum_base.UnsuitableError as error:
    raise command_line.UsageError(
      f'curriculum={cfg.curriculum.name}: {error}'
    ) from error
  except curriculum_base.CurriculumError as error:
    if (told := xla_cache.failure(error.__cause__)) is not None:
      return command_line.fail(told)  # Curricula are compiled, too.
    return command_line.fail(f'curriculum={cfg.curriculum.name}: {error}')
  except (files.WriteError, plot.UnwritableError) as error:
    return command_line.fail(
      f'{error}; what was saved before is kept, and the same command resumes '
      'from there when it can be written'
    )
  except loop.DivergedError as error:
    return command_line.fail(
      f'{error}; the last checkpoint in {path} is good: try a smaller '
      '--config.ppo.learning_rate in a new --run_dir'
    )


if __name__ == '__main__':
  command_line.start(main, define)
