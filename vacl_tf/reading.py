# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads untrusted and possibly damaged files within bounds.

Nothing in the files is run. Sizes are checked before memory is allocated, and
any fault of a file is reported in one line that names the file.
"""

import csv
import io
import json
import math
import os
import pathlib
import stat
import struct
import zipfile
import zlib
from array import array
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np

# Each is many times what the largest run writes.
_MAX_JSON_BYTES = 1 << 20
_MAX_JSON_DEPTH = 20
_MAX_TABLE_BYTES = 1 << 28
MAX_ARRAYS = 1000
_MAX_ARRAY_BYTES = 1 << 26  # All arrays of a file together, in memory.
_MAX_VARIABLES_BYTES = 1 << 33
_MAX_PRINTED = 1 << 16  # Bytes at the end of a program's output that are read.

COUNTED = ('iteration', 'env_steps', 'wall_seconds')  # Columns of metrics.csv.
_MAX_COUNT = 1e15  # Largest number in these columns.
_MAX_LINE = 300  # Characters of a message about a file.
FILE, FOLDER = 'a file', 'a folder'  # Two of the kinds of things at a path.
_KINDS = {
  stat.S_IFREG: FILE,
  stat.S_IFDIR: FOLDER,
  stat.S_IFIFO: 'a pipe',
  stat.S_IFSOCK: 'a socket',
}
_HEADERS = {
  (1, 0): np.lib.format.read_array_header_1_0,
  (2, 0): np.lib.format.read_array_header_2_0,
}


class UnreadableError(Exception):
  """A file is not what it should be; the message is one line and names it."""

  def __init__(self, path: pathlib.Path, reason: Any) -> None:
    super().__init__(f'{path} cannot be read ({one_line(reason)})')


def one_line(what: Any) -> str:
  """Returns a text as one short line of printable characters."""
  text = ' '.join(str(what).split()) or repr(what)
  text = ''.join(x if x.isprintable() else '?' for x in text)
  if len(text) <= _MAX_LINE:
    return text
  half = _MAX_LINE // 2  # The end is kept: it tells the remedy.
  return f'{text[:half]} ... {text[-half:]}'


def last_lines(file: BinaryIO) -> list[str]:
  """Returns the last lines of a program's output, without blank ones."""
  size = file.seek(0, os.SEEK_END)
  file.seek(max(size - _MAX_PRINTED, 0))
  lines = file.read().decode(errors='replace').split('\n')
  return [line.strip() for line in lines if line.strip()]


def check_metrics(table: Mapping[str, np.ndarray]) -> None:
  """Raises ValueError if the columns are not those of a run's metrics.csv."""
  # A run without these could not be plotted.
  needed = (*COUNTED, 'coverage')
  if missing := [name for name in needed if name not in table]:
    raise ValueError(f'it has no column {", ".join(missing)}')
  for name in COUNTED:
    if not ((table[name] >= 0) & (table[name] <= _MAX_COUNT)).all():
      raise ValueError(f'its column {name} has an invalid number')


def reason(error: Exception) -> str:
  """Returns why a file could not be read."""
  return getattr(error, 'strerror', None) or one_line(error)


def kind(path: pathlib.Path) -> str:
  """Returns the kind of thing at a path; '' if there is nothing.

  `Path.is_dir` and similar methods raise an error if a name is too long or a
  folder may not be entered.

  Raises:
    UnreadableError: the kind can't be determined.
  """
  try:
    mode = path.stat().st_mode
  except (FileNotFoundError, NotADirectoryError):
    return ''
  except (OSError, ValueError) as error:
    raise UnreadableError(path, reason(error)) from error
  return _kind(mode)


def check_file(path: pathlib.Path, max_bytes: int) -> int:
  """Returns the size of a plain file in bytes.

  Raises:
    FileNotFoundError: there is no file.
    UnreadableError: it is not a plain file, or too large.
  """
  try:
    found = path.stat()
  except FileNotFoundError:
    raise
  except (OSError, ValueError) as error:
    raise UnreadableError(path, reason(error)) from error
  if not stat.S_ISREG(found.st_mode):  # Opening a pipe could block for ever.
    raise UnreadableError(path, f'it is {_kind(found.st_mode)}, not a file')
  if found.st_size > max_bytes:
    raise UnreadableError(
      path, f'it has {found.st_size:,} bytes; allowed: {max_bytes:,}'
    )
  return found.st_size


def check_folder(path: pathlib.Path) -> None:
  """Raises if something in a folder is neither a plain file nor a folder.

  For files that TensorFlow reads: it would wait for ever for a pipe.

  Raises:
    FileNotFoundError: there is no folder.
    UnreadableError: it is not a folder, or something in it is neither a plain
      file nor a folder, or is too large.
  """
  try:
    inside = sorted(path.iterdir())
  except FileNotFoundError:
    raise
  except (OSError, ValueError) as error:
    raise UnreadableError(path, reason(error)) from error
  for one in inside:
    if kind(one) != FOLDER:
      check_file(one, _MAX_VARIABLES_BYTES)


def read_bytes(path: pathlib.Path, max_bytes: int) -> bytes:
  """Returns the content of a file; raises as `check_file` does."""
  size = check_file(path, max_bytes)
  try:
    with path.open('rb') as file:
      return file.read(size)
  except FileNotFoundError:
    raise
  except OSError as error:
    raise UnreadableError(path, reason(error)) from error


def read_json(path: pathlib.Path) -> dict[str, Any]:
  """Returns the object of a JSON file; raises as `check_file` does."""
  text = _decoded(path, _MAX_JSON_BYTES)
  try:
    found = json.loads(text, parse_constant=_refuse)
  except (ValueError, RecursionError) as error:
    raise UnreadableError(path, f'it is not JSON: {error}') from error
  if not isinstance(found, dict):
    raise UnreadableError(path, 'it is JSON but not an object')
  if _is_deep(found, _MAX_JSON_DEPTH):
    raise UnreadableError(
      path, f'it is nested more than {_MAX_JSON_DEPTH} levels deep'
    )
  return found


def read_lines(path: pathlib.Path) -> io.StringIO:
  """Returns the complete lines of a text file; raises as `check_file` does.

  An incomplete last line, which a running or killed process may have left, is
  left out.
  """
  text = _decoded(path, _MAX_TABLE_BYTES)
  return io.StringIO(text[: text.rfind('\n') + 1], newline='')


def read_table(path: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns the columns of a CSV file of numbers; an empty cell is NaN.

  Raises:
    FileNotFoundError: there is no file.
    UnreadableError: it is not such a file.
  """
  reader = csv.reader(read_lines(path), strict=True)
  try:
    names = next(reader, [])
    if len(set(names)) < len(names):
      raise ValueError('two columns have the same name')
    columns = [array('d') for _ in names]
    for cells in filter(None, reader):
      if len(cells) != len(names):
        raise ValueError(f'{len(cells)} cells for {len(names)} columns')
      for column, cell in zip(columns, cells, strict=True):
        column.append(_number(cell))
  except (ValueError, csv.Error) as error:
    raise UnreadableError(path, f'line {reader.line_num}: {error}') from error
  arrays = map(np.array, columns)
  return dict(zip(names, arrays, strict=True))


def read_arrays(
  path: pathlib.Path, max_bytes: int = _MAX_ARRAY_BYTES
) -> dict[str, np.ndarray]:
  """Returns the arrays of an .npz file that holds only numbers.

  A small file can claim to hold more than fits into memory. Therefore the sizes
  that the archive states are checked before anything is expanded.

  Args:
    path: path of the file.
    max_bytes: largest size allowed, both packed and expanded.

  Raises:
    FileNotFoundError: there is no file.
    UnreadableError: it is not such a file, or too large.
  """
  content = read_bytes(path, max_bytes)
  try:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
      members = archive.infolist()
      if len(members) > MAX_ARRAYS:
        raise ValueError(f'{len(members)} arrays; allowed: {MAX_ARRAYS}')
      total = sum(member.file_size for member in members)
      if total > max_bytes:
        raise ValueError(
          f'it expands to {total:,} bytes; allowed: {max_bytes:,}'
        )
      return {
        member.filename.removesuffix('.npy'): _array(archive, member)
        for member in members
      }
  except (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,  # Also NotImplementedError, RecursionError, passwords.
    SyntaxError,
    TypeError,
    OverflowError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
  ) as error:
    raise UnreadableError(path, error) from error


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
  """Returns an array after checking that its size fits its header."""
  # Other methods expand without a bound.
  if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    raise ValueError(f'{member.filename} has an unsupported compression')
  with archive.open(member) as packed:
    # Without a size, it would expand everything in the member.
    file = io.BytesIO(packed.read(member.file_size))
  version = np.lib.format.read_magic(file)
  if version not in _HEADERS:
    raise ValueError(f'{member.filename} has an unsupported format, {version}')
  shape, _, dtype = _HEADERS[version](file)
  num_bytes = math.prod(shape) * dtype.itemsize
  if dtype.kind not in 'biuf' or min(shape, default=0) < 0:
    raise ValueError(f'{member.filename} does not hold numbers')
  if num_bytes != len(file.getvalue()) - file.tell():
    raise ValueError(
      f'{member.filename} does not have {num_bytes:,} bytes, as its header says'
    )
  file.seek(0)
  return np.lib.format.read_array(file, allow_pickle=False)


def _kind(mode: int) -> str:
  return _KINDS.get(stat.S_IFMT(mode), 'a device')


def _decoded(path: pathlib.Path, max_bytes: int) -> str:
  try:
    return read_bytes(path, max_bytes).decode()
  except UnicodeDecodeError as error:
    raise UnreadableError(
      path, f'it is not UTF-8 at byte {error.start + 1}'
    ) from error


def _number(cell: str) -> float:
  """Returns the number in a cell; NaN if it is empty."""
  if not cell:
    return math.nan
  number = float(cell)
  if math.isinf(number):
    raise ValueError(f'{cell!r} is not a finite number')
  return number


def _is_deep(value: Any, allowed: int) -> bool:
  if not isinstance(value, dict | list):
    return False
  inner = value.values() if isinstance(value, dict) else value
  return not allowed or any(_is_deep(x, allowed - 1) for x in inner)


def _refuse(constant: str) -> NoReturn:
  raise ValueError(f'{constant} is not a number')
