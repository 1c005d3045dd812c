# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A cache of programs that XLA has compiled, for later processes.

Compilation takes most of the time until a run begins to learn. TensorFlow can
keep compiled programs in a folder, but it ends the process if an entry there is
damaged. Therefore each process has its own folder, with links to those kept
entries whose content has the digest that is part of their name. Where the file
system has no hard links, entries are copied.

Anyone who can write to the cache can run code as the user who trains, so nobody
else may be able to write to it.
"""

import atexit
import contextlib
import hashlib
import os
import pathlib
import platform
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator

import tensorflow as tf
from absl import flags

from vacl_tf import machine
from vacl_tf.launch import command_line
from vacl_tf.launch import replication

FOLDER = command_line.Flag(
  flags.DEFINE_string,
  'xla_cache',
  None,
  'Folder in which compiled programs are kept, so that the next start is '
  'faster; empty: they are not kept. Default: vacl_tf/xla in $XDG_CACHE_HOME, '
  'or else in ~/.cache.',
  command_line.MACHINE,
)

_FLAGS = 'TF_XLA_FLAGS'
_DIRECTORY = '--tf_xla_persistent_cache_directory='
_DEVICES = '--tf_xla_persistent_cache_device_types=CPU'
_THREADS = ('TF_NUM_INTRAOP_THREADS', 'OMP_NUM_THREADS')
_ENTRY = '.pb'  # Suffix of TensorFlow's entries.
_COPY = 'copy'  # An entry that is being copied.
# Other files in a folder that the user names are left alone.
_OWN = 'vacl_tf-open-'  # Prefix of the folders of processes.
_SHELF = '[0-9a-f]' * 16  # See `_key`.
_MOST_BYTES = 1 << 30  # Of all entries; the oldest are removed first.
_LEAST_FREE = 1 << 28  # On the disk: TensorFlow fails if it can't write.
_LEAST_ALLOWED = 1 << 26  # By a quota; a task's programs take 20 to 50 MB.
_MOST_SECONDS = 2 * 86400.0  # Until the folder of a killed process is removed.


class _Cache:
  """The cache of this process.

  Attributes:
    own: folder that TensorFlow reads and writes in this process.
    shelf: folder where entries are kept for later processes.
    known: names of the entries that need not be kept any more.
  """

  def __init__(self, own: pathlib.Path, shelf: pathlib.Path) -> None:
    self.own = own
    self.shelf = shelf
    self.known = set(_names(own))


_cache: _Cache | None = None  # TensorFlow uses one folder per process.


def use(note: Callable[[str], None]) -> None:
  """Lets TensorFlow use programs that were compiled before.

  Call it before anything is compiled. If the folder can't be used, the user is
  told once, and the process continues without a cache.

  Args:
    note: called with a line for the user.
  """
  global _cache
  given = FOLDER.value
  if not command_line.is_own_process() or given == '':
    return
  if _DIRECTORY in _flags():
    return  # A replica uses the folder of the process that started it.
  root = command_line.folder(given) if given else _default()
  try:
    own, shelf = _prepared(root)
  except OSError as error:
    reason = error.strerror or str(error)
    note(f'compiled programs are not cached: {root} cannot be used ({reason})')
    return
  os.environ[_FLAGS] = f'{_flags()} {_DIRECTORY}{own} {_DEVICES}'.strip()
  atexit.register(shutil.rmtree, own, ignore_errors=True)
  _cache = _Cache(own, shelf)


def keep() -> None:
  """Keeps programs compiled since the last call; never fails."""
  if _cache is None:
    return
  new = set(_names(_cache.own)) - _cache.known
  _cache.known |= new
  with contextlib.suppress(OSError):
    for name in new:
      path = _cache.own / name
      with contextlib.suppress(FileExistsError):
        _link(path, _cache.shelf / f'{name}.{_digest(path)}', _cache.own)
    if new:
      _bound(_cache.shelf.parent)


def failure(error: BaseException | None) -> str | None:
  """Returns a message if an error is about the folder, None if it is not."""
  if not isinstance(error, tf.errors.OpError):
    return None
  _, is_used, rest = _flags().partition(_DIRECTORY)
  own = rest.split()[0] if is_used and rest.split() else None
  if own is None or own not in error.message:
    return None
  reason = error.message.partition('\n')[0].rpartition('; ')[2]
  reason = reason.partition(' [Op:')[0]
  return (
    f'compiled programs cannot be kept in {pathlib.Path(own).parent} '
    f'({reason}); give --xla_cache= to run without the cache'
  )


def _flags() -> str:
  return os.environ.get(_FLAGS, '')


def _default() -> pathlib.Path:
  home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
  return pathlib.Path(home, 'vacl_tf', 'xla')


def _prepared(root: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
  """Returns a folder for this process, with all kept entries, and the shelf.

  Raises:
    OSError: the folder can't be used; the message says why.
  """
  root = root.absolute()
  shelf = root / _key()
  root.parent.mkdir(parents=True, exist_ok=True)
  for path in (root, shelf):
    path.mkdir(mode=0o700, exist_ok=True)
    about = path.stat()
    others = stat.S_IWGRP | stat.S_IWOTH
    if about.st_uid != os.getuid():
      raise OSError('it belongs to another user; give another --xla_cache')
    if about.st_mode & others:
      raise OSError(f'other users may write to it; run chmod 700 {path}')
  if shutil.disk_usage(root).free < _LEAST_FREE:
    raise OSError(f'less than {_LEAST_FREE >> 20} MB are free')
  if hasattr(os, 'posix_fallocate'):  # A quota may leave less than is free.
    with tempfile.TemporaryFile(dir=root) as file:
      os.posix_fallocate(file.fileno(), 0, _LEAST_ALLOWED)
  if any(x.isspace() for x in str(root)):
    raise OSError('its name has a space')
  _remove_old(root)
  own = pathlib.Path(tempfile.mkdtemp(prefix=_OWN, dir=root))
  for path in _entries(shelf):
    name, _, digest = path.name.rpartition('.')
    # Another process removed it, or two processes kept the same program.
    with contextlib.suppress(FileNotFoundError, FileExistsError):
      if digest == _digest(path):
        os.utime(path)
        _link(path, own / name, own)
      else:
        path.unlink()
  return own, shelf


def _link(
  source: pathlib.Path, target: pathlib.Path, own: pathlib.Path
) -> None:
  """Makes a hard link, or a copy where the file system has no such links.

  Args:
    source: an existing entry.
    target: the new path.
    own: folder of this process, in which the copy is made: others must not see
      half of it.

  Raises:
    FileExistsError, FileNotFoundError: the target is there, or the source not.
    OSError: the copy can't be written.
  """
  try:
    os.link(source, target)
  except (FileExistsError, FileNotFoundError):
    raise
  except OSError:
    shutil.copyfile(source, own / _COPY)
    os.replace(own / _COPY, target)


def _key() -> str:
  """Returns a hash of what must be equal for compiled programs to be used."""
  parts = (
    tf.version.VERSION,
    platform.machine(),
    machine.processor(),
    # A program with instructions that the CPU lacks kills the process.
    machine.instruction_sets(),
    # Programs are cut into as many parts as there are threads.
    str(machine.threads()),
    replication.NUM_REPLICAS.value,
    *(os.environ.get(name, '') for name in _THREADS),
    os.environ.get('XLA_FLAGS', ''),
    _flags(),
  )
  return hashlib.sha256('\n'.join(parts).encode()).hexdigest()[:16]


def _digest(path: pathlib.Path) -> str:
  with path.open('rb') as file:
    return hashlib.file_digest(file, 'sha256').hexdigest()


def _names(own: pathlib.Path) -> Iterator[str]:
  """Yields the names of TensorFlow's complete entries."""
  with contextlib.suppress(OSError), os.scandir(own) as found:
    yield from (x.name for x in found if x.name.endswith(_ENTRY))


def _entries(folder: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields the entries that are kept in a folder."""
  for path in folder.iterdir():
    if f'{_ENTRY}.' in path.name and path.is_file() and not path.is_symlink():
      yield path


def _remove_old(root: pathlib.Path) -> None:
  """Removes old folders that killed processes left behind."""
  for path in root.glob(f'{_OWN}*'):
    with contextlib.suppress(FileNotFoundError):
      if time.time() - path.stat().st_mtime > _MOST_SECONDS:
        shutil.rmtree(path, ignore_errors=True)


def _bound(root: pathlib.Path) -> None:
  """Removes the least recently used entries, if all take too much space."""
  shelves = filter(pathlib.Path.is_dir, root.glob(_SHELF))
  found = [(x.stat(), x) for shelf in shelves for x in _entries(shelf)]
  total = sum(about.st_size for about, _ in found)
  for about, path in sorted(found, key=lambda x: x[0].st_mtime):
    if total <= _MOST_BYTES:
      break
    path.unlink(missing_ok=True)
    total -= about.st_size
