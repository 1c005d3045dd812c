# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A window that shows a world while it is played."""

from typing import Any

from vacl_tf.environments import base

_PAUSE = 1e-3  # Seconds in which the window is drawn.


class Window:
  """Matplotlib's; it opens with the first picture."""

  def __init__(self, title: str) -> None:
    self._title = title
    self._image: Any = None

  def show(self, picture: base.Picture) -> None:
    """Shows a picture until the next one."""
    from matplotlib import pyplot

    if self._image is None:
      figure, axes = pyplot.subplots(num=self._title, clear=True)
      axes.axis('off')
      self._image = axes.imshow(picture)
    self._image.set_data(picture)
    pyplot.pause(_PAUSE)

  def close(self) -> None:
    """Closes the window if there is one."""
    if self._image is not None:
      from matplotlib import pyplot

      pyplot.close(self._image.figure)
      self._image = None
