# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configuration: frozen dataclasses, and what may change on resume.

Leaves are also flags of `launch.main`, `--config.ppo.clip` for example; names,
the seed and numbers of entities have flags of their own.
Tasks, agents and curricula may bring constants of their own: a subclass of
EnvironmentConfig, AgentConfig or CurriculumConfig, named where they are
registered. A number says its range with `Annotated[float, Range(0.0, 1.0)]`.
"""

import dataclasses
from typing import Annotated, ClassVar, Literal, NamedTuple

NUM_PARTS = 10  # Of a batch that mixes entity counts.
NUM_HEADS = 4  # Of self-attention.
MANY = 10**9  # A bound for numbers that need none.
MAX_SEED = 2**31 - 1


class Range(NamedTuple):
  """The least and the largest value that a number may have."""

  low: float
  high: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvironmentConfig:
  """Which world.

  Attributes:
    name: of the task; empty for a world that was made by hand.
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
  """What all agents have in common (paper, appendix on network architecture).

  Attributes:
    name: of the agent.
    hidden_size: units of every layer (H).
  """

  # Consecutive steps that gradients go back through (L).
  segment_length: ClassVar[int] = 1

  name: str = ''
  hidden_size: Annotated[int, Range(1, 4096)] = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttendingConfig(AgentConfig):
  """What the agents of the paper have in common.

  Attributes:
    activation: of the hidden layers.
    attention_gain: of the orthogonal initialisation of attention's query and
      key matrices; relations have 1.
    observation_frame: `world` leaves observations as the environment returns
      them. `egocentric` applies the environment's own transform to what an
      agent sees: relative positions with unit directions and distances, and
      where the map is symmetric a canonical orientation.
  """

  activation: Literal['relu', 'tanh'] = 'relu'
  attention_gain: Annotated[float, Range(0.0, 1000.0)] = 0.125
  observation_frame: Literal['world', 'egocentric'] = 'world'


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttentionConfig(AttendingConfig):
  """Feed-forward attention over entities.

  Attributes:
    num_hops: attention layers over the entities; the first is queried by the
      agent's own state, each further one by the result of the one before.
    num_relations: layers of self-attention before the hops, in which each
      entity attends to the others and to the agent: so a ball is seen together
      with the landmark beside it.
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
    auxiliary_position_cost: weight of an auxiliary loss that makes the policy's
      memory predict the way to a position that only the critic observes, if
      the task has one (pseudo-Huber loss, in metres).
  """

  name: str = 'recurrent_attention'
  segment_length: Annotated[int, Range(1, 10_000)] = 10
  auxiliary_position_cost: Annotated[float, Range(0.0, MANY)] = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class PpoConfig:
  """Proximal policy optimisation (paper, table of hyper-parameters).

  Attributes:
    learning_rate: of both Adam optimisers, at first.
    decay_start_steps: environment steps T; after t > T of them learning rate
      and entropy bonus are (T / t) ** decay_power times their first value. 0:
      no number of steps begins that.
    decay_start_coverage: it begins when the mean coverage of the latest three
      evaluations reaches this, if that is sooner; T are the steps until then.
      0: no coverage begins that.
    decay_power: how steeply they fall.
    average_share: what is evaluated and exported has parameters that are
      averaged over about so large a share of the iterations so far; 0: those
      of the latest one.
    adam_epsilon: of both Adam optimisers.
    discount: gamma.
    gae_lambda: lambda of generalized advantage estimation.
    clip: bound on the distance of the probability ratio from 1.
    value_clip: bound on the distance of the value from the one at roll-out.
    huber_delta: error at which the value loss becomes linear.
    center_rewards: whether the mean reward of a roll-out is subtracted, of each
      role and entity count by itself. With episodes of fixed length and
      observed time this changes no advantage, and spares the value learning a
      constant.
    advantage_std_floor: lower bound of the standard deviation that advantages
      are divided by; before any reward is found, advantages are critic noise.
    entropy_cost: weight of the entropy bonus.
    value_cost: weight of the value loss.
    num_epochs: passes over the data of an iteration.
    num_minibatches: Adam steps in a pass.
    max_minibatch: agent-samples of an entity count that an Adam step learns
      from, at most; a pass leaves out the others, at random. 0: all.
    gradient_scale: factor on the mean gradient (the released code sums over
      its K data chunks, which is K times the mean).
    max_gradient_norm: bound on the norm of each network's gradient; 0 for none.
    normalize_value: whether the value learns normalised returns.
    value_decay: of the moving moments of the returns, per iteration.
    microbatch_vectors: entity vectors in a microbatch, over which gradients are
      summed, and in a block of worlds in a roll-out. For speed and memory; as
      blocks have seeds of their own, another number is another random run.
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
  """What all curricula have in common.

  Attributes:
    name: of the curriculum.
  """

  name: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class EditingConfig(CurriculumConfig):
  """Curricula that begin with easy tasks and make new tasks of known ones.

  A task's presets set these constants, so that all such curricula are given the
  same easy tasks and the same noise.

  Attributes:
    num_easy_tasks: easy tasks that the curriculum begins with.
    noise: half-width of the uniform noise (delta), in units of phi.
    noise_probability: probability that an entity is perturbed; 1 perturbs all.
      A few entities moved far are learned sooner than all moved a little.
  """

  num_easy_tasks: Annotated[int, Range(1, 20_000)] = 500
  noise: Annotated[float, Range(0.0, MANY)] = 2.0
  noise_probability: Annotated[float, Range(0.0, 1.0)] = 0.25


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskExpansionConfig(EditingConfig):
  """Task expansion (paper, Algorithm 1).

  Attributes:
    capacity: tasks in the active set and in the solved set (C).
    batch_shares: whether a batch holds solved_fraction of solved tasks, or as
      many as the solved set has of the tasks of both sets (ablation of the
      paper).
    solved_fraction: share of solved tasks in a batch, where it is fixed.
    target_share: share of tasks of the target distribution in a batch, times
      the latest evaluated coverage, so that they replace the curriculum's tasks
      as the target is mastered.
    score: what is compared with the two bounds below: the value, or the share
      of roll-outs with progress 1 in each of the last five steps. With
      training.num_rollouts=1 that is 0 or 1.
    solved_value: tasks above it are solved (sigma_max), strictly.
    dropped_value: tasks below it leave a full active set (sigma_min).
    num_children: tasks proposed in an update at most (B_exp).
    max_children_per_seed: of one newly solved task, 0 for no bound; keeps the
      first few solved tasks from crowding the easy ones out.
    seed_source: whose children are proposed: those of newly solved tasks; of
      active tasks whose latest score is at least dropped_value (the paper's
      text of Exp.Act); or of any task in the active set, played or not (as the
      authors ran it in Simple-Spread).
    seed_choice: the first tasks of the source become seeds, or a random choice.
    admission: whether children enter the active set at once, or only after they
      were played and scored at least dropped_value and at most solved_value
      (the paper's evaluation of new tasks). At most training.num_tasks of them
      are tested in an iteration; that is not trained on, and its steps count.
    step_size: Euclidean length of the Stein step (epsilon), in units of phi.
    weighting: which tasks repel a seed: solved ones, all alike (equation 6 of
      the paper), or those of both sets, each in proportion to its latest score
      in the active set, and untested ones not at all (equation 5). The step's
      length is the same.
    bandwidth: of the kernel (h).
    kernel: a one-dimensional kernel per coordinate (released code), or the
      joint kernel of the paper.
    is_attractive: whether the step goes towards solved tasks instead of away.
    rejection: whether noise that makes an entity infeasible is redrawn. If not,
      it is drawn once, and the space clips the child: in a room each point goes
      to the nearest legal place; elsewhere a child may stay infeasible.
    max_redraws: bound on the draws of noise for an infeasible entity.
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
    entity_counts: numbers of entities that are trained one after another, like
      '4,8,16'; with two kinds of counted entities like '2x2,4x2,4x4'. Empty:
      no progression.
    transition: whether both counts are trained together for a while, or the
      larger one alone at once.
    switch_coverage: greedy coverage of the present count at which the next one
      begins, and of that one at which the present one ends.
    latest_switch: iterations with one count alone after which the next one
      begins whatever the coverage; 0: never.
    mixing_step: increment of the weight of the larger count.
    mixing_interval: iterations between increments (D).
    mixing: share of the smaller count: as many agents as the larger one would
      have had (released code), its weight (paper), or its number of draws from
      the categorical distribution.
    reset_optimizer: whether both Adam optimisers begin anew, as if no step was
      made, when a count is first trained on. Learning rate and the moments of
      the returns stay.
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
    num_rollouts: roll-outs, each with its update, on one draw of tasks (R).
    num_evaluation_tasks: tasks of an evaluation.
    checks_tasks: whether a run ends if its curriculum returns tasks that are
      infeasible or not finite; results are the same.
    gives_target: whether the curriculum can draw tasks of the target
      distribution. If not, it is given tasks that are uniform over the legal
      region instead.
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
    preset: that the constants come from.
    environment: which world.
    agent: networks.
    ppo: learning.
    curriculum: which tasks come next.
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
    num_env_steps: environment steps in all (evaluation not counted).
    stop_at_coverage: ends the run when the mean of the last three evaluations
      reaches it; 0 for never.
    evaluation_interval: iterations between evaluations.
    checkpoint_interval: iterations between checkpoints.
    num_checkpoints: checkpoints to keep.
  """

  num_env_steps: Annotated[int, Range(1, 10**12)] = 10_000_000
  stop_at_coverage: Annotated[float, Range(0.0, 1.0)] = 0.0
  evaluation_interval: Annotated[int, Range(1, MANY)] = 10
  checkpoint_interval: Annotated[int, Range(1, MANY)] = 20
  num_checkpoints: Annotated[int, Range(1, 1000)] = 3
