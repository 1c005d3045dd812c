# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Adam in one operation a variable."""

from collections.abc import Sequence

import sonnet as snt
import tensorflow as tf


class Adam(snt.optimizers.Adam):
  """Sonnet's, with TensorFlow's fused kernel for the arithmetic.

  Written out it is 37 operations a variable, a fifth of all that there were to
  trace for a run. Gradients must be dense.
  """

  def apply(
    self, updates: Sequence[tf.Tensor], parameters: Sequence[tf.Variable]
  ) -> None:
    """Makes one step.

    Args:
      updates: gradients, of the shapes of the parameters.
      parameters: float32, the same at every call.
    """
    self._initialize(parameters)
    step = tf.cast(self.step.assign_add(1), tf.float32)
    powers = tf.constant([self.beta1, self.beta2]) ** step
    # The kernel adds epsilon before it corrects the second moment for its bias,
    # Sonnet after.
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
