# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Children of solved tasks: a Stein step, then noise with rejection sampling.

The step is equation 6 of the paper (section 3.1.3), with a repulsive kernel
over the solved set. docs/reproduction.md, "Task expansion", says where it
follows the released code instead.
"""

import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import task_space

_BLOCK = 50  # Seeds whose kernels are computed together; fits the cache.


def repulsion(
  points: tf.Tensor,
  particles: tf.Tensor,
  weight: tf.Tensor,
  bandwidth: float,
  kernel: str,
) -> tf.Tensor:
  """Returns the direction of the summed kernel gradient at each point.

  Args:
    points: [K, D] points at which the gradient is taken.
    particles: [C, D] centres of the kernels.
    weight: [C] weights of the kernels; 0 where there is no particle.
    bandwidth: h of the kernel exp(-d^2 / h).
    kernel: 'coordinate' for a one-dimensional kernel per coordinate, 'joint'
      for one kernel of the whole vector.

  Returns:
    [K, D] rows of length 1, or 0 where the gradient vanishes.
  """
  if kernel == 'joint':
    # Only the direction matters, so the largest kernel is scaled to 1:
    # unscaled, exp(-d^2 / h) underflows from about D = 16 on.
    square = tf.reduce_sum((points[:, None] - particles[None]) ** 2, -1)
    is_other = (weight > 0.0)[None] & (square != 0.0)
    logits = tf.where(is_other, -square / bandwidth, -1e30)
    weights = tf.exp(logits - tf.reduce_max(logits, 1, keepdims=True))
    weights *= tf.where(is_other, weight[None], 0.0)
    total = tf.reduce_sum(weights, 1, keepdims=True)
    gradient = points * total - tf.matmul(weights, particles)
  else:
    # [D, K, C], so that sums run over the long axis of particles.
    delta = tf.transpose(points)[:, :, None] - tf.transpose(particles)[:, None]
    force = delta * tf.exp(-delta * delta / bandwidth)
    gradient = tf.transpose(tf.linalg.matvec(force, weight))
  length = tf.norm(gradient, axis=-1, keepdims=True)
  return tf.math.divide_no_nan(gradient, length)


def _repulsion_of_first(
  points: tf.Tensor,
  num_points: tf.Tensor,
  particles: tf.Tensor,
  weight: tf.Tensor,
  cfg: config.TaskExpansionConfig,
) -> tf.Tensor:
  """Returns `repulsion` [K, D] at the first num_points points, in blocks.

  Rows after the last block that holds any of these points are 0.
  """
  num = points.shape[0]
  blocks = -(-num // _BLOCK)
  padded = tf.pad(points, [[0, blocks * _BLOCK - num], [0, 0]])

  def body(block: tf.Tensor, found: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    begin = [block * _BLOCK, 0]
    rows = repulsion(
      tf.slice(padded, begin, [_BLOCK, points.shape[1]]),
      particles,
      weight,
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
  probability: float,
  max_redraws: int,
  seed: types.Seed,
) -> tf.Tensor:
  """Returns phi with uniform noise, redrawn for entities that are infeasible.

  Entities that are still infeasible after all redraws keep their coordinates.

  Args:
    space: decides what is feasible.
    phi: [K, D] feasible tasks.
    half_width: half-width of the noise (delta), in units of phi.
    probability: probability that an entity is perturbed.
    max_redraws: bound on the number of draws.
    seed: random seed of this call.
  """
  entity = tf.constant(space.entity_of_dim)
  is_noisy, width, seed = _widths(space, phi, half_width, probability, seed)

  def redraw(
    draw: tf.Tensor, moved: tf.Tensor, is_legal: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    keep = tf.gather(is_legal, entity, axis=-1)
    drawn = _noisy(phi, width, randomness.fold(seed, draw))
    moved = tf.where(keep, moved, drawn)
    return draw + 1, moved, space.feasible(moved)

  nobody = tf.zeros([phi.shape[0], space.num_entities], tf.bool)
  # Once only unperturbed entities are infeasible, more draws change nothing.
  _, moved, is_legal = tf.while_loop(
    lambda draw, _, ok: (draw < max_redraws) & tf.reduce_any(is_noisy & ~ok),
    redraw,
    (0, phi, nobody),
  )
  return tf.where(tf.gather(is_legal, entity, axis=-1), moved, phi)


def _widths(
  space: task_space.TaskSpace,
  phi: tf.Tensor,
  half_width: float,
  probability: float,
  seed: types.Seed,
) -> tuple[tf.Tensor, tf.Tensor, types.Seed]:
  """Draws which entities get noise; see `feasible_noise`.

  Returns:
    bool [K, entities]: which entities get noise; the half-width [K, D] of the
    noise; and the seed to draw it with.
  """
  which, seed = randomness.split(seed, 2)
  entities = [phi.shape[0], space.num_entities]
  is_noisy = randomness.uniform(which, entities) < probability
  of_dim = tf.gather(is_noisy, tf.constant(space.entity_of_dim), axis=-1)
  return is_noisy, half_width * tf.cast(of_dim, tf.float32), seed


def _noisy(phi: tf.Tensor, width: tf.Tensor, seed: types.Seed) -> tf.Tensor:
  """Returns phi [K, D] plus uniform noise of half-width `width` [K, D]."""
  return phi + randomness.uniform(seed, tf.shape(phi), -width, width)


def propose(
  space: task_space.TaskSpace,
  seeds: tf.Tensor,
  num_seeds: tf.Tensor,
  particles: tf.Tensor,
  weight: tf.Tensor,
  cfg: config.TaskExpansionConfig,
  seed: types.Seed,
) -> tf.Tensor:
  """Returns K children; the parent of child k is seed k modulo num_seeds.

  Args:
    space: decides what is feasible.
    seeds: [K, D] parents, of which the first num_seeds are used.
    num_seeds: [] int32, number of seeds; with 0 the children are meaningless.
    particles: [C, D] tasks that repel the seeds.
    weight: [C] how strongly each task repels; 0 where there is no task.
    cfg: step size, noise and kernel.
    seed: random seed of this call.

  Returns:
    [K, D] tasks, which are feasible unless cfg.rejection is False.
  """
  step_seed, rim_seed, noise_seed = randomness.split(seed, 3)
  direction = _repulsion_of_first(seeds, num_seeds, particles, weight, cfg)
  step = cfg.step_size * (-direction if cfg.is_attractive else direction)
  turn = tf.range(seeds.shape[0]) % tf.maximum(num_seeds, 1)
  phi, step = tf.gather(seeds, turn), tf.gather(step, turn)
  # A seed with a gradient of 0, such as the only solved task, takes a random
  # step, as in the released code.
  lost = tf.reduce_all(step == 0.0, -1, keepdims=True)
  anywhere = randomness.uniform(
    step_seed, tf.shape(phi), -cfg.step_size, cfg.step_size
  )
  moved = phi + tf.where(lost, anywhere, step)
  if not cfg.rejection:
    _, width, noise_seed = _widths(
      space, moved, cfg.noise, cfg.noise_probability, noise_seed
    )
    noisy = _noisy(moved, width, randomness.fold(noise_seed, 0))
    return space.clip(noisy, rim_seed)
  moved = space.clip(moved, rim_seed)
  moved = feasible_noise(
    *(space, moved, cfg.noise, cfg.noise_probability, cfg.max_redraws),
    noise_seed,
  )
  # A step may end between the boxes of a space. If noise does not lead back
  # into a box, the child is a copy of its parent.
  is_legal = tf.reduce_all(space.feasible(moved), -1, keepdims=True)
  return tf.where(is_legal, moved, phi)
