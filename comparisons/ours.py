# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worker: env-only speed of vacl_tf."""

import tensorflow as tf

from comparisons import measure
from vacl_tf.launch import world_speed

_ENVS = {
  measure.SPREAD: 'simple_spread',
  measure.SPEAKER_LISTENER: 'speaker_listener',
}


def main() -> None:
  """Measures and reports."""
  setting = measure.parse_setting()
  rate = world_speed.env_only(
    env_name=_ENVS[setting.scenario],
    num_agents=setting.num_agents,
    num_worlds=setting.num_worlds,
    num_steps=setting.num_steps,
    repeats=setting.repeats,
  )
  measure.report([rate], tensorflow=tf.__version__)


if __name__ == '__main__':
  main()
