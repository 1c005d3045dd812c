# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Everything that the commands know about a task, in one place beside the task.

Specs import neither TensorFlow nor MuJoCo: pictures are drawn without them.
"""

import dataclasses
import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides
from vacl_tf.environments import map_layout

if TYPE_CHECKING:
  from vacl_tf.environments import base

Values = Mapping[str, Any]  # Overrides by dotted name.
# Million environment steps, and the mean and population standard deviation of
# an evaluation; NaN where the deviation is not known.
Point = tuple[float, float, float]

# How a run settles, whenever it comes to that; see config.PpoConfig. In
# Hard-Spread, coverage stays at 0.9 after 4.2 M to 5.0 M steps instead of after
# 3.9 M to 7.3 M with (4 M / t), and it is the same in the end (three seeds
# each).
SETTLING: Values = {
  'ppo.decay_start_coverage': 0.5,
  'ppo.decay_power': 0.5,
  'ppo.average_share': 0.05,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preset:
  """Constants that a task is trained with; all others keep their defaults.

  Attributes:
    num_env_steps: length of a run with at most the counts of the task's own
      world, and with more of any entity.
    values: overrides for all entity counts.
    above: overrides by entity count, for worlds with more of any counted kind.
    grows_together: whether the default path doubles all counted kinds at once
      instead of one after another.
  """

  num_env_steps: tuple[int, int]
  values: Values = dataclasses.field(default_factory=dict)
  above: Mapping[int, Values] = dataclasses.field(default_factory=dict)
  grows_together: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskSpec:
  """A task and everything that the commands know about it.

  Attributes:
    world: constants of the world, with the entity counts that a growing run
      starts with. A subclass of EnvironmentConfig adds constants of its own.
    make: returns the world, given its constants.
    presets: training constants by name of the preset; 'default' is required.
    most: the largest number of each counted entity.
    least: the smallest number of each counted entity.
    agent: name of the agent that trains the task unless the user names another.
    judged_horizons: returns, given the constants, the numbers of steps after
      which coverage is reported in addition to the horizon.
    measures: meaning of progress and success, for tables.
    layout: returns, given the constants and the path of entity counts, where
      task vectors place entities, for pictures.
    references: published coverage curves, by number of agents.
  """

  world: config.EnvironmentConfig
  make: 'Callable[[config.EnvironmentConfig], base.World]'
  presets: Mapping[str, Preset]
  most: entity_counts.Counts
  least: entity_counts.Counts
  agent: str = 'attention'
  judged_horizons: Callable[[config.EnvironmentConfig], tuple[int, ...]] = (
    lambda world: ()
  )
  measures: tuple[str, str] = ('coverage', 'success rate')
  layout: Callable[
    [config.EnvironmentConfig, tuple[entity_counts.Counts, ...]],
    map_layout.MapLayout | None,
  ] = lambda world, counts: None
  references: Mapping[int, tuple[Point, ...]] = dataclasses.field(
    default_factory=dict
  )

  @property
  def name(self) -> str:
    """The name of the task."""
    return self.world.name

  def with_counts(self, **given: int | None) -> config.EnvironmentConfig:
    """Returns the constants with these numbers of entities.

    Args:
      **given: by field, None for what is not given. Where one kind is given
        alone, all others are as many.

    Raises:
      ValueError: the task does not count such entities.
    """
    given = {field: x for field, x in given.items() if x is not None}
    for field, number in given.items():
      if field not in self.world.count_fields:
        raise ValueError(
          f'{field}={number} does not apply to {self.name}; leave it out'
        )
      if isinstance(number, bool) or not isinstance(number, numbers.Integral):
        raise ValueError(f'{field}={number!r} is not a whole number; give one')
      given[field] = int(number)  # JSON has none of NumPy's.
    if given:
      fill = next(iter(given.values()))
      given = dict.fromkeys(self.world.count_fields, fill) | given
    return dataclasses.replace(self.world, **given)

  def check(self, world: config.EnvironmentConfig) -> None:
    """Raises ValueError if the task is not possible with such counts."""
    given = world.counts
    ranges = list(zip(self.least, self.most, strict=True))
    if all(
      isinstance(x, numbers.Integral) and low <= x <= high
      for x, (low, high) in zip(given, ranges, strict=True)
    ):
      return
    # All counts: who gave one of them may not know of the other.
    fields = world.count_fields
    told = [f'{f}={x}' for f, x in zip(fields, given, strict=True)]
    allowed = [
      f'{low} to {high}' if low < high else f'{low}' for low, high in ranges
    ]
    if len(set(allowed)) == 1:
      allowed = [allowed[0] + (' of each' if len(fields) > 1 else '')]
    raise ValueError(
      f'{" with ".join(told)} is not possible in {self.name}; allowed: '
      f'{", ".join(allowed)}'
    )

  def preset(self, name: str) -> Preset:
    """Returns a preset.

    Raises:
      ValueError: there is none of that name.
    """
    if name not in self.presets:
      raise ValueError(overrides.unknown('preset', name, self.presets))
    return self.presets[name]

  def values(self, preset: str, world: config.EnvironmentConfig) -> Values:
    """Returns the overrides of a preset for these counts."""
    chosen = self.preset(preset)
    values = dict(chosen.values)
    for most, values_above in sorted(chosen.above.items()):
      if max(world.counts) > most:
        values |= values_above
    return values

  def num_env_steps(self, preset: str, world: config.EnvironmentConfig) -> int:
    """Returns the length of a run with these counts."""
    pairs = zip(world.counts, self.world.counts, strict=True)
    is_larger = any(wanted > first for wanted, first in pairs)
    return int(self.preset(preset).num_env_steps[is_larger])
