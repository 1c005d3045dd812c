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
  shape = (len(env.agents), env.num_envs, 1)
  num_actions = env.action_space.spaces[0].n
  checksum = torch.zeros(())
  with torch.no_grad():
    for _ in range(num_steps):
      actions = torch.randint(num_actions, shape)
      observations, rewards, _, _ = env.step(list(actions.unbind()))
      checksum += torch.stack(observations).sum() + torch.stack(rewards).sum()
  return checksum.item()


def main() -> None:
  """Measures and reports."""
  setting = measure.parse_setting()
  env = vmas.make_env(
    'simple_spread',
    num_envs=setting.num_worlds,
    device='cpu',
    n_agents=setting.num_agents,  # The scenario has as many landmarks.
    continuous_actions=False,
    max_steps=setting.num_steps,
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
