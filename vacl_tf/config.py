# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configuration as frozen dataclasses; a `RunLength` may change on resume.

Each leaf is also a flag of `launch.main`, such as `--config.ppo.clip`; names,
the seed and entity counts have flags of their own. A task, agent or curriculum
adds its own constants with a subclass of EnvironmentConfig, AgentConfig or
CurriculumConfig, which its registration names. A number declares its range with
`Annotated[float, Range(0.0, 1.0)]`.
"""

import dataclasses
from typing import Annotated, ClassVar, Literal, NamedTuple

NUM_PARTS = 10  # Of a batch that mixes entity counts.
NUM_HEADS = 4  # Of self-attention.
MANY = 10**9  # A bound for numbers that need none.
MAX_SEED = 2**31 - 1


class Range(NamedTuple):
  """The smallest and the largest value that a number may have."""

  low: float
  high: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvironmentConfig:
  """The world.

  Attributes:
    name: name of the task; empty for a world that was made by hand.
    num_agents: agents in each world (n).
    horizon: steps of an episode (T).
  """

  # Fields that count entities, in the order of a path such as 2x2,4x2,4x4.
  count_fields: ClassVar[tuple[str, ...]] = ('num_agents',)

  name: str = ''
  num_agents: Annotated[int, Range(1, 1000)] = 4
  horizon: Annotated[int, Range(1, 10_000)] = 70

  @property
  def counts(self) -> tuple[int, ...]:
    """Numbers of entities, in the order of count_fields."""
    return tuple(getattr(self, name) for name in self.count_fields)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentConfig:
  """Constants of every agent (paper, appendix on network architecture).

  Attributes:
    name: name of the agent.
    hidden_size: units in every layer (H).
  """

  # Consecutive steps that gradients go back through (L).
  segment_length: ClassVar[int] = 1

  name: str = ''
  hidden_size: Annotated[int, Range(1, 4096)] = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttendingConfig(AgentConfig):
  """Constants that the agents of the paper share.

  Attributes:
    activation: activation function of the hidden layers.
    attention_gain: gain of the orthogonal initialisation of attention's query
      and key matrices; relation layers use a gain of 1.
    observation_frame: `world` leaves observations as the environment returns
      them. `egocentric` applies the environment's own transform: relative
      positions with unit directions and distances and, where the map is
      symmetric, a canonical orientation.
  """

  activation: Literal['relu', 'tanh'] = 'relu'
  attention_gain: Annotated[float, Range(0.0, 1000.0)] = 0.125
  observation_frame: Literal['world', 'egocentric'] = 'world'


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttentionConfig(AttendingConfig):
  """Feed-forward attention over entities.

  Attributes:
    num_hops: attention layers over the entities. The first is queried by the
      agent's own state, each further one by the output of the one before.
    num_relations: self-attention layers before the hops. In them each entity
      attends to the other entities and to the agent, so that a ball is encoded
      together with the landmark beside it.
  """

  name: str = 'attention'
  num_hops: Annotated[int, Range(1, 10)] = 1
  num_relations: Annotated[int, Range(0, 10)] = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecurrentConfig(AttendingConfig):
  """Self-attention over entities, then a GRU.

  Attributes:
    segment_length: steps of truncated backpropagation through time (L), a
      divisor of the horizon.
    auxiliary_position_cost: weight of an auxiliary loss (pseudo-Huber, in
      metres) that makes the policy's memory predict the offset to a position
      that only the critic observes, if the task has one.
  """

  name: str = 'recurrent_attention'
  segment_length: Annotated[int, Range(1, 10_000)] = 10
  auxiliary_position_cost: Annotated[float, Range(0.0, MANY)] = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class PpoConfig:
  """Proximal policy optimisation (paper, table of hyper-parameters).

  Attributes:
    learning_rate: initial learning rate of both Adam optimisers.
    decay_start_steps: environment steps T at which the decay starts: after t >
      T steps the learning rate and the entropy bonus are (T / t) ** decay_power
      times their initial values. 0: no number of steps starts the decay.
    decay_start_coverage: coverage, averaged over the latest three evaluations,
      that starts the decay if it is reached before decay_start_steps; T is then
      the number of steps made so far. 0: no coverage starts the decay.
    decay_power: exponent of the decay of learning rate and entropy bonus.
    average_share: share of the iterations so far, approximately, over which the
      parameters of the evaluated and exported policy are averaged. 0: its
      parameters are those of the latest iteration.
    adam_epsilon: epsilon of both Adam optimisers.
    discount: discount factor (gamma).
    gae_lambda: lambda of generalized advantage estimation.
    clip: bound on the distance of the probability ratio from 1.
    value_clip: bound on the distance of the predicted value from the value
      predicted at roll-out.
    huber_delta: error at which the value loss becomes linear.
    center_rewards: whether the mean reward of a roll-out is subtracted from its
      rewards, separately for each role and entity count. With episodes of fixed
      length and observed time this changes no advantage, and the value network
      does not have to learn a constant.
    advantage_std_floor: lower bound on the standard deviation by which
      advantages are divided. Before any reward is found, advantages are only
      critic noise.
    entropy_cost: initial weight of the entropy bonus.
    value_cost: weight of the value loss.
    num_epochs: passes over the data of an iteration.
    num_minibatches: Adam steps in each pass.
    max_minibatch: largest number of agent-samples of an entity count in an Adam
      step, but at least one microbatch; each pass leaves out the rest at
      random. 0: no limit.
    gradient_scale: factor on the mean gradient (the released code sums over its
      K data chunks, which gives K times the mean).
    max_gradient_norm: bound on each network's gradient norm; 0: no bound.
    normalize_value: whether the value network learns normalised returns.
    value_decay: decay per iteration of the moving moments of the returns.
    microbatch_vectors: entity vectors in a microbatch, over which gradients are
      summed, and in a block of worlds in a roll-out. It affects speed and
      memory. Blocks have their own seeds: another number gives another random
      run.
  """

  learning_rate: Annotated[float, Range(0.0, 1.0)] = 7e-4
  decay_start_steps: Annotated[int, Range(0, MANY)] = 0
  decay_start_coverage: Annotated[float, Range(0.0, 1.0)] = 0.0
  decay_power: Annotated[float, Range(0.0, 100.0)] = 1.0
  average_share: Annotated[float, Range(0.0, 1.0)] = 0.0
  adam_epsilon: Annotated[float, Range(1e-12, 1.0)] = 1e-5
  discount: Annotated[float, Range(0.0, 1.0)] = 0.99
  gae_lambda: Annotated[float, Range(0.0, 1.0)] = 0.95
  clip: Annotated[float, Range(1e-6, 1.0)] = 0.2
  value_clip: Annotated[float, Range(1e-6, MANY)] = 0.2
  huber_delta: Annotated[float, Range(1e-6, MANY)] = 10.0
  center_rewards: bool = False
  advantage_std_floor: Annotated[float, Range(0.0, MANY)] = 0.0
  entropy_cost: Annotated[float, Range(0.0, MANY)] = 0.02
  value_cost: Annotated[float, Range(0.0, MANY)] = 1.0
  num_epochs: Annotated[int, Range(1, 1000)] = 1
  num_minibatches: Annotated[int, Range(1, 1_000_000)] = 5
  max_minibatch: Annotated[int, Range(0, MANY)] = 0
  gradient_scale: Annotated[float, Range(1e-6, MANY)] = 1.0
  max_gradient_norm: Annotated[float, Range(0.0, MANY)] = 20.0
  normalize_value: bool = True
  value_decay: Annotated[float, Range(0.0, 0.999999)] = 0.9
  microbatch_vectors: Annotated[int, Range(1, 10_000_000)] = 8000


@dataclasses.dataclass(frozen=True, kw_only=True)
class CurriculumConfig:
  """Constants of every curriculum.

  Attributes:
    name: name of the curriculum.
  """

  name: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class EditingConfig(CurriculumConfig):
  """Constants of curricula that start with easy tasks and edit known tasks.

  The presets of a task set these constants, so that all such curricula get the
  same easy tasks and the same noise.

  Attributes:
    num_easy_tasks: easy tasks that the curriculum starts with.
    noise: half-width of the uniform noise on tasks (delta), in units of phi.
    noise_probability: probability that an entity is perturbed; 1 perturbs all.
      Tasks with a few entities moved far are learned sooner than tasks with all
      entities moved a little.
  """

  num_easy_tasks: Annotated[int, Range(1, 20_000)] = 500
  noise: Annotated[float, Range(0.0, MANY)] = 2.0
  noise_probability: Annotated[float, Range(0.0, 1.0)] = 0.25


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskExpansionConfig(EditingConfig):
  """Task expansion (paper, Algorithm 1).

  Attributes:
    capacity: capacity of the active set and of the solved set, in tasks (C).
    batch_shares: whether the share of solved tasks in a batch is
      solved_fraction, or equals the share of solved tasks in both sets together
      (ablation of the paper).
    solved_fraction: share of solved tasks in a batch if batch_shares is fixed.
    target_share: share of target tasks in a batch at coverage 1. It is
      multiplied by the latest evaluated coverage, so that target tasks replace
      the curriculum's tasks as the policy masters them.
    score: score of a task, which is compared with solved_value and
      dropped_value: the value, or the share of roll-outs with progress 1 in
      each of the last five steps. With training.num_rollouts=1 that share is 0
      or 1.
    solved_value: score that a task must exceed to be solved (sigma_max).
    dropped_value: score below which a task leaves a full active set
      (sigma_min).
    num_children: largest number of tasks proposed in an update (B_exp).
    max_children_per_seed: largest number of children of one seed; 0: no
      bound. A bound keeps the first few solved tasks from crowding out
      the easy tasks.
    seed_source: tasks that become seeds, whose children are proposed: newly
      solved tasks; active tasks whose latest score is at least dropped_value
      (the paper's text of Exp.Act); or any tasks in the active set, played or
      not (as the authors ran it in Simple-Spread).
    seed_choice: whether the first tasks of the source or random ones become
      seeds.
    admission: whether children enter the active set at once, or only after they
      were played and scored at least dropped_value and at most solved_value
      (the paper's evaluation of new tasks). At most training.num_tasks children
      are tested in an iteration, without training; their steps count.
    step_size: Euclidean length of the Stein step (epsilon), in units of phi.
    weighting: which tasks repel a seed: solved tasks, all equally (equation 6
      of the paper), or tasks of both sets, each in proportion to its latest
      score in the active set and untested tasks not at all (equation 5). The
      length of the step is the same.
    bandwidth: bandwidth of the kernel (h).
    kernel: kernel of the Stein step: one-dimensional for each coordinate
      (released code), or the joint kernel of the paper.
    is_attractive: whether the Stein step goes towards solved tasks, not away.
    rejection: whether noise that makes an entity infeasible is redrawn. If not,
      it is drawn once, and the task space clips the child: in a room each point
      moves to the nearest legal place; elsewhere a child may stay infeasible.
    max_redraws: largest number of noise draws for an infeasible entity.
    num_neighbours: nearest neighbours whose mean distance is a task's novelty.
    active_eviction: which tasks a full active set removes.
    solved_eviction: which tasks a full solved set removes.
  """

  name: str = 'vacl'
  capacity: Annotated[int, Range(2, 20_000)] = 2000
  batch_shares: Literal['fixed', 'proportional'] = 'fixed'
  solved_fraction: Annotated[float, Range(0.0, 1.0)] = 0.05
  target_share: Annotated[float, Range(0.0, 1.0)] = 0.0
  score: Literal['value', 'success'] = 'value'
  solved_value: Annotated[float, Range(0.0, 1.0)] = 0.95
  dropped_value: Annotated[float, Range(0.0, 1.0)] = 0.5
  num_children: Annotated[int, Range(1, 5000)] = 400
  max_children_per_seed: Annotated[int, Range(0, 5000)] = 4
  seed_source: Literal['solved', 'active', 'any'] = 'solved'
  seed_choice: Literal['first', 'random'] = 'random'
  admission: Literal['none', 'tested'] = 'none'
  step_size: Annotated[float, Range(0.0, MANY)] = 0.4
  weighting: Literal['none', 'value'] = 'none'
  bandwidth: Annotated[float, Range(1e-9, MANY)] = 1.0
  kernel: Literal['coordinate', 'joint'] = 'coordinate'
  is_attractive: bool = False
  rejection: bool = True
  max_redraws: Annotated[int, Range(1, 1000)] = 100
  num_neighbours: Annotated[int, Range(1, 1000)] = 5
  active_eviction: Literal['diverse', 'fifo', 'random'] = 'diverse'
  solved_eviction: Literal['diverse', 'fifo', 'random'] = 'fifo'


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProgressionConfig:
  """Entity progression (paper, section on entity progression).

  Attributes:
    entity_counts: entity counts that are trained one after another, such as
      '4,8,16', or '2x2,4x2,4x4' with two kinds of counted entities. Empty: no
      entity progression.
    transition: whether two consecutive entity counts are trained together for a
      while, or training switches to the larger one at once.
    switch_coverage: greedy coverage with the present entity count at which the
      next count begins, and with the next count above which the present ends.
    latest_switch: iterations with one entity count alone after which the next
      count begins at any coverage; 0: never.
    mixing_step: increment of the weight of the larger entity count.
    mixing_interval: iterations between increments of the larger count's weight
      (D).
    mixing: share of the smaller entity count: as many agents as the larger
      count would have had (released code), the smaller count's weight (paper),
      or its number of draws from the categorical distribution.
    reset_optimizer: whether both Adam optimisers are reset, as if no step had
      been made, when an entity count is first trained on. The learning rate and
      the moments of the returns are kept.
  """

  entity_counts: str = ''
  transition: Literal['mix', 'direct'] = 'mix'
  switch_coverage: Annotated[float, Range(0.0, 1.0)] = 0.9
  latest_switch: Annotated[int, Range(0, MANY)] = 0
  mixing_step: Annotated[float, Range(0.1, 1.0)] = 0.1
  mixing_interval: Annotated[int, Range(1, 1_000_000)] = 30
  mixing: Literal['agents', 'paper', 'stochastic'] = 'agents'
  reset_optimizer: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig:
  """How much is played, and what a curriculum may do.

  Attributes:
    num_tasks: worlds played in parallel (B).
    num_rollouts: roll-outs, each with its own update, on one draw of tasks (R).
    num_evaluation_tasks: tasks in an evaluation.
    checks_tasks: whether a run ends if its curriculum returns tasks that are
      infeasible. The check does not change results.
    gives_target: whether the curriculum can draw target tasks. If not, it is
      given tasks that are uniform over the legal region instead.
  """

  num_tasks: Annotated[int, Range(1, 1_000_000)] = 120
  num_rollouts: Annotated[int, Range(1, 1000)] = 1
  num_evaluation_tasks: Annotated[int, Range(1, 1_000_000)] = 500
  checks_tasks: bool = False
  gives_target: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
  """All constants of a run.

  Attributes:
    seed: root of all randomness.
    preset: name of the preset that the constants come from.
    environment: the world.
    agent: the networks.
    ppo: the learner.
    curriculum: the choice of the next tasks.
    progression: how the number of entities grows.
    training: how much is played.
  """

  seed: Annotated[int, Range(0, MAX_SEED)] = 0
  preset: str = 'default'
  environment: EnvironmentConfig = EnvironmentConfig()
  agent: AgentConfig = AttentionConfig()
  ppo: PpoConfig = PpoConfig()
  curriculum: CurriculumConfig = TaskExpansionConfig()
  progression: ProgressionConfig = ProgressionConfig()
  training: TrainingConfig = TrainingConfig()


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunLength:
  """When to stop, evaluate and save; may change when a run is resumed.

  Attributes:
    num_env_steps: total environment steps (evaluation not counted).
    stop_at_coverage: coverage, averaged over the latest three evaluations, at
      which the run ends; 0: never.
    evaluation_interval: iterations between evaluations.
    checkpoint_interval: iterations between checkpoints.
    num_checkpoints: checkpoints to keep.
  """

  num_env_steps: Annotated[int, Range(1, 10**12)] = 10_000_000
  stop_at_coverage: Annotated[float, Range(0.0, 1.0)] = 0.0
  evaluation_interval: Annotated[int, Range(1, MANY)] = 10
  checkpoint_interval: Annotated[int, Range(1, MANY)] = 20
  num_checkpoints: Annotated[int, Range(1, 1000)] = 3
