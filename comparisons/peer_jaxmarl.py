# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worker: env-only speed of JaxMARL, a whole roll-out in one jitted call."""

import importlib.metadata
from typing import Any

import jax
import jax.numpy as jnp
import jaxmarl

from comparisons import measure

_ENVS = {
  measure.SPREAD: 'MPE_simple_spread_v3',
  measure.SPEAKER_LISTENER: 'MPE_simple_speaker_listener_v4',
}


def build_roll_out(env: Any, setting: measure.Setting) -> Any:
  """Returns the jitted function (state, key) -> checksum."""
  num_actions = [[env.action_spaces[agent].n] for agent in env.agents]
  # `step` would also draw a new world at every step in case the episode is
  # over. The other workers do not reset, and drawing costs a quarter.
  step_worlds = jax.vmap(env.step_env)

  def step(
    carry: tuple[Any, jax.Array], key: jax.Array
  ) -> tuple[tuple[Any, jax.Array], None]:
    state, checksum = carry
    action_key, env_key = jax.random.split(key)
    actions = jax.random.randint(
      action_key,
      (len(env.agents), setting.num_worlds),
      0,
      jnp.array(num_actions),
    )
    observations, state, rewards, _, _ = step_worlds(
      jax.random.split(env_key, setting.num_worlds),
      state,
      dict(zip(env.agents, actions, strict=True)),
    )
    for array in jax.tree.leaves((observations, rewards)):
      checksum += jnp.sum(array)
    return (state, checksum), None

  def roll_out(state: Any, key: jax.Array) -> jax.Array:
    keys = jax.random.split(key, setting.num_steps)
    (_, checksum), _ = jax.lax.scan(step, (state, jnp.float32(0.0)), keys)
    return checksum

  return jax.jit(roll_out)


def main() -> None:
  """Measures and reports."""
  setting = measure.parse_setting()
  jax.config.update('jax_platforms', 'cpu')
  size = {}
  if setting.scenario == measure.SPREAD:
    size = dict.fromkeys(('num_agents', 'num_landmarks'), setting.num_agents)
  env = jaxmarl.make(
    _ENVS[setting.scenario], max_steps=setting.num_steps, **size
  )
  jitted = build_roll_out(env, setting)
  reset_worlds = jax.jit(jax.vmap(env.reset))

  def reset(seed: int) -> Any:
    keys = jax.random.split(jax.random.key(seed), setting.num_worlds)
    _, state = reset_worlds(keys)
    return jax.block_until_ready(state)

  def roll_out(state: Any, seed: int) -> float:
    return float(jitted(state, jax.random.key(seed)))

  measure.report(
    measure.rates(setting, reset, roll_out),
    jaxmarl=importlib.metadata.version('jaxmarl'),
    jax=jax.__version__,
  )


if __name__ == '__main__':
  main()
