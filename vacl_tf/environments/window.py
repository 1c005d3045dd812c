# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A window that shows a world while it is played."""

from typing import Any

from vacl_tf.environments import base

_PAUSE = 1e-3  # Seconds in which the window is drawn.


class Window:
  """A Matplotlib window, which opens with the first picture."""

  def __init__(self, title: str) -> None:
    self._title = title
    self._figure: Any = None
    self._image: Any = None

  def show(self, picture: base.Picture) -> None:
    """Shows a picture until the next one."""
    from matplotlib import pyplot

    if self._image is None:
      # Do not select the figure by its title, which another window may share.
      self._figure, axes = pyplot.subplots()
      if self._figure.canvas.manager is not None:
        self._figure.canvas.manager.set_window_title(self._title)
      axes.axis('off')
      self._image = axes.imshow(picture)
    self._image.set_data(picture)
    pyplot.pause(_PAUSE)

  def close(self) -> None:
    """Closes the window if there is one."""
    if self._figure is not None:
      from matplotlib import pyplot

      pyplot.close(self._figure)
      self._figure = self._image = None
