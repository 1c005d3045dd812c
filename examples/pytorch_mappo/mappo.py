# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""PPO with networks that all agents share, in PyTorch; knows no curriculum."""

import numpy as np
import torch
import world
from torch import nn

_DISCOUNT, _TRACE_DECAY = 0.99, 0.95
_CLIP, _ENTROPY_COST, _MAX_NORM = 0.2, 0.01, 0.5
_EPOCHS, _MINIBATCHES = 5, 4
_MAX_KL = 0.03  # Larger updates unlearn what few tasks still show.
_REWARD_SCALE = 0.1
_STD_FLOOR = 0.02  # Without rewards advantages are the critic's noise.
_OWN, _HIDDEN = 5, 64


class _Network(nn.Module):
  """Outputs of an agent, from its own state and a pool over landmarks."""

  def __init__(self, num_outputs: int) -> None:
    super().__init__()
    self.entity = nn.Sequential(
      *(nn.Linear(_OWN + 4, _HIDDEN), nn.ReLU()),
      *(nn.Linear(_HIDDEN, _HIDDEN), nn.ReLU()),
    )
    self.score = nn.Linear(_HIDDEN, 1)
    others = 2 * (world.NUM_AGENTS - 1)
    self.head = nn.Sequential(
      *(nn.Linear(_OWN + others + 2 * _HIDDEN, _HIDDEN), nn.ReLU()),
      nn.Linear(_HIDDEN, num_outputs),
    )

  def forward(self, x: torch.Tensor, left: torch.Tensor) -> torch.Tensor:
    """Returns [..., outputs] of observations and the share of time left."""
    own = torch.cat([x[..., :4], left.expand(*x.shape[:-1], 1)], -1)
    split = 4 + 2 * world.NUM_AGENTS
    marks = x[..., 4:split].unflatten(-1, (-1, 2))
    others = x[..., split:].unflatten(-1, (-1, 2))
    mine = marks.norm(dim=-1, keepdim=True)
    theirs = (marks[..., :, None, :] - others[..., None, :, :]).norm(dim=-1)
    each = own[..., None, :].expand(*marks.shape[:-1], _OWN)
    nearest = theirs.min(-1, keepdim=True).values
    entity = self.entity(torch.cat([each, marks, mine, nearest], -1))
    weight = self.score(entity).softmax(-2)
    pooled = [(weight * entity).sum(-2), entity.max(-2).values]
    return self.head(torch.cat([own, x[..., split:], *pooled], -1))


class Mappo:
  """Plays tasks and learns from that."""

  def __init__(self, num_worlds: int, seed: int, rate: float = 7e-4) -> None:
    torch.manual_seed(seed)
    self._worlds = world.Worlds(num_worlds)
    self._policy, self._value = _Network(world.NUM_ACTIONS), _Network(1)
    parameters = [*self._policy.parameters(), *self._value.parameters()]
    self._optimizer = torch.optim.Adam(parameters, rate, eps=1e-5)

  @torch.no_grad()
  def play(self, tasks: np.ndarray, is_greedy: bool = False) -> np.ndarray:
    """Plays tasks [B, D]; returns mean coverage [B] of the last five steps."""
    seen, taken, log_probs, covered = [], [], [], []
    observed = self._worlds.place(tasks)
    for step in range(world.HORIZON):
      x = torch.from_numpy(observed)
      logits = self._policy(x, self._left(step))
      distribution = torch.distributions.Categorical(logits=logits)
      action = logits.argmax(-1) if is_greedy else distribution.sample()
      seen.append(x)
      taken.append(action)
      log_probs.append(distribution.log_prob(action))
      observed, coverage = self._worlds.step(action.numpy())
      covered.append(torch.from_numpy(coverage.astype(np.float32)))
    seen.append(torch.from_numpy(observed))
    self._episode = [torch.stack(x) for x in (seen, taken, log_probs, covered)]
    return torch.stack(covered[-5:]).mean(0).numpy()

  def learn(self) -> None:
    """Improves the policy with the episodes that were played last."""
    seen, taken, old, reward = self._episode
    steps = torch.arange(world.HORIZON + 1).float()
    left = (1.0 - steps / world.HORIZON)[:, None, None, None]
    left = left.expand(*seen.shape[:-1], 1)
    advantage, returns = self._advantages(seen, left, reward)
    flat = [x.flatten(0, 2) for x in (seen[:-1], left[:-1], taken, old)]
    flat += [advantage.flatten(), returns.flatten()]
    for _ in range(_EPOCHS):
      for rows in torch.randperm(len(flat[0])).chunk(_MINIBATCHES):
        if self._step(*(x[rows] for x in flat)) > _MAX_KL:
          return

  @torch.no_grad()
  def _advantages(
    self, seen: torch.Tensor, left: torch.Tensor, reward: torch.Tensor
  ) -> tuple[torch.Tensor, torch.Tensor]:
    value = self._value(seen, left)[..., 0]  # [T + 1, B, n]
    value[-1] = 0.0  # Time is observed, and nothing is left.
    advantage, last = torch.zeros_like(value[:-1]), 0.0
    for step in reversed(range(world.HORIZON)):
      gain = _REWARD_SCALE * reward[step, :, None]
      error = gain + _DISCOUNT * value[step + 1] - value[step]
      last = error + _DISCOUNT * _TRACE_DECAY * last
      advantage[step] = last
    return advantage, advantage + value[:-1]

  def _step(
    self,
    x: torch.Tensor,
    left: torch.Tensor,
    action: torch.Tensor,
    old: torch.Tensor,
    advantage: torch.Tensor,
    returns: torch.Tensor,
  ) -> float:
    """Takes a gradient step; returns how far the policy had moved before."""
    spread = advantage.std().clamp(min=_STD_FLOOR)
    advantage = (advantage - advantage.mean()) / spread
    distribution = torch.distributions.Categorical(logits=self._policy(x, left))
    change = distribution.log_prob(action) - old
    ratio = change.exp()
    clipped = ratio.clamp(1.0 - _CLIP, 1.0 + _CLIP)
    gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
    gain = gain + _ENTROPY_COST * distribution.entropy().mean()
    error = (self._value(x, left)[..., 0] - returns).square().mean()
    self._optimizer.zero_grad()
    (0.5 * error - gain).backward()
    for network in (self._policy, self._value):
      nn.utils.clip_grad_norm_(network.parameters(), _MAX_NORM)
    self._optimizer.step()
    return float((ratio - 1.0 - change).detach().mean())

  def _left(self, step: int) -> torch.Tensor:
    return torch.tensor([1.0 - step / world.HORIZON])
