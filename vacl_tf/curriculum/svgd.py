# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stein steps and rejection-sampled noise: how solved tasks have children.

Equation 5 of the paper with uniform p, averaged over solved tasks alone; the
implemented form is section 2.4 of the algorithm sheet.
"""

import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import task_space

_BLOCK = 50  # Seeds whose kernel is evaluated at once; fits the cache.


def repulsion(
  points: tf.Tensor,
  particles: tf.Tensor,
  mask: tf.Tensor,
  bandwidth: float,
  kernel: str,
) -> tf.Tensor:
  """Returns the summed kernel gradient at each point, as unit rows.

  Args:
    points: [K, D] where.
    particles: [C, D] what repels.
    mask: bool [C], True = counts.
    bandwidth: h of exp(-d^2 / h).
    kernel: 'coordinate' for a kernel of its own for each number, 'joint' for
      one of the whole vector.

  Returns:
    [K, D] rows of length 1, or 0 where nothing repels.
  """
  weight = tf.cast(mask, tf.float32)
  if kernel == 'joint':
    # Only the direction counts, so the largest weight may be scaled to 1: as
    # it is, exp(-d^2 / h) underflows from about D = 16 on.
    square = tf.reduce_sum((points[:, None] - particles[None]) ** 2, -1)
    is_self = square == 0.0
    logits = tf.where(mask[None] & ~is_self, -square / bandwidth, -1e30)
    weights = tf.exp(logits - tf.reduce_max(logits, 1, keepdims=True))
    weights *= tf.cast(mask[None] & ~is_self, tf.float32)
    total = tf.reduce_sum(weights, 1, keepdims=True)
    gradient = points * total - tf.matmul(weights, particles)
  else:
    # [D, K, C], so that long rows of particles are what is summed.
    delta = tf.transpose(points)[:, :, None] - tf.transpose(particles)[:, None]
    force = delta * tf.exp(-delta * delta / bandwidth)
    gradient = tf.transpose(tf.linalg.matvec(force, weight))
  length = tf.norm(gradient, axis=-1, keepdims=True)
  return tf.math.divide_no_nan(gradient, length)


def _repulsion_of_first(
  points: tf.Tensor,
  num_points: tf.Tensor,
  particles: tf.Tensor,
  mask: tf.Tensor,
  cfg: config.CurriculumConfig,
) -> tf.Tensor:
  """Returns `repulsion` [K, D] of the first rows, block by block."""
  num = points.shape[0]
  blocks = -(-num // _BLOCK)
  padded = tf.pad(points, [[0, blocks * _BLOCK - num], [0, 0]])

  def body(block: tf.Tensor, found: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    begin = [block * _BLOCK, 0]
    rows = repulsion(
      tf.slice(padded, begin, [_BLOCK, points.shape[1]]),
      particles,
      mask,
      cfg.bandwidth,
      cfg.kernel,
    )
    where = block * _BLOCK + tf.range(_BLOCK)
    return block + 1, tf.tensor_scatter_nd_update(found, where[:, None], rows)

  _, found = tf.while_loop(
    lambda block, _: block * _BLOCK < num_points,
    body,
    (0, tf.zeros_like(padded)),
  )
  return found[:num]


def feasible_noise(
  space: task_space.TaskSpace,
  phi: tf.Tensor,
  half_width: float,
  share: float,
  max_redraws: int,
  seed: types.Seed,
) -> tf.Tensor:
  """Returns phi with uniform noise, redrawn for entities that end illegal.

  An entity that stays illegal for all the redraws keeps its place in phi.

  Args:
    space: says what is legal.
    phi: [K, D], legal.
    half_width: of the noise, in the units of phi.
    share: chance of each entity to get noise at all.
    max_redraws: bound on the draws.
    seed: of this call.
  """
  entity = tf.constant(space.entity_of_dim)
  which, seed = randomness.split(seed, 2)
  entities = [phi.shape[0], space.num_entities]
  is_noisy = randomness.uniform(which, entities) < share
  width = half_width * tf.cast(tf.gather(is_noisy, entity, axis=-1), tf.float32)

  def redraw(
    draw: tf.Tensor, moved: tf.Tensor, is_legal: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    noise = randomness.uniform(
      randomness.fold(seed, draw), tf.shape(phi), -width, width
    )
    keep = tf.gather(is_legal, entity, axis=-1)
    moved = tf.where(keep, moved, phi + noise)
    return draw + 1, moved, space.feasible(moved)

  nobody = tf.zeros([phi.shape[0], space.num_entities], tf.bool)
  _, moved, is_legal = tf.while_loop(
    lambda draw, _, ok: (draw < max_redraws) & ~tf.reduce_all(ok),
    redraw,
    (0, phi, nobody),
  )
  return tf.where(tf.gather(is_legal, entity, axis=-1), moved, phi)


def propose(
  space: task_space.TaskSpace,
  seeds: tf.Tensor,
  num_seeds: tf.Tensor,
  solved: tf.Tensor,
  solved_mask: tf.Tensor,
  cfg: config.CurriculumConfig,
  seed: types.Seed,
) -> tf.Tensor:
  """Returns K children, going round the seeds in order.

  Args:
    space: says what is legal.
    seeds: [K, D] tasks to start from, of which the first num_seeds count.
    num_seeds: [] int32; with 0 the children mean nothing.
    solved: [C, D] tasks that repel.
    solved_mask: bool [C].
    cfg: step size, noise, kernel.
    seed: of this call.

  Returns:
    [K, D] feasible tasks.
  """
  at_random, rim, noise = randomness.split(seed, 3)
  direction = _repulsion_of_first(seeds, num_seeds, solved, solved_mask, cfg)
  step = cfg.step_size * (-direction if cfg.is_attractive else direction)
  turn = tf.range(seeds.shape[0]) % tf.maximum(num_seeds, 1)
  phi, step = tf.gather(seeds, turn), tf.gather(step, turn)
  # A seed that nothing repels takes a random step; sheet 2.4, step 2.
  lost = tf.reduce_all(step == 0.0, -1, keepdims=True)
  anywhere = randomness.uniform(
    at_random, tf.shape(phi), -cfg.step_size, cfg.step_size
  )
  moved = space.clip(phi + tf.where(lost, anywhere, step), rim)
  moved = feasible_noise(
    space, moved, cfg.noise, cfg.noisy_share, cfg.max_redraws, noise
  )
  # A step may end between boxes, where noise need not find the way back; the
  # child is then a twin of its parent.
  is_legal = tf.reduce_all(space.feasible(moved), -1, keepdims=True)
  return tf.where(is_legal, moved, phi)
