# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The estimate is on the safe side of measured peaks, and near them."""

import functools

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import environments
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.testing import fakes
from vacl_tf.training import footprint
from vacl_tf.training import run as run_lib

_START = 640  # MiB that a process has before it makes programs.


def _estimate(values, **options):
  """Returns MiB by field."""
  cfg = presets.make(path='', curriculum='task_expansion', **options)
  cfg = overrides.replace(cfg, values)
  envs = environments.load_all(cfg)
  found = footprint.estimate(run_lib.Run(cfg, envs), envs, cfg)
  return {name: size / 2**20 for name, size in found.items()}


@functools.cache
def _usual():
  return _estimate({}, env='simple_spread', num_agents=4)


# As iterations with many agents once were.
_ALL_SAMPLES = {
  'environment.horizon': 150,
  'training.num_tasks': 100,
  'ppo.num_minibatches': 15,
  'ppo.max_minibatch': 0,
}


class FootprintTest(parameterized.TestCase):
  # Peaks (VmHWM) in MiB after two iterations and an evaluation.
  @parameterized.parameters(
    (1185, {'env': 'simple_spread', 'num_agents': 4}, {}),
    (
      1467,
      {'env': 'simple_spread', 'num_agents': 4},
      {'training.num_tasks': 10_000},
    ),
    (
      2054,
      {
        'env': 'simple_spread',
        'num_agents': 4,
        'agent': 'recurrent_attention',
      },
      {'training.num_tasks': 4000},
    ),
    (
      2082,
      {'env': 'simple_spread', 'num_agents': 4},
      {'training.num_tasks': 1000, 'ppo.microbatch_vectors': 1_000_000},
    ),
    (1356, {'env': 'ramp_use'}, {'training.num_tasks': 500}),
    (1650, {'env': 'lock_and_return'}, {'training.num_tasks': 1000}),
  )
  def test_it_is_between_what_was_measured_and_twice_that(
    self, peak, options, values
  ):
    found = sum(_estimate(values, **options).values())
    self.assertBetween(_START + found, peak, 2 * peak)

  @parameterized.parameters(
    ('training.num_tasks', 1_000_000, 'num_tasks or config.environment.hor'),
    ('ppo.microbatch_vectors', 10_000_000, 'ppo.microbatch_vectors'),
    ('curriculum.capacity', 20_000, 'curriculum.capacity'),
    ('agent.hidden_size', 512, 'agent.hidden_size'),
  )
  def test_what_grows_has_its_field(self, name, value, field):
    values = {name: value}
    if name == 'ppo.microbatch_vectors':
      values['training.num_tasks'] = 10_000
    grown = _estimate(values, env='simple_spread', num_agents=4)
    usual = _usual()
    growth = {x: grown.get(x, 0.0) - usual.get(x, 0.0) for x in grown | usual}
    # Networks also take activations, which have a field of their own.
    self.assertGreater(
      max(size for x, size in growth.items() if field in x), 10.0
    )

  def test_a_users_world_outside_tensorflow_has_an_estimate(self):
    cfg = presets.make(env='simple_spread', num_agents=4, path='')
    env = fakes.LineWorld()
    self.assertNotEmpty(footprint.estimate(run_lib.Run(cfg, [env]), [env], cfg))

  # Seconds of an iteration on two cores, from benchmark and results/.
  @parameterized.parameters(
    (0.45, {'env': 'simple_spread', 'num_agents': 4}),
    (1.5, {'env': 'simple_spread', 'num_agents': 8}),
    (5.0, {'env': 'simple_spread', 'num_agents': 24}),
    (57.0, {'env': 'simple_spread', 'num_agents': 100}),
    (162.0, {'env': 'simple_spread', 'num_agents': 100}, _ALL_SAMPLES),
    (1.7, {'env': 'push_ball', 'num_agents': 4}),
    (0.9, {'env': 'ramp_use'}),
    (1.1, {'env': 'lock_and_return'}),
  )
  def test_time_is_within_a_factor_of_four(self, measured, options, changes=()):
    cfg = presets.make(path='', curriculum='task_expansion', **options)
    cfg = overrides.replace(cfg, dict(changes))
    found = footprint.iteration_seconds(environments.load_all(cfg), cfg)
    self.assertBetween(found, measured / 4.0, measured * 4.0)

  def test_time_grows_with_what_is_played(self):
    cfg = presets.make(env='simple_spread', num_agents=4, path='')
    envs = environments.load_all(cfg)
    once = footprint.iteration_seconds(envs, cfg)
    values = {'training.num_rollouts': 2, 'ppo.num_epochs': 3}
    more = overrides.replace(cfg, values)
    self.assertAlmostEqual(
      footprint.iteration_seconds(envs, more), 6.0 * once, 6
    )


if __name__ == '__main__':
  absltest.main()
