"""Tasks that are neither too easy nor too hard: value (1 - value)."""

from collections.abc import Mapping

import numpy as np

from vacl_tf import config
from vacl_tf.curriculum import python_curriculum

CAPACITY, NOISE, DECAY = 1000, 0.5, 0.7


class Learnability(python_curriculum.Chooser):
  """Keeps a buffer of tasks, and how well the policy did on each."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: config.CurriculumConfig,
    rng: np.random.Generator,
  ) -> None:
    self.tasks = tasks
    easy, value = tasks.easy(CAPACITY, rng), np.full([CAPACITY], 0.5)
    self.state = {'phi': easy, 'value': value}

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    value = self.state['value']
    score = value * (1.0 - value) + 1e-3
    self.slot = rng.choice(CAPACITY, num_tasks, p=score / score.sum())
    self.is_new = np.arange(num_tasks) % 2 == 1  # Every other one is mutated.
    noise = rng.uniform(-NOISE, NOISE, [num_tasks, self.tasks.num_dims])
    phi = self.state['phi'][self.slot] + noise * self.is_new[:, None]
    return self.tasks.clip(phi, rng)

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    phi, value = self.state['phi'], self.state['value']
    for slot, is_new, task, new in zip(
      self.slot, self.is_new, tasks, told['value']
    ):
      if not is_new:
        value[slot] = DECAY * value[slot] + (1.0 - DECAY) * new
        continue
      worst = np.argmin(value * (1.0 - value))
      if new * (1.0 - new) > value[worst] * (1.0 - value[worst]):
        phi[worst], value[worst] = task, new
    return {'learnability': np.mean(value * (1.0 - value))}


python_curriculum.register('learnability', Learnability)
