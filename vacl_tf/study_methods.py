# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The methods that studies compare, as flags of `launch.main`.

A name means the same in all studies, so studies can share runs. Config fields
are set here and, for worlds, in `study_tasks`.
"""

BASELINE = 'vacl_default'  # The method that all others are compared with.

# No decay of the learning rate: a decay that is timed to the success of one
# method penalises methods that start late. No averaged policies: they are newer
# than the protocol.
_CONSTANT_RATE = (
  '--config.ppo.decay_start_steps=0',
  '--config.ppo.decay_start_coverage=0',
  '--config.ppo.average_share=0',
)


def _fields(**values: float | str) -> tuple[str, ...]:
  """Returns flags that set fields of the curriculum."""
  return tuple(f'--config.curriculum.{k}={v}' for k, v in values.items())


# The curriculum of the preset `paper`; a test checks that they agree.
_PAPER = _fields(
  num_children=150,
  max_children_per_seed=0,
  step_size=0.6,
  noise=0.6,
  noise_probability=1.0,
  target_share=0.0,
  seed_choice='first',
)
# The curriculum of the preset `default` in Simple-Spread.
_DEFAULT = _fields(
  num_children=400,
  max_children_per_seed=4,
  step_size=0.4,
  noise=2.0,
  noise_probability=0.25,
  seed_choice='random',
)
# As the authors ran it in Simple-Spread.
_AUTHORS_RCG = _fields(noise=0.6, noise_probability=1.0)
_PURE = _fields(knows_easy='false')
_DIRECT = ('--config.progression.transition=direct',)

_METHODS = {
  BASELINE: (),
  'vacl_paper': _PAPER,
  # As published, with the learner of the paper.
  'preset_paper': ('--preset=paper',),
  # The learner of the paper with the curriculum of the preset `default`; a test
  # checks that they agree. Then the same learner without a curriculum.
  'paper_learner': ('--preset=paper', *_DEFAULT),
  'paper_learner_uniform': ('--preset=paper', '--curriculum=uniform'),
  'uniform': ('--curriculum=uniform',),
  'vacl_no_target': _fields(target_share=0.0),
  # Each leaves out one thing that the preset `default` adds.
  'no_frame': ('--config.agent.observation_frame=world',),
  'one_hop': ('--config.agent.num_hops=1',),
  'all_noisy': _fields(noise_probability=1.0),
  'gradient_norm_20': ('--config.ppo.max_gradient_norm=20.0',),
  'with_decay': (),
  # Without entity progression.
  'vacl_direct': ('--curriculum=task_expansion',),
  # Uniform tasks with few entities, then with all.
  'pc_unif': ('--curriculum=uniform', *_DIRECT),
  # The paper's baselines.
  'rcg_code': ('--curriculum=rcg', *_AUTHORS_RCG),
  'rcg_original': (
    '--curriculum=rcg',
    *_AUTHORS_RCG,
    '--config.training.num_rollouts=3',
    *_fields(
      score='success',
      least=0.1,
      most=0.9,
      pool_distance=0.3,
      falls_back='true',
    ),
  ),
  'goal_gan': ('--curriculum=goal_gan',),
  'goal_gan_code': (
    '--curriculum=goal_gan',
    *_fields(new_share=0.7, noise_dims=16, goal_noise=0.01),
  ),
  'amigo': ('--curriculum=amigo',),
  'amigo_pure': ('--curriculum=amigo', *_PURE),
  # Curricula of other fields. They are given easy tasks, but not with _PURE.
  'accel': ('--curriculum=accel',),
  'plr': ('--curriculum=plr',),
  'sfl': ('--curriculum=sfl',),
  'currot': ('--curriculum=currot',),
  'alp_gmm': ('--curriculum=alp_gmm',),
  'vds': ('--curriculum=vds',),
  'hindsight': ('--curriculum=hindsight',),
  'hindsight_pure': ('--curriculum=hindsight', *_PURE),
  'sfl_pure': ('--curriculum=sfl', *_PURE),
  # Ablations of task expansion.
  'no_stein': _fields(step_size=0.0),
  'attractive': _fields(is_attractive='true'),
  'joint_kernel': _fields(kernel='joint'),
  'no_noise': _fields(noise=0.0),
  'capacity_200': _fields(capacity=200, num_easy_tasks=200),
  'capacity_4000': _fields(capacity=4000),
  'fifo': _fields(active_eviction='fifo'),
  'seeds_active': _fields(seed_source='active'),
  'seeds_any': _fields(seed_source='any'),
  'seeds_tested': _fields(seed_source='active', admission='tested'),
  'proportional': _fields(batch_shares='proportional'),
  'value_weighted': _fields(weighting='value', kernel='joint'),
  'no_rejection': _fields(rejection='false'),
  # A quarter of the noise's width, for a quarter of the entities and for all.
  # In Speaker-Listener, below, it is half of the width.
  'narrow_noise': _fields(noise=0.5),
  'narrow_noise_no_stein': _fields(noise=0.5, step_size=0.0),
  'narrow_noise_all': (*_PAPER, *_fields(noise=0.15)),
  'dropped_value_025': _fields(dropped_value=0.25),
  'dropped_value_075': _fields(dropped_value=0.75),
  'three_rollouts': ('--config.training.num_rollouts=3',),
  # Ablations of entity progression.
  'vacl_hard_switch': _DIRECT,
  'vacl_hard_switch_norm_20': (
    *_DIRECT,
    '--config.ppo.max_gradient_norm=20.0',
  ),
  'vacl_reset_optimizer': (
    *_DIRECT,
    '--config.progression.reset_optimizer=true',
  ),
  'vacl_one_by_one': ('--entity_counts=4,5,6,7,8',),
  'vacl_agents_first': ('--entity_counts=2x2,4x2,4x4',),
  'vacl_boxes_first': ('--entity_counts=2x2,2x4,4x4',),
  # Others with entity progression.
  'rcg_growing': ('--curriculum=rcg', *_AUTHORS_RCG, '--entity_counts=4,8'),
  'accel_growing': ('--curriculum=accel', '--entity_counts=4,8'),
}
_RATE_OF_PRESET = ('with_decay', 'preset_paper')
# By method and task. If a flag is given twice, the last one counts.
_METHODS_FOR = {
  ('vacl_paper', 'push_ball_n2'): _fields(step_size=0.4, noise=0.4),
  ('vacl_paper', 'hard_spread_n4'): _fields(num_children=300, bandwidth=1000.0),
  ('vacl_paper', 'speaker_listener'): _fields(
    num_easy_tasks=1000, num_children=30, step_size=0.05, noise=0.05
  ),
  # As the authors ran it.
  **{
    (f'rcg_{reading}', task): _fields(noise=width)
    for reading in ('code', 'original')
    for task, width in (
      ('push_ball_n2', 0.4),
      ('push_ball_n4', 0.4),
      ('speaker_listener', 0.1),
    )
  },
  # After the protocol was made, the preset's noise was halved.
  **{
    (method, 'speaker_listener'): _fields(noise=0.2)
    for method in (BASELINE, 'no_stein', 'accel', 'sfl', 'currot', 'vds')
  },
  ('narrow_noise', 'speaker_listener'): _fields(noise=0.1),
  ('narrow_noise_no_stein', 'speaker_listener'): _fields(noise=0.1),
  # The authors' width is not known: that of the preset, in cells.
  **{
    ('rcg_code', task): _fields(noise=3.0)
    for task in ('ramp_use', 'lock_and_return_6m', 'lock_and_return_12m')
  },
  ('rcg_growing', 'push_ball_n4'): (
    *_fields(noise=0.4),
    '--entity_counts=2,4',
  ),
  ('accel_growing', 'push_ball_n4'): ('--entity_counts=2,4',),
  # Switches after 0.4 of the steps at the latest; else it might never switch.
  ('pc_unif', 'simple_spread_n8'): (
    '--entity_counts=4,8',
    '--config.progression.latest_switch=190',
  ),
  ('pc_unif', 'push_ball_n4'): (
    '--entity_counts=2,4',
    '--config.progression.latest_switch=417',
  ),
}

NAMES = tuple(_METHODS)


def flags(method: str, task: str) -> tuple[str, ...]:
  """Returns the flags of `launch.main` for a method in a task."""
  rate = () if method in _RATE_OF_PRESET else _CONSTANT_RATE
  return (*rate, *_METHODS[method], *_METHODS_FOR.get((method, task), ()))
