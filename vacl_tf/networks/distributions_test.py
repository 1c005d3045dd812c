# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Actions of one choice, of several and of bounded numbers."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from dm_env import specs

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.networks import distributions

_SEED = randomness.root(4)
_SIZES = (3, 2, 4)
# No round numbers, so that rounding could lead outside.
_LOW, _HIGH = np.float32([-1.1, 0.3]), np.float32([2.9, 1.0])


class DrawTest(parameterized.TestCase, tf.test.TestCase):
  def test_frequencies_are_those_of_the_softmax(self):
    logits = tf.constant([[0.0, 1.0, -1.0], [2.0, 2.0, 2.0]])
    uniform = randomness.uniform(_SEED, [20000, 2])
    many = tf.broadcast_to(logits, [20000, 2, 3])
    found = distributions.draw_actions(many, uniform)
    self.assertEqual(found.dtype, tf.int32)
    shares = tf.reduce_mean(tf.one_hot(found, 3), 0)
    self.assertAllClose(shares, tf.nn.softmax(logits), atol=0.015)

  @parameterized.parameters((0.0, 0), (0.24, 0), (0.26, 1), (0.76, 2))
  def test_bounds(self, number, action):
    logits = tf.math.log([[0.25, 0.5, 0.25]])
    found = distributions.draw_actions(logits, tf.constant([number]))
    self.assertAllEqual(found, [action])

  def test_numbers_next_to_one_are_still_actions(self):
    logits = tf.random.stateless_normal([1000, 5], [0, 0], 0.0, 3.0)
    almost_one = np.nextafter(np.float32(1.0), np.float32(0.0))
    found = distributions.draw_actions(logits, tf.fill([1000], almost_one))
    self.assertAllInRange(found, 0, 4)

  @parameterized.product(masked=((4,), (2,), (0, 3, 4)), jit=(False, True))
  def test_what_is_impossible_is_never_drawn(self, masked, jit):
    logits = np.random.default_rng(0).normal(size=[5000, 5]).astype(np.float32)
    logits[:, masked] = -np.inf
    sums = np.cumsum(tf.nn.softmax(logits), -1)
    draw = tf.function(distributions.draw_actions, jit_compile=jit)
    almost_one = np.nextafter(np.float32(1.0), np.float32(0.0))
    for number in (*sums.T, np.zeros(5000), np.full(5000, almost_one)):
      number = np.float32(number)
      for near in (
        number,
        np.nextafter(number, 0.0),
        np.nextafter(number, 1.0),
      ):
        found = draw(logits, np.float32(near))
        self.assertNoCommonElements(set(found.numpy()), masked)


class CategoricalTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    self.logits = tf.constant(rng.normal(0.0, 2.0, [5, 7, 3]), tf.float32)
    self.choice = distributions.Categorical(logits=self.logits)
    self.log_probs = tf.math.log_softmax(self.logits).numpy()

  def test_draws_are_those_of_its_logits(self):
    uniform = randomness.uniform(_SEED, [5, 7])
    found = self.choice.draw(uniform)
    self.assertEqual(found.dtype, tf.int32)
    expected = distributions.draw_actions(self.logits, uniform)
    self.assertAllEqual(found, expected)

  def test_the_mode_is_likeliest(self):
    found = self.choice.mode()
    self.assertEqual(found.dtype, tf.int32)
    self.assertAllEqual(found, self.log_probs.argmax(-1))

  def test_log_prob_and_entropy(self):
    for action in range(3):
      found = self.choice.log_prob(tf.fill([5, 7], action))
      self.assertAllClose(found, self.log_probs[..., action], 1e-5, 1e-5)
    entropy = -(np.exp(self.log_probs) * self.log_probs).sum(-1)
    self.assertAllClose(self.choice.entropy(), entropy, 1e-5, 1e-5)

  def test_outputs_are_its_logits(self):
    [(name, found)] = self.choice.outputs().items()
    self.assertEqual(name, 'logits')
    self.assertAllEqual(found, self.logits)


class MultiCategoricalTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    self.logits = rng.normal(0.0, 2.0, [5, 7, sum(_SIZES)]).astype(np.float32)
    self.heads = distributions.MultiCategorical(
      tf.constant(self.logits), _SIZES
    )
    log_probs = []
    for part in np.split(self.logits, np.cumsum(_SIZES)[:-1], -1):
      shifted = part - np.log(np.exp(part).sum(-1, keepdims=True))
      log_probs.append(shifted)
    self.log_probs = log_probs

  def test_the_probability_is_the_product_over_heads(self):
    rng = np.random.default_rng(1)
    choices = [rng.integers(0, size, [5, 7]) for size in _SIZES]
    expected = sum(
      np.take_along_axis(log_prob, choice[..., None], -1)[..., 0]
      for log_prob, choice in zip(self.log_probs, choices, strict=True)
    )
    action = tf.constant(np.stack(choices, -1), tf.int32)
    self.assertAllClose(self.heads.log_prob(action), expected, atol=1e-5)

  def test_the_entropy_is_the_mean_over_heads(self):
    entropies = [-(np.exp(x) * x).sum(-1) for x in self.log_probs]
    self.assertAllClose(self.heads.entropy(), np.mean(entropies, 0), atol=1e-5)

  def test_the_mode_is_each_head_s_likeliest(self):
    expected = np.stack([x.argmax(-1) for x in self.log_probs], -1)
    self.assertAllEqual(self.heads.mode(), expected)
    self.assertEqual(self.heads.mode().dtype, tf.int32)

  def test_outputs_are_all_logits(self):
    [(name, found)] = self.heads.outputs().items()
    self.assertEqual(name, 'logits')
    self.assertAllEqual(found, self.logits)

  def test_draws_have_each_head_s_frequencies(self):
    num = 20000
    many = distributions.MultiCategorical(
      tf.repeat(self.logits[0, :1], num, 0), _SIZES
    )
    found = many.draw(randomness.uniform(_SEED, [num, len(_SIZES)])).numpy()
    for head, log_prob in enumerate(self.log_probs):
      shares = np.bincount(found[:, head], minlength=_SIZES[head]) / num
      self.assertAllClose(shares, np.exp(log_prob[0, 0]), atol=0.015)

  def test_heads_are_drawn_independently(self):
    num = 20000
    uniform_heads = distributions.MultiCategorical(tf.zeros([num, 4]), (2, 2))
    found = uniform_heads.draw(randomness.uniform(_SEED, [num, 2])).numpy()
    self.assertAllClose(np.mean(found[:, 0] == found[:, 1]), 0.5, atol=0.015)


_PARAMETERS = np.random.default_rng(0).normal(0.0, 2.0, [6, 4])


def _bounded(parameters=_PARAMETERS):
  """Returns distributions [6] of two numbers, of all sorts of shapes."""
  return distributions.BoundedNormal(
    tf.constant(parameters, tf.float32), _LOW, _HIGH
  )


def _grid(num):
  """Returns the middles [num, 2] of equal cells in each dimension."""
  share = (np.arange(num) + 0.5) / num
  return _LOW + (_HIGH - _LOW) * share[:, None]


def _densities(distribution, row, num):
  """Returns densities [num, 2] of each dimension on a grid, by log_prob."""
  at = _grid(num)
  middle = np.tile((_LOW + _HIGH) / 2, [num, 1])
  rows = [
    np.stack([at[:, 0], middle[:, 1]], -1),
    np.stack([middle[:, 0], at[:, 1]], -1),
  ]
  densities = []
  for points in rows:
    every = tf.constant(points[:, None], tf.float32)  # [num, 1, 2]
    densities.append(np.exp(distribution.log_prob(every).numpy()[:, row]))
  return np.stack(densities, -1)


class BoundedNormalTest(parameterized.TestCase, tf.test.TestCase):
  def test_densities_integrate_to_one(self):
    num = 300
    distribution = _bounded()
    axes = [_grid(num)[:, i] for i in range(2)]
    points = np.stack(np.meshgrid(*axes, indexing='ij'), -1).reshape([-1, 2])
    every = tf.constant(points[:, None], tf.float32)
    density = np.exp(distribution.log_prob(every).numpy())
    cell = np.prod((_HIGH - _LOW) / num)
    self.assertAllClose(density.sum(0) * cell, np.ones(6), 1e-2)

  def test_draws_have_the_density_s_distribution(self):
    num, num_cells = 20_000, 40
    distribution = _bounded()
    for row in range(6):
      many = _bounded(np.tile(_PARAMETERS[row], [num, 1]))
      drawn = many.draw(randomness.uniform(_SEED, [num, 2])).numpy()
      density = _densities(distribution, row, 40 * num_cells)
      density /= density.sum(0)
      cdf = density.reshape([num_cells, -1, 2]).sum(1).cumsum(0)
      edges = _LOW + (_HIGH - _LOW) * np.arange(1, num_cells + 1)[:, None] / (
        num_cells
      )
      found = (drawn[None] <= edges[:, None] + 1e-6).mean(1)
      self.assertAllClose(found, cdf, atol=0.015)

  def test_draws_grow_with_the_uniform_numbers(self):
    uniform = tf.constant(np.linspace(0.0, 1.0, 101), tf.float32)
    uniform = tf.tile(uniform[:, None, None], [1, 6, 2])
    drawn = _bounded().draw(uniform).numpy()
    self.assertAllGreaterEqual(np.diff(drawn, axis=0), 0.0)
    # From one bound to the other, or as far as there is any density.
    self.assertGreater(np.min(drawn[-1] - drawn[0]), 0.2)

  @parameterized.parameters(-100.0, -3.0, 0.0, 3.0, 100.0)
  def test_draws_are_within_the_bounds(self, location):
    for scale in (-100.0, 0.0, 100.0):
      parameters = tf.constant([[location] * 2 + [scale] * 2])
      distribution = distributions.BoundedNormal(parameters, _LOW, _HIGH)
      for number in (0.0, 1e-7, 0.5, np.nextafter(np.float32(1), 0), 1.0):
        drawn = distribution.draw(tf.fill([1, 2], tf.constant(number)))
        self.assertAllGreaterEqual(drawn - _LOW, 0.0)
        self.assertAllGreaterEqual(_HIGH - drawn, 0.0)
        self.assertAllInRange(distribution.log_prob(drawn), -1e4, 1e4)

  def test_the_entropy_is_the_mean_over_dimensions_of_scaled_actions(self):
    num, distribution = 4000, _bounded()
    entropy = distribution.entropy().numpy()
    for row in range(6):
      density = _densities(distribution, row, num)
      density /= density.sum(0)
      scaled = density * num / 2.0  # On [-1, 1], whose width is 2.
      expected = -(density * np.log(scaled + 1e-30)).sum(0).mean()
      self.assertAllClose(entropy[row], expected, 1e-3, 1e-3)

  def test_the_mode_has_the_greatest_density(self):
    distribution = _bounded()
    mode = distribution.mode()
    most = distribution.log_prob(mode)
    uniform = randomness.uniform(_SEED, [1000, 6, 2])
    others = distribution.log_prob(distribution.draw(uniform))
    self.assertAllGreaterEqual(most - tf.reduce_max(others, 0), 0.0)
    self.assertAllGreaterEqual(mode - _LOW, 0.0)
    self.assertAllGreaterEqual(_HIGH - mode, 0.0)

  def test_parameters_of_0_are_the_middle_and_a_quarter_of_the_width(self):
    outputs = distributions.BoundedNormal(
      tf.zeros([3, 4]), _LOW, _HIGH
    ).outputs()
    self.assertEqual(sorted(outputs), ['location', 'scale'])
    self.assertAllClose(outputs['location'], [(_LOW + _HIGH) / 2] * 3)
    self.assertAllClose(outputs['scale'], [(_HIGH - _LOW) / 4] * 3)

  @parameterized.product(
    location=(-50.0, -2.0, 0.0, 50.0), scale=(-200.0, -5.0, 0.0, 5.0, 200.0)
  )
  def test_gradients_are_finite(self, location, scale):
    parameters = tf.constant([[location] * 2 + [scale] * 2])
    for action in (_LOW, (_LOW + _HIGH) / 2, _HIGH):
      with tf.GradientTape() as tape:
        tape.watch(parameters)
        distribution = distributions.BoundedNormal(parameters, _LOW, _HIGH)
        log_prob = distribution.log_prob(tf.constant([action], tf.float32))
        total = log_prob + distribution.entropy()
      self.assertAllInRange(tape.gradient(total, parameters), -1e5, 1e5)

  def test_scales_beyond_the_usual_still_have_a_gradient(self):
    parameters = tf.constant([[0.0, 0.0, -4.0, 4.0]])
    with tf.GradientTape() as tape:
      tape.watch(parameters)
      distribution = distributions.BoundedNormal(parameters, _LOW, _HIGH)
      entropy = distribution.entropy()
    gradient = tape.gradient(entropy, parameters)[0, 2:]
    self.assertAllGreater(gradient, 1e-5)

  @parameterized.parameters(False, True)
  def test_compiled_equals_eager(self, jit):
    uniform = randomness.uniform(_SEED, [6, 2])

    def run():
      distribution = _bounded()
      action = distribution.draw(uniform)
      return {
        'action': action,
        'mode': distribution.mode(),
        'log_prob': distribution.log_prob(action),
        'entropy': distribution.entropy(),
        **distribution.outputs(),
      }

    found = tf.function(run, jit_compile=jit, autograph=False)()
    self.assertAllClose(found, run(), 1e-4, 1e-4)


def _continuous(*shape, low=-1.0, high=1.0):
  return specs.BoundedArray(shape, 'float32', low, high)


class MakeTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    (types.discrete(5), 5, distributions.Categorical),
    (types.multi_discrete((3, 2, 4)), 9, distributions.MultiCategorical),
    (types.multi_discrete((7,)), 7, distributions.MultiCategorical),
    (
      # One bound for all heads.
      specs.BoundedArray((3,), 'int32', 0, 4),
      15,
      distributions.MultiCategorical,
    ),
    (_continuous(3), 6, distributions.BoundedNormal),
    (_continuous(1), 2, distributions.BoundedNormal),
    (_continuous(2, low=[-1.0, 0.0]), 4, distributions.BoundedNormal),
  )
  def test_every_kind_of_action_has_its_distribution(self, action, num, kind):
    self.assertEqual(distributions.num_outputs(action), num)
    outputs = randomness.uniform(_SEED, [4, 3, num], -2.0, 2.0)
    distribution = distributions.make(action, outputs)
    self.assertIsInstance(distribution, kind)
    uniform = randomness.uniform(_SEED, [4, 3, *action.shape])
    for chosen in (distribution.draw(uniform), distribution.mode()):
      self.assertEqual(chosen.shape, (4, 3, *action.shape))
      self.assertEqual(chosen.dtype.as_numpy_dtype, action.dtype)
      self.assertAllGreaterEqual(chosen - action.minimum, 0)
      self.assertAllGreaterEqual(action.maximum - chosen, 0)
      self.assertEqual(distribution.log_prob(chosen).shape, (4, 3))
    self.assertEqual(distribution.entropy().shape, (4, 3))
    for x in distribution.outputs().values():
      self.assertEqual(x.shape[:2], (4, 3))

  def test_sizes(self):
    for action, sizes in (
      (types.discrete(5), (5,)),
      (types.multi_discrete((3, 2, 4)), (3, 2, 4)),
      (specs.BoundedArray((3,), 'int32', 0, 4), (5, 5, 5)),
    ):
      self.assertEqual(distributions.sizes(action), sizes)

  @parameterized.parameters(
    (specs.BoundedArray((), 'int32', 1, 4), 'counted from 0'),
    (specs.BoundedArray((2, 2), 'int32', 0, 4), 'a vector of such choices'),
    (_continuous(), 'one axis'),
    (_continuous(2, 2), 'one axis'),
    (_continuous(2, high=np.inf), 'finite bounds'),
    (_continuous(2, high=[1.0, -1.0]), 'finite bounds, low below high'),
  )
  def test_other_actions_are_refused(self, action, words):
    with self.assertRaisesRegex(ValueError, words):
      distributions.num_outputs(action)


if __name__ == '__main__':
  tf.test.main()
