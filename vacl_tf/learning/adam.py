# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Adam with one operation per variable."""

from collections.abc import Sequence

import sonnet as snt
import tensorflow as tf


class Adam(snt.optimizers.Adam):
  """Sonnet's Adam with TensorFlow's fused kernel.

  Sonnet's own implementation takes 37 operations per variable, which were a
  fifth of all operations traced for a run. Gradients must be dense.
  """

  def apply(
    self, updates: Sequence[tf.Tensor], parameters: Sequence[tf.Variable]
  ) -> None:
    """Makes one optimiser step.

    Args:
      updates: gradients, of the shapes of the parameters.
      parameters: float32, the same at every call.
    """
    self._initialize(parameters)
    step = tf.cast(self.step.assign_add(1), tf.float32)
    powers = tf.constant([self.beta1, self.beta2]) ** step
    # The kernel adds epsilon before the bias correction of the second moment,
    # Sonnet after it.
    epsilon = self.epsilon * tf.sqrt(1.0 - powers[1])
    settings = {
      'beta1_power': powers[0],
      'beta2_power': powers[1],
      'lr': tf.convert_to_tensor(self.learning_rate),
      'beta1': tf.constant(self.beta1),
      'beta2': tf.constant(self.beta2),
      'epsilon': epsilon,
    }
    for parameter, m, v, update in zip(
      parameters, self.m, self.v, updates, strict=True
    ):
      tf.raw_ops.ResourceApplyAdam(
        var=parameter.handle, m=m.handle, v=v.handle, grad=update, **settings
      )

  def reset(self) -> None:
    """Resets step and moments; parameters and learning rate stay."""
    self.step.assign(0)
    for moment in (*self.m, *self.v):
      moment.assign(tf.zeros_like(moment))
