# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Messages between two processes: a JSON object and arrays of numbers.

A message is eight bytes of magic, the lengths of the JSON and of the arrays as
two little-endian integers of 64 bits, the JSON in UTF-8, and the bytes of the
arrays. The key `arrays` of the JSON has the name, dtype and shape of each
array. Nothing in a message is executed, and sizes are checked before memory is
allocated.
"""

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

_MAGIC = b'vacl\x00\x00\x00\x01'
_HEAD = struct.Struct('<8sQQ')
_MAX_TEXT = 1 << 20
MAX_BYTES = 1 << 28  # Most bytes of all arrays of a message.
STATE = 'state/'  # Prefix of the names of a curriculum's variables.
_KINDS = 'biuf'  # NumPy's letters for Booleans and numbers.


class ClosedError(Exception):
  """The other end is closed."""


class GarbledError(Exception):
  """The bytes received are no message; nothing more can be read."""


def write(
  file: BinaryIO,
  header: Mapping[str, Any],
  arrays: Mapping[str, np.ndarray] | None = None,
) -> None:
  """Writes a message.

  Args:
    file: stream to write to.
    header: header that JSON can represent, without the key `arrays`.
    arrays: arrays of Booleans or numbers.

  Raises:
    OSError: the message can't be written; the other end may be closed.
    ValueError: the message is larger than `read` allows.
  """
  whole = {name: np.asarray(x, order='C') for name, x in (arrays or {}).items()}
  about = [[name, x.dtype.str, x.shape] for name, x in whole.items()]
  text = json.dumps({**header, 'arrays': about}).encode()
  body = [x.tobytes() for x in whole.values()]
  num_bytes = sum(map(len, body))
  if len(text) > _MAX_TEXT or num_bytes > MAX_BYTES:
    raise ValueError(
      f'a message of {num_bytes:,} bytes is too large; allowed: {MAX_BYTES:,}'
    )
  head = _HEAD.pack(_MAGIC, len(text), num_bytes)
  file.write(b''.join([head, text, *body]))
  file.flush()


def read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
  """Returns the next message: its header, and its arrays, which are writable.

  Raises:
    ClosedError: there is no further message, or only a part of it.
    GarbledError: the bytes received are no message.
  """
  magic, num_text, num_bytes = _HEAD.unpack(_exactly(file, _HEAD.size))
  if magic != _MAGIC:
    raise GarbledError(f'a message begins with {magic!r}')
  if num_text > _MAX_TEXT or num_bytes > MAX_BYTES:
    raise GarbledError(f'a message says it has {num_text + num_bytes:,} bytes')
  text, body = _exactly(file, num_text), _exactly(file, num_bytes)
  try:
    header = json.loads(text)
    arrays = _unpacked(header.pop('arrays'), body)
  except (
    AttributeError,
    KeyError,
    OverflowError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
  ) as error:
    raise GarbledError(f'{type(error).__name__}: {error}') from error
  return header, arrays


def _exactly(file: BinaryIO, number: int) -> bytes:
  found = file.read(number)
  if len(found) < number:
    raise ClosedError
  return found


def _unpacked(about: list[Any], body: bytes) -> dict[str, np.ndarray]:
  arrays, begin = {}, 0
  for name, code, shape in about:
    dtype = np.dtype(code)
    if dtype.kind not in _KINDS or min(shape, default=0) < 0:
      raise ValueError(f'{name} does not hold numbers')
    number = math.prod(shape)
    part = body[begin : begin + number * dtype.itemsize]
    arrays[name] = np.frombuffer(part, dtype, number).reshape(shape).copy()
    begin += len(part)
  if begin != len(body):
    raise ValueError(f'{len(body)} bytes for arrays of {begin}')
  return arrays
