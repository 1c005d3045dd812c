# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Policy and value with a memory (hide-and-seek sheet, section 7.1).

Entities become tokens, which attend to one another; their mean goes through a
small perceptron into a recurrent layer. Both networks are of this shape and
share no parameters; each agent has a memory of its own in each. No parameter
has a shape that depends on the number of agents or entities.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import bearings
from vacl_tf.networks import blocks
from vacl_tf.networks import gru
from vacl_tf.networks import heads


@tf.custom_gradient
def attend(
  query: tf.Tensor, key: tf.Tensor, value: tf.Tensor
) -> tuple[tf.Tensor, Callable]:
  """Returns the values, weighted by the softmax of query times key.

  Sums over tokens are taken over products of elements that are never written
  down. The gradient that is found by itself writes them.

  Args:
    query: [N, S, heads, H] of S tokens that ask, H units of each head.
    key: [N, S, heads, H] of those that are looked at.
    value: likewise.

  Returns:
    [N, S, heads, H].
  """
  weights = tf.nn.softmax(_over_units(query, key), 2)

  def gradient(dy: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    of_weights = _over_units(dy, value)
    mean = tf.reduce_sum(weights * of_weights, 2, keepdims=True)
    of_scores = (weights * (of_weights - mean))[..., None]
    return (
      tf.reduce_sum(of_scores * key[:, None], 2),
      tf.reduce_sum(of_scores * query[:, :, None], 1),
      tf.reduce_sum(weights[..., None] * dy[:, :, None], 1),
    )

  return tf.reduce_sum(weights[..., None] * value[:, None], 2), gradient


def _over_units(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
  """Returns products [N, S, S, heads] of [N, S, heads, H], summed over H."""
  left, right = (tf.transpose(x, [0, 2, 1, 3]) for x in (left, right))
  return tf.transpose(tf.matmul(left, right, transpose_b=True), [0, 2, 3, 1])


class Attention(snt.Module):
  """Self-attention of tokens with a residual path, normalised before."""

  def __init__(self, rng: np.random.Generator, size: int, gain: float) -> None:
    super().__init__(name='attention')
    self.affine = blocks.Affine(size)
    self.query, self.key, self.value, self.out = (
      blocks.Folded(rng, size, size, gain_of_layer, name)
      for name, gain_of_layer in (
        ('query', gain),
        ('key', gain),
        ('value', 1.0),
        ('out', 1.0),
      )
    )

  def __call__(self, tokens: tf.Tensor) -> tf.Tensor:
    """Returns tokens [N, S, H] after looking at one another."""
    num_tokens, size = tf.shape(tokens)[1], tokens.shape[2]
    size_of_head = size // config.NUM_HEADS
    x = blocks.standardize(tf.reshape(tokens, [-1, size]))
    layers = (self.query, self.key, self.value)
    # One product of matrices takes less time than three.
    found = blocks.folded(
      x,
      tf.concat([layer.w for layer in layers], 1),
      tf.concat([layer.b for layer in layers], 0),
      (self.affine,),
    )
    query, key, value = tf.split(
      tf.reshape(found, [-1, num_tokens, 3 * config.NUM_HEADS, size_of_head]),
      3,
      2,
    )
    found = attend(size_of_head**-0.5 * query, key, value)
    found = self.out(tf.reshape(found, [-1, size]), ())
    return tokens + tf.reshape(found, [-1, num_tokens, size])


class Core(snt.Module):
  """What an agent sees, step after step, to H numbers."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
  ) -> None:
    super().__init__(name='core')
    size = cfg.hidden_size
    self._has_own_frame = cfg.frame == 'own'
    own_size, entity_sizes = role.own_size, role.entity_sizes
    if self._has_own_frame:
      own_size, entity_sizes = bearings.sizes(role)
    self._activation = blocks.ACTIVATIONS[cfg.activation]
    self.own = blocks.Folded(rng, own_size, size, name='own')
    self.entity = {
      kind: blocks.Folded(rng, own_size + seen_size, size, name=kind)
      for kind, seen_size in entity_sizes.items()
    }
    self.attention = Attention(rng, size, cfg.attention_gain)
    self.affine = blocks.Affine(size)
    self.first = blocks.Folded(rng, size + own_size, size, 1.0, 'first')
    self.second = blocks.Folded(rng, size, size, 1.0, 'second')
    self.memory = gru.Gru(rng, size, size)

  def __call__(
    self, own: tf.Tensor, entities: Mapping[str, tf.Tensor], memory: tf.Tensor
  ) -> tf.Tensor:
    """Returns the memories after each step.

    Args:
      own: [L, N, F] of N agents.
      entities: kind -> [L, N, m, F].
      memory: [N, H] before the first step.

    Returns:
      [L, N, H].
    """
    steps = own.shape[0]
    if self._has_own_frame:
      own, entities = bearings.look(own, entities)
    own = tf.reshape(own, [-1, own.shape[-1]])
    tokens = self.attention(self._tokens(own, entities))
    shape, size = tf.shape(tokens), tokens.shape[2]
    tokens = blocks.standardize(tf.reshape(tokens, [-1, size]))
    # The mean of what is scaled and shifted is the mean, scaled and shifted.
    mean = self.affine(tf.reduce_mean(tf.reshape(tokens, shape), 1))
    x = self._activation(self.first(tf.concat([mean, own], -1), ()))
    x = self._activation(self.second(x, ()))
    return self.memory(tf.reshape(x, [steps, -1, size]), memory)

  def _tokens(
    self, own: tf.Tensor, entities: Mapping[str, tf.Tensor]
  ) -> tf.Tensor:
    """Returns [N, S, H]: the agent itself, then all that it sees."""
    tokens = [self._activation(self.own(own, ()))[:, None]]
    for kind, layer in self.entity.items():
      seen, num_slots = entities[kind], tf.shape(entities[kind])[-2]
      seen_size = seen.shape[-1]
      # What is seen comes first, then the agent's own: W [seen, own].
      seen = tf.matmul(tf.reshape(seen, [-1, seen_size]), layer.w[:seen_size])
      mine = tf.matmul(own, layer.w[seen_size:]) + layer.b
      seen = tf.reshape(seen, [-1, num_slots, mine.shape[-1]])
      tokens.append(self._activation(seen + mine[:, None]))
    return tf.concat(tokens, 1)


class Policy(snt.Module):
  """What an agent sees to logits, and to the way to what it does not see."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
  ) -> None:
    super().__init__(name='policy')
    self.core = Core(rng, role, cfg)
    self.logits = blocks.Folded(
      rng, cfg.hidden_size, sum(role.num_actions), blocks.ACTION_GAIN, 'logits'
    )
    if role.unseen_place:
      self.way = blocks.Folded(rng, cfg.hidden_size, 2, name='way')


class Value(snt.Module):
  """What an agent sees, and what it does not, to its value."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
  ) -> None:
    super().__init__(name='value')
    self.core = Core(rng, role, cfg)
    self.value = blocks.Folded(rng, cfg.hidden_size, 1, name='value')


class PolicyValue(snt.Module):
  """Both networks of the one role that there is."""

  def __init__(
    self, role: types.Role, cfg: config.NetworkConfig, seed: int
  ) -> None:
    """Creates all variables, so that nothing is created inside a graph."""
    super().__init__(name='policy_value')
    rng = np.random.default_rng(seed)
    self.hidden_size = cfg.hidden_size
    self._sizes = role.num_actions
    self._unseen_place = role.unseen_place
    self.policies = [Policy(rng, role, cfg)]
    self.values = [Value(rng, role, cfg)]

  def act(
    self, own: tf.Tensor, entities: Mapping[str, tf.Tensor], memory: tf.Tensor
  ) -> tuple[heads.Heads, tf.Tensor]:
    """Returns what to do in one step, and the memory after it.

    Args:
      own: [B, n, F].
      entities: kind -> [B, n, m, F].
      memory: [B, n, H].

    Returns:
      The distribution of actions [B, n, heads], and memories [B, n, H].
    """
    [policy] = self.policies
    seen = tf.nest.map_structure(lambda x: x[None], (own, entities))
    hidden = _unroll(policy.core, *seen, memory)
    return self._heads(hidden[0]), hidden[0]

  @property
  def recalls(self) -> bool:
    """Whether there is a place that the policy can be asked for."""
    return bool(self._unseen_place)

  def distributions(self, past: types.Remembered) -> tuple[heads.Heads]:
    """Returns the distribution of the actions [B, L, n, heads] of each step."""
    return (self._heads(self._remember(past)),)

  def recall(
    self, past: types.Remembered
  ) -> tuple[tuple[heads.Heads], tf.Tensor]:
    """Returns distributions, and how wrong the way to the unseen place is.

    Returns:
      What `distributions` does, and errors [B, L, n, 2] in metres of the way
      there, as far as the policy remembers it.
    """
    [policy] = self.policies
    memory, own = self._remember(past), past.seen.own_of_value
    found = policy.way(tf.reshape(memory, [-1, memory.shape[-1]]), ())
    way = tf.gather(own, self._unseen_place, axis=-1) - own[..., :2]
    error = tf.reshape(found, tf.shape(way)) - way
    return (self._heads(memory),), error

  def value(self, past: types.Remembered) -> tuple[tf.Tensor]:
    """Returns the value [B, L, n] of each step."""
    seen = _time_major(past.seen)
    return (_time_major(self.unroll_value(seen, past.value_memory)[0]),)

  def unroll_value(
    self, seen: types.Seen, memory: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns values [L, B, n] and the memories [L, B, n, H] after each step.

    Args:
      seen: [L, B, ...].
      memory: [B, n, H] before the first step.
    """
    [value] = self.values
    hidden = _unroll(value.core, seen.own_of_value, seen.entities, memory)
    size = hidden.shape[-1]
    found = value.value(tf.reshape(hidden, [-1, size]), ())
    return tf.reshape(found, tf.shape(hidden)[:-1]), hidden

  def _remember(self, past: types.Remembered) -> tf.Tensor:
    """Returns the policy's memories [B, L, n, H] after each step."""
    [policy] = self.policies
    seen = _time_major((past.seen.own, past.seen.entities))
    return _time_major(_unroll(policy.core, *seen, past.policy_memory))

  def _heads(self, hidden: tf.Tensor) -> heads.Heads:
    [policy] = self.policies
    logits = policy.logits(tf.reshape(hidden, [-1, hidden.shape[-1]]), ())
    shape = tf.concat([tf.shape(hidden)[:-1], [logits.shape[-1]]], 0)
    return heads.Heads(tf.reshape(logits, shape), self._sizes)


def _unroll(
  core: Core,
  own: tf.Tensor,
  entities: Mapping[str, tf.Tensor],
  memory: tf.Tensor,
) -> tf.Tensor:
  """Returns [L, B, n, H]: memories after each step; see `Core`.

  Args:
    core: what looks and remembers.
    own: [L, B, n, F].
    entities: kind -> [L, B, n, m, F].
    memory: [B, n, H].
  """
  steps, size = own.shape[0], memory.shape[-1]
  own = tf.reshape(own, [steps, -1, own.shape[-1]])
  entities = {
    kind: tf.reshape(x, [steps, -1, tf.shape(x)[-2], x.shape[-1]])
    for kind, x in entities.items()
  }
  hidden = core(own, entities, tf.reshape(memory, [-1, size]))
  return tf.reshape(hidden, tf.concat([[steps], tf.shape(memory)], 0))


def _time_major(tree: Any) -> Any:
  """Returns tensors [L, B, ...] of [B, L, ...], or the other way round."""

  def swap(x: tf.Tensor) -> tf.Tensor:
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])

  return tf.nest.map_structure(swap, tree)
