# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A task of hide-and-seek as the training loop knows it.

The worlds themselves are simulated outside TensorFlow; see
`training.host_rollout`.
"""

from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments.hide_and_seek import grid_task_space
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib


class HideAndSeek(base.World):
  """Who acts, what they see and which tasks there are.

  Attributes:
    task: what is played, in numpy.
  """

  is_terminal = True

  def __init__(self, task: task_lib.Task, counts: tuple[int, ...]) -> None:
    """Initialises the view.

    Args:
      task: what is played.
      counts: its numbers of entities, those that act first.
    """
    self.task = task
    self.name = task.name
    self.horizon = task.horizon
    self._counts = counts
    sizes = {kind: len(seen) for kind, seen in task.features.items()}
    self.roles = (
      types.Role(
        name='agent',
        num_agents=len(task.actors),
        num_actions=mechanics.HEADS,
        own_size=sizes.pop('own'),
        entity_sizes=sizes,
        unseen_place=task.unseen_place,
      ),
    )
    self.task_space = grid_task_space.GridTaskSpace(task.grid, len(task.actors))

  def observe(self, state: types.State) -> types.State:
    """Returns what was stored: it is what was seen."""
    return state

  @property
  def num_vectors(self) -> int:
    # Every agent looks at itself and all others, also those not in phi.
    return len(self.task.actors) * self.task.cast.num_entities

  @property
  def counts(self) -> tuple[int, ...]:
    return self._counts
