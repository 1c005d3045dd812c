# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worker: env-only speed of VMAS, which PyTorch runs step by step."""

import importlib.metadata
from typing import Any

import torch
import vmas

from comparisons import measure


def roll_out(env: Any, num_steps: int) -> float:
  """Steps with random actions, from the state that `env` is in."""
  num_actions = [space.n for space in env.action_space.spaces]
  checksum = torch.zeros(())
  with torch.no_grad():
    for _ in range(num_steps):
      actions = [torch.randint(n, (env.num_envs, 1)) for n in num_actions]
      observations, rewards, _, _ = env.step(actions)
      checksum += sum(array.sum() for array in (*observations, *rewards))
  return checksum.item()


def main() -> None:
  """Measures and reports."""
  setting = measure.parse_setting()
  size = {}
  if setting.scenario == measure.SPREAD:
    size = {'n_agents': setting.num_agents}  # And as many landmarks.
  env = vmas.make_env(
    setting.scenario,
    num_envs=setting.num_worlds,
    device='cpu',
    continuous_actions=False,
    max_steps=setting.num_steps,
    **size,
  )

  def reset(seed: int) -> Any:
    env.reset(seed=seed)
    return env

  measure.report(
    measure.rates(
      setting, reset, lambda state, _: roll_out(state, setting.num_steps)
    ),
    vmas=importlib.metadata.version('vmas'),
    torch=torch.__version__,
    threads=torch.get_num_threads(),
  )


if __name__ == '__main__':
  main()
