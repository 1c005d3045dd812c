# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configuration: frozen dataclasses, and what may change on resume.

Every leaf is also a flag of `launch.main`, `--config.ppo.clip` for example.
"""

import dataclasses
import difflib
import itertools
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal

NUM_PARTS = 10  # Of a batch that mixes entity counts.
NUM_HEADS = 4  # Of the attention in policies that have a memory.


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvironmentConfig:
  """Which world.

  Attributes:
    name: see `environments.NAMES`.
    num_agents: agents in each world (n).
    num_boxes: boxes to lock; of Lock-and-Return alone, 0 elsewhere.
    horizon: steps of an episode (T).
  """

  name: str = 'simple_spread'
  num_agents: int = 4
  num_boxes: int = 0
  horizon: int = 70


@dataclasses.dataclass(frozen=True, kw_only=True)
class HideAndSeekConfig:
  """Variants of hide-and-seek (task sheet, section 8).

  Attributes:
    sees_birthplace: Lock-and-Return: whether the policy sees where its agent
      was born, instead of having to remember it.
    has_box: Ramp-Use: whether there is a box in the room.
    reward_scale: Ramp-Use: what a step in which the hider is seen pays, and
      any other one costs. Paper: 1; released code: 0.1.
    reach: Ramp-Use: how near an object must be to be grabbed or locked, in
      metres.
  """

  sees_birthplace: bool = False
  has_box: bool = True
  reward_scale: float = 1.0
  reach: float = 0.25


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetworkConfig:
  """Attention policy and value (section 5 of the algorithm sheet).

  Attributes:
    hidden_size: units of every layer (H).
    activation: of the blocks.
    attention_gain: of the orthogonal matrices that scores of attention are made
      with, at the start.
    num_hops: how often an agent of the particle world looks over its entities,
      the first time asking with its own state, then with what it has found.
    frame: how an agent sees its world: `room` as the world tells it, `own` from
      where it stands, with directions and nearness of entities (hide-and-seek:
      bearings, too). In open squares, those of Simple-Spread and Push-Ball, it
      does so in the axes in which it is itself in a certain octant.
  """

  hidden_size: int = 64
  activation: Literal['relu', 'tanh'] = 'relu'
  attention_gain: float = 0.125
  num_hops: int = 1
  frame: Literal['room', 'own'] = 'room'


@dataclasses.dataclass(frozen=True, kw_only=True)
class PpoConfig:
  """Proximal policy optimisation (section 4 of the algorithm sheet).

  Attributes:
    learning_rate: of both Adams, at first.
    annealed_after: environment steps T; after t > T of them learning rate and
      entropy bonus are (T / t) ** annealing_power as large as at first. 0: they
      always stay so.
    annealing_power: how steeply they fall.
    adam_epsilon: of both Adams.
    discount: gamma.
    trace_decay: lambda of generalized advantage estimation.
    clip: bound on the probability ratio's distance from 1.
    value_clip: bound on the value's step away from the acting value.
    huber_delta: where the value loss turns linear.
    center_rewards: whether rewards are counted from their mean over an
      iteration. Where an episode has a fixed length and its end is foreseen
      that changes no advantage, and spares the value to learn what is always
      paid.
    least_deviation: that advantages are divided by when they are normalised;
      before anything is ever achieved they are nothing but errors of the value.
    entropy_cost: weight of the entropy bonus.
    value_cost: weight of the value loss.
    recall_cost: weight of a loss that asks the memory of a policy for the way
      to a place that only the value sees, where there is one (pseudo-Huber, in
      metres).
    num_epochs: passes over the data of an iteration.
    num_minibatches: Adam steps in a pass.
    chunk_length: steps that gradients go back through in a policy with a
      memory (L), a divisor of the horizon; 1 for all others.
    gradient_scale: factor on the mean gradient (the released code sums over
      its K memory-bound parts, which is K times the mean).
    max_gradient_norm: of each network's gradient; 0 for no bound.
    normalize_value: whether the value learns normalised returns.
    value_decay: of the normaliser's running moments, per iteration.
    chunk_vectors: entity vectors that are worked on at once; a matter of
      cache size only, the sum over chunks is exact.
  """

  learning_rate: float = 7e-4
  annealed_after: int = 0
  annealing_power: float = 1.0
  adam_epsilon: float = 1e-5
  discount: float = 0.99
  trace_decay: float = 0.95
  clip: float = 0.2
  value_clip: float = 0.2
  huber_delta: float = 10.0
  center_rewards: bool = False
  least_deviation: float = 0.0
  entropy_cost: float = 0.02
  value_cost: float = 1.0
  recall_cost: float = 0.0
  num_epochs: int = 1
  num_minibatches: int = 5
  chunk_length: int = 1
  gradient_scale: float = 1.0
  max_gradient_norm: float = 20.0
  normalize_value: bool = True
  value_decay: float = 0.9
  chunk_vectors: int = 8000


@dataclasses.dataclass(frozen=True, kw_only=True)
class CurriculumConfig:
  """Task expansion (section 2 of the algorithm sheet).

  Attributes:
    name: see `curriculum.NAMES`.
    capacity: rows of the active and of the solved set (C).
    num_easy_tasks: easy tasks that the active set begins with.
    solved_fraction: share of solved tasks in a batch.
    target_share: share of tasks of the target distribution in a batch, times
      their latest coverage: as it is mastered, it takes the curriculum's place.
    solved_value: tasks above it are solved (sigma_max), strictly.
    dropped_value: tasks below it leave a full active set (sigma_min).
    num_children: tasks proposed in an update at most (B_exp).
    max_children_per_seed: of one newly solved task, 0 for no bound; keeps the
      first few solved tasks from crowding the easy ones out.
    step_size: Euclidean length of the Stein step (epsilon).
    noise: half-width of the uniform noise (delta).
    noisy_share: chance of an entity to get noise; 1 for all. Few entities far
      away are learned sooner than all of them a little further off.
    bandwidth: of the kernel (h).
    kernel: one-dimensional kernels, one a coordinate (released code), or the
      joint kernel of the paper.
    is_attractive: whether to step towards the solved tasks instead of away.
    max_redraws: bound on draws of noise for an infeasible entity.
    seed_choice: the first solved tasks become seeds, or a random choice.
    num_neighbours: neighbours that a task's novelty is the mean distance to.
    active_eviction: what a full active set lets go.
    solved_eviction: what a full solved set lets go.
  """

  name: str = 'vacl'
  capacity: int = 2000
  num_easy_tasks: int = 500
  solved_fraction: float = 0.05
  target_share: float = 0.0
  solved_value: float = 0.95
  dropped_value: float = 0.5
  num_children: int = 400
  max_children_per_seed: int = 4
  step_size: float = 0.4
  noise: float = 2.0
  noisy_share: float = 0.25
  bandwidth: float = 1.0
  kernel: Literal['coordinate', 'joint'] = 'coordinate'
  is_attractive: bool = False
  max_redraws: int = 100
  seed_choice: Literal['first', 'random'] = 'random'
  num_neighbours: int = 5
  active_eviction: Literal['diverse', 'fifo', 'random'] = 'diverse'
  solved_eviction: Literal['diverse', 'fifo', 'random'] = 'fifo'


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgressionConfig:
  """Entity progression (section 3 of the algorithm sheet).

  Attributes:
    entity_counts: numbers of entities that are trained one after another, like
      '4,8,16'; a vector of them is written '2x2'. Empty: no progression.
    transition: whether both counts are trained together for a while, or the
      larger one alone at once.
    switch_coverage: greedy coverage of the present count at which the next one
      comes in, and of that one at which the present one goes.
    mixing_step: how much the weight of the larger count grows at a time.
    mixing_interval: iterations between steps (D).
    mixing: share of the smaller count: as many agents as the larger one would
      have had (released code), its weight (paper), or its number of draws from
      the categorical distribution.
  """

  entity_counts: str = ''
  transition: Literal['mix', 'direct'] = 'mix'
  switch_coverage: float = 0.9
  mixing_step: float = 0.1
  mixing_interval: int = 30
  mixing: Literal['agents', 'paper', 'stochastic'] = 'agents'


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig:
  """How much is played.

  Attributes:
    num_tasks: worlds played side by side (B).
    num_rollouts: roll-outs, each with its update, on one draw of tasks (R).
    num_evaluation_tasks: tasks of an evaluation.
  """

  num_tasks: int = 120
  num_rollouts: int = 1
  num_evaluation_tasks: int = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
  """All that decides what a run computes."""

  seed: int = 0
  preset: str = 'default'
  environment: EnvironmentConfig = EnvironmentConfig()
  hide_and_seek: HideAndSeekConfig = HideAndSeekConfig()
  network: NetworkConfig = NetworkConfig()
  ppo: PpoConfig = PpoConfig()
  curriculum: CurriculumConfig = CurriculumConfig()
  progression: ProgressionConfig = ProgressionConfig()
  training: TrainingConfig = TrainingConfig()


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunLength:
  """How long and how closely watched; may change when a run is resumed.

  Attributes:
    num_env_steps: environment steps in all (evaluation not counted).
    stop_at_coverage: ends the run when the mean of the last three evaluations
      reaches it; 0 for never.
    evaluation_interval: iterations between evaluations.
    checkpoint_interval: iterations between checkpoints.
    num_checkpoints: checkpoints to keep.
  """

  num_env_steps: int = 10_000_000
  stop_at_coverage: float = 0.0
  evaluation_interval: int = 10
  checkpoint_interval: int = 20
  num_checkpoints: int = 3


def entity_counts(cfg: Config) -> tuple[tuple[int, ...], ...]:
  """Returns the counts that a run trains, one after another.

  Raises:
    ValueError: the path is not one, or does not end at num_agents.
  """
  text = cfg.progression.entity_counts
  world = cfg.environment
  last = tuple(filter(None, (world.num_agents, world.num_boxes)))
  if not text:
    return (last,)
  try:
    path = tuple(
      tuple(int(number) for number in count.split('x'))
      for count in text.split(',')
    )
  except ValueError as error:
    raise ValueError(
      f'entity_counts={text!r} is not a list of counts; give one like 4,8,16 '
      'or 2x2,4x2,4x4'
    ) from error
  if any(number < 1 for count in path for number in count):
    raise ValueError(
      f'entity_counts={text} has a number below 1; leave it out, or give more'
    )
  for one, other in itertools.pairwise(path):
    pairs = list(zip(one, other, strict=False))
    if len(one) != len(other) or one == other or any(x > y for x, y in pairs):
      raise ValueError(
        f'entity_counts={text} does not grow from {spelt(one)} to '
        f'{spelt(other)}; give larger and larger counts, like 4,8,16'
      )
  if len(path[-1]) != len(last):
    raise ValueError(
      f'entity_counts={text} is not what {world.name} counts; give agents like '
      '4,8,16, or agents and boxes like 2x2,4x2,4x4'
    )
  if path[-1] != last:
    raise ValueError(
      f'entity_counts={text} does not end at {spelt(last)}, which is to be '
      'mastered; leave one of them out'
    )
  return path


def spelt(count: tuple[int, ...]) -> str:
  """Returns numbers of entities as they are written in a path of them."""
  return 'x'.join(map(str, count))


def leaves(node: Any, prefix: str = '') -> dict[str, Any]:
  """Returns {dotted name: value} of all leaves of a config."""
  found = {}
  for field in dataclasses.fields(node):
    value = getattr(node, field.name)
    name = prefix + field.name
    if dataclasses.is_dataclass(value):
      found |= leaves(value, name + '.')
    else:
      found[name] = value
  return found


def choices(node: Any, name: str) -> tuple[str, ...]:
  """Returns the values that a Literal leaf allows, () for other leaves."""
  *path, last = name.split('.')
  for part in path:
    node = getattr(node, part)
  hint = typing.get_type_hints(type(node))[last]
  return typing.get_args(hint) if typing.get_origin(hint) is Literal else ()


def replace(node: Any, values: Mapping[str, Any]) -> Any:
  """Returns the config with leaves replaced by dotted name.

  Raises:
    ValueError: a name is unknown.
  """
  known = leaves(node)
  for name in values:
    if name not in known:
      raise ValueError(unknown('config field', name, known))
  changes = {}
  for field in dataclasses.fields(node):
    inner = field.name + '.'
    below = {
      name[len(inner) :]: value
      for name, value in values.items()
      if name.startswith(inner)
    }
    if below:
      changes[field.name] = replace(getattr(node, field.name), below)
    elif field.name in values:
      changes[field.name] = values[field.name]
  return dataclasses.replace(node, **changes)


def restore(node: Any, values: Mapping[str, Any]) -> Any:
  """Returns the config that was saved as leaves; what it lacks is default."""
  known = leaves(node)
  return replace(node, {k: v for k, v in values.items() if k in known})


def differences(one: Any, other: Any) -> list[str]:
  """Returns a line for every leaf in which two configs differ."""
  theirs = leaves(other)
  return [
    f'{name}: {value} -> {theirs[name]}'
    for name, value in leaves(one).items()
    if value != theirs[name]
  ]


def unknown(what: str, given: Any, allowed: Iterable[str]) -> str:
  """Returns the one-line message for a name that does not exist."""
  allowed = list(allowed)
  close = difflib.get_close_matches(str(given), allowed, 3, 0.5)
  if close:
    return f'{what}={given!r} is unknown; did you mean {", ".join(close)}?'
  return f'{what}={given!r} is unknown; allowed: {", ".join(allowed)}'
