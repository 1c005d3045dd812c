# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""PPO in PyTorch, with networks that all agents share; knows no curriculum."""

import numpy as np
import torch
import world
from torch import nn

_DISCOUNT, _TRACE_DECAY = 0.99, 0.95
_CLIP, _ENTROPY_COST, _MAX_NORM = 0.2, 0.01, 0.5
_EPOCHS, _MINIBATCHES = 2, 10
_MAX_KL = 0.03  # Larger updates unlearn what only few tasks still train.
_REWARD_SCALE = 0.1
_STD_FLOOR = 0.02  # Without rewards, advantages are only noise of the critic.
_NEAR, _FAR = 0.5, 3.0  # Metres; scales of distances.
_OWN, _PLACE, _HIDDEN = 3, 6, 64


def _places(towards: torch.Tensor) -> torch.Tensor:
  """Returns features [..., 6] of places at offsets [..., 2] in metres."""
  distance = towards.norm(dim=-1, keepdim=True)
  unit = towards / distance.clamp(min=1e-6)
  near = (-distance / _NEAR).exp()
  return torch.cat([towards / _FAR, unit, distance / _FAR, near], -1)


def _block(num_inputs: int) -> nn.Sequential:
  """Returns a layer, ReLU and layer normalisation."""
  layer = nn.Linear(num_inputs, _HIDDEN)
  nn.init.orthogonal_(layer.weight, 2.0**0.5)
  nn.init.zeros_(layer.bias)
  return nn.Sequential(layer, nn.ReLU(), nn.LayerNorm(_HIDDEN))


class _Network(nn.Module):
  """Computes an agent's outputs from its own state and pools over entities.

  The inputs are the positions of landmarks and other agents relative to the
  agent, but not the agent's position on the map.
  """

  def __init__(self, num_outputs: int) -> None:
    super().__init__()
    # The 2 features encode how far the nearest other agent is from a landmark.
    self.landmark = _block(_OWN + _PLACE + 2)
    self.alone = nn.Linear(_HIDDEN, _HIDDEN)
    self.compared = nn.Linear(_HIDDEN, _HIDDEN, bias=False)
    self.norm = nn.LayerNorm(_HIDDEN)
    self.score = nn.Linear(_HIDDEN, 1)
    self.agent = _block(_OWN + _PLACE)
    self.head = _block(_OWN + 3 * _HIDDEN)
    self.last = nn.Linear(_HIDDEN, num_outputs)
    nn.init.orthogonal_(self.last.weight, 0.01)
    nn.init.zeros_(self.last.bias)

  def forward(self, x: torch.Tensor, left: torch.Tensor) -> torch.Tensor:
    """Returns [..., outputs] for observations and the share of time left."""
    own = torch.cat([x[..., :2], left.expand(*x.shape[:-1], 1)], -1)
    ways = x[..., 4:].unflatten(-1, (-1, 2))
    landmarks = ways[..., : world.NUM_AGENTS, :]
    others = ways[..., world.NUM_AGENTS :, :]
    between = (landmarks[..., None, :] - others[..., None, :, :]).norm(dim=-1)
    theirs = between.amin(-1, keepdim=True)
    seen = [_places(landmarks), theirs / _FAR, (-theirs / _NEAR).exp()]
    landmark = self.landmark(torch.cat([_each(own, landmarks), *seen], -1))
    most = self.compared(landmark.amax(-2, keepdim=True))
    landmark = self.norm((self.alone(landmark) + most).relu())
    weight = self.score(landmark).softmax(-2)
    agent = self.agent(torch.cat([_each(own, others), _places(others)], -1))
    pools = [(weight * landmark).sum(-2), landmark.amax(-2), agent.amax(-2)]
    return self.last(self.head(torch.cat([own, *pools], -1)))


def _each(own: torch.Tensor, entities: torch.Tensor) -> torch.Tensor:
  """Returns own [..., F], repeated for each of the entities [..., m, 2]."""
  return own[..., None, :].expand(*entities.shape[:-1], own.shape[-1])


class Mappo:
  """Plays tasks and learns from these episodes."""

  def __init__(self, num_worlds: int, seed: int, rate: float = 7e-4) -> None:
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # Such small networks gain nothing from more.
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
    """Improves the policy with the episodes of the last call of `play`."""
    seen, taken, old, covered = self._episode
    reward = (covered == 1.0).float()  # Only while all landmarks are covered.
    steps = torch.arange(world.HORIZON + 1).float()
    left = (1.0 - steps / world.HORIZON)[:, None, None, None]
    left = left.expand(*seen.shape[:-1], 1)
    advantage, returns = self._advantages(seen, left, reward)
    flat = [x[:-1].flatten(0, 1) for x in (seen, left)]
    flat += [x.flatten(0, 1) for x in (taken, old, advantage, returns)]
    for _ in range(_EPOCHS):
      for rows in torch.randperm(len(flat[0])).chunk(_MINIBATCHES):
        if self._step(*(x[rows] for x in flat)) > _MAX_KL:
          return

  @torch.no_grad()
  def _advantages(
    self, seen: torch.Tensor, left: torch.Tensor, reward: torch.Tensor
  ) -> tuple[torch.Tensor, torch.Tensor]:
    value = self._value(seen[:, :, :1], left[:, :, :1])[..., 0]  # [T + 1, B, 1]
    value[-1] = 0.0  # The networks observe that no time is left.
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
    """Takes a gradient step; returns the KL divergence measured before it."""
    spread = advantage.std().clamp(min=_STD_FLOOR)
    advantage = (advantage - advantage.mean()) / spread
    distribution = torch.distributions.Categorical(logits=self._policy(x, left))
    change = distribution.log_prob(action) - old
    ratio = change.exp()
    clipped = ratio.clamp(1.0 - _CLIP, 1.0 + _CLIP)
    gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
    gain = gain + _ENTROPY_COST * distribution.entropy().mean()
    error = self._value(x[:, :1], left[:, :1])[..., 0] - returns
    error = error.square().mean()
    self._optimizer.zero_grad()
    (0.5 * error - gain).backward()
    for network in (self._policy, self._value):
      nn.utils.clip_grad_norm_(network.parameters(), _MAX_NORM)
    self._optimizer.step()
    return float((ratio - 1.0 - change).detach().mean())

  def _left(self, step: int) -> torch.Tensor:
    return torch.tensor([1.0 - step / world.HORIZON])
