# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worker: env-only speed of VMAS, which PyTorch runs step by step."""

import dataclasses
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

  def timed(repeats: int) -> list[float]:
    return measure.rates(
      dataclasses.replace(setting, repeats=repeats),
      reset,
      lambda state, _: roll_out(state, setting.num_steps),
    )

  # Tensors this small may gain nothing from threads, and lose much where the
  # machine is shared: VMAS is given the setting that a trial finds better.
  trials = {}
  for num_threads in sorted({1, torch.get_num_threads()}):
    torch.set_num_threads(num_threads)
    trials[num_threads] = max(timed(1))
  num_threads = max(trials, key=trials.__getitem__)
  torch.set_num_threads(num_threads)
  measure.report(
    timed(setting.repeats),
    vmas=importlib.metadata.version('vmas'),
    torch=torch.__version__,
    threads=num_threads,
  )


if __name__ == '__main__':
  main()
