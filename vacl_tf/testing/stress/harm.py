# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Ways to damage a file of a run."""

import pathlib
import re
import shutil
import zipfile
from collections.abc import Callable

_HUGE = 1 << 30  # Bytes; a sparse file, which takes no space on the disk.
_MEGABYTE = bytes(1 << 20)
_NUMBER = re.compile(rb'-?\d+\.\d+|(?<=: )\d+')

Harm = Callable[[pathlib.Path], None]


def _rewritten(change: Callable[[bytes], bytes]) -> Harm:
  return lambda path: path.write_bytes(change(path.read_bytes()))


def _flipped(data: bytes) -> bytes:
  middle = len(data) // 2
  return data[:middle] + bytes([data[middle] ^ 0x40]) + data[middle + 1 :]


def _not_utf8(data: bytes) -> bytes:
  middle = len(data) // 2
  return data[:middle] + b'\xff\xfe\xff' + data[middle:]


def _folder(path: pathlib.Path) -> None:
  path.unlink()
  path.mkdir()


def _huge(path: pathlib.Path) -> None:
  with path.open('r+b') as file:
    file.truncate(_HUGE)


def _bomb(path: pathlib.Path) -> None:
  """Replaces arrays by others that fill a gigabyte when they are read."""
  with zipfile.ZipFile(path) as old:
    names = old.namelist()
  with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as new:
    rows = 1 << 25
    for name in names[:8]:
      head = (
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % rows
      )
      head += b' ' * (117 - len(head)) + b'\n'
      with new.open(name, 'w', force_zip64=True) as file:
        file.write(
          b'\x93NUMPY\x01\x00' + len(head).to_bytes(2, 'little') + head
        )
        for _ in range(4 * rows // len(_MEGABYTE)):
          file.write(_MEGABYTE)


def _foreign(path: pathlib.Path) -> None:
  with zipfile.ZipFile(path, 'w') as file:
    file.writestr('secret/key.txt', 'no array')


# Each harm has the endings of the file names that it makes sense for.
HARMS: dict[str, tuple[tuple[str, ...], Harm]] = {
  'cut': (('',), _rewritten(lambda x: x[: len(x) // 2])),
  'cut at the end': (('',), _rewritten(lambda x: x[:-1])),
  'flipped byte': (('',), _rewritten(_flipped)),
  'emptied': (('',), _rewritten(lambda x: b'')),
  'a folder': (('',), _folder),
  'a picture': (('',), _rewritten(lambda x: b'\x89PNG\r\n\x1a\n' + bytes(64))),
  'a list': (('',), _rewritten(lambda x: b'[1, 2]\n')),
  'huge': (('',), _huge),
  'NaN': (('',), _rewritten(lambda x: _NUMBER.sub(b'NaN', x, count=3))),
  'not UTF-8': (('',), _rewritten(_not_utf8)),
  'missing': (('',), lambda path: path.unlink()),
  'a link to itself': (
    ('',),
    lambda path: (path.unlink(), path.symlink_to(path.name)),
  ),
  'deeply nested': (('.json',), _rewritten(lambda x: b'[' * 200_000)),
  'null': (('.json',), _rewritten(lambda x: b'null')),
  'absurd numbers': (
    ('.json',),
    _rewritten(
      lambda x: re.sub(rb'(horizon|num_agents)": \d+', rb'\1": 1000000000', x)
    ),
  ),
  'numbers as words': (
    ('.json',),
    _rewritten(lambda x: re.sub(rb': \d+,', b': "many",', x)),
  ),
  'renamed column': (
    ('.csv',),
    _rewritten(lambda x: x.replace(b'coverage', b'covrage', 1)),
  ),
  'extra column': (
    ('.csv',),
    _rewritten(lambda x: x.replace(b'coverage', b'more,coverage', 1)),
  ),
  'a letter': (
    ('.csv',),
    _rewritten(lambda x: x.replace(b'\n2,', b'\nb,', 1)),
  ),
  'a long field': (
    ('.csv',),
    _rewritten(lambda x: x.replace(b'\n2,', b'\n' + b'2' * 150_000 + b',', 1)),
  ),
  'a bomb': (('.npz',), _bomb),
  'foreign keys': (('.npz',), _foreign),
}


def harms(path: str) -> list[str]:
  """Returns the names of the harms that make sense for a file."""
  return [name for name, (ends, _) in HARMS.items() if path.endswith(ends)]


def do(name: str, path: pathlib.Path) -> None:
  """Damages a file with the harm of this name."""
  HARMS[name][1](path)


def remove(folder: pathlib.Path) -> None:
  """Removes a folder and everything in it."""
  shutil.rmtree(folder, ignore_errors=True)
