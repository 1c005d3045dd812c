# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the commands share: flags, imports, folders and one-line errors."""

import contextlib
import errno
import os
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from absl import flags

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf.launch import extensions
from vacl_tf.launch import fields
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import help_page
from vacl_tf.launch import outputs
from vacl_tf.launch import signals


class Flag:
  """A flag that exists only while a command that has it runs.

  Commands with flags of the same name can therefore be imported together, and
  the functions that commands call also work without any flags.
  """

  def __init__(
    self,
    kind: Callable[..., Any],
    name: str,
    default: Any,
    about: str,
    group: str = '',
    **bounds: int,
  ) -> None:
    """Describes a flag.

    Args:
      kind: one of absl's functions that define flags.
      name: name of the flag.
      default: value if the flag is not given.
      about: text of --help, which adds the range and the default.
      group: heading below which --help lists the flag.
      **bounds: bounds of the value, as absl takes them.
    """
    self.name = name
    self.default = default
    self._kind = kind
    self._about = about
    self._group = group
    self._bounds = bounds

  def define(self) -> None:
    """Defines the flag in absl."""
    self._kind(self.name, self.default, self._about, **self._bounds)
    _groups[self.name] = self._group

  def meaning(self, about: str, group: str) -> 'Flag':
    """Returns the same flag with the help text of another command."""
    return Flag(
      self._kind, self.name, self.default, about, group, **self._bounds
    )

  @property
  def value(self) -> Any:
    """The flag's value; its default while no command with the flag runs."""
    if self.name in flags.FLAGS:
      return flags.FLAGS[self.name].value
    return self.default

  @property
  def is_given(self) -> bool:
    """Whether the command line has the flag."""
    return self.name in flags.FLAGS and bool(flags.FLAGS[self.name].present)


_groups: dict[str, str] = {}  # {flag: heading} of the current flags.
MACHINE = 'The machine'  # Heading of flags that do not affect results.

RUN_DIR = Flag(flags.DEFINE_string, 'run_dir', None, 'Folder of the run.')
SEED = Flag(
  flag_kinds.whole,
  'seed',
  0,
  'Root of all randomness.',
  lower_bound=0,
  upper_bound=config.MAX_SEED,
)
AGENT = Flag(flags.DEFINE_string, 'agent', None, 'Agent.')
JSON = Flag(flag_kinds.switch, 'json', False, 'Print one JSON object.')
IMPORT = Flag(
  flags.DEFINE_multi_string,
  'import',
  [],
  'Module, or path of a .py file, that registers tasks, agents, curricula or '
  'studies of your own. For several, separate them with commas or repeat the '
  'flag.',
)

USAGE, FAILURE = 2, 1  # Exit codes.
UNREAD = 141  # As after SIGPIPE: nobody reads the output any more.

# The packages that tf.keras may stand for.
_KERAS = ('keras', 'tf_keras')
_DEFINE = {
  bool: flag_kinds.switch,
  int: flag_kinds.whole,
  float: flag_kinds.number,
  str: flags.DEFINE_string,
}


_is_own_process = False


class UsageError(ValueError):
  """An error that the user can fix; the message says how, in one line."""


@contextlib.contextmanager
def as_usage_error(*refusals: type[Exception]) -> Iterator[None]:
  """Turns exceptions of some types into a UsageError of the same message.

  Args:
    *refusals: types of exceptions that the user can fix.
  """
  try:
    yield
  except UsageError:
    raise
  except refusals as error:
    raise UsageError(str(error)) from error


def start(
  main: Callable[[], int | None],
  define: Callable[[Sequence[str]], None] = lambda arguments: None,
  *,
  is_printer: bool = False,
) -> None:
  """Runs a command that has this process to itself; see `run`."""
  global _is_own_process
  _is_own_process = True
  outputs.guard()
  signals.listen()
  run(main, define, is_printer=is_printer)


def is_own_process() -> bool:
  """Returns whether this process does nothing but one command."""
  return _is_own_process


def run(
  main: Callable[[], int | None],
  define: Callable[[Sequence[str]], None] = lambda arguments: None,
  *,
  is_printer: bool = False,
) -> None:
  """Parses the flags, calls main and exits with its code.

  Errors that a user can cause end in one line on stderr and exit code 2.

  Args:
    main: the command; returns its exit code, None for 0.
    define: function that takes the arguments and defines the flags, which may
      depend on them. It is called after the modules of --import have been
      imported and before flags are parsed. The flags are removed when the
      command ends.
    is_printer: whether the purpose of the command is to print something. Such a
      command fails if its output can't be written; other commands do not.
  """
  arguments = sys.argv[1:]
  try:
    # Flags in a file would come too late to decide which others there are.
    if given(arguments, 'flagfile'):
      raise UsageError('there is no --flagfile; give the flags themselves')
    with contextlib.redirect_stdout(sys.stderr):  # stdout is for the command.
      load_modules(_modules(given(arguments, 'import')), note)
    with _flags_for_now():
      define(arguments)
      code = _parsed_and_called(main)
  except (UsageError, extensions.ImportFailure, flags.Error) as error:
    _complain(str(error))
    code = USAGE
  error = outputs.broken()
  if error is not None and not code and (is_printer or _asks(arguments)):
    code = UNREAD
    if error.errno != errno.EPIPE:
      code = fail(f'standard output cannot be written ({error.strerror})')
  sys.exit(code)


@contextlib.contextmanager
def _flags_for_now() -> Iterator[None]:
  """Removes the flags that the block defines, at its end."""
  known = set(flags.FLAGS)
  try:
    yield
  finally:
    for name in set(flags.FLAGS) - known:
      delattr(flags.FLAGS, name)
    _groups.clear()


def _parsed_and_called(main: Callable[[], int | None]) -> int:
  if _asks(sys.argv):
    about = sys.modules[main.__module__].__doc__ or ''
    print(help_page.page(about, _groups))
    return 0
  try:
    rest = flags.FLAGS(sys.argv)[1:]
  except flags.UnrecognizedFlagError as error:
    raise UsageError(_unknown(error)) from error
  except ValueError as error:  # From --noflag=1, which absl does not expect.
    raise UsageError(str(error)) from error
  if rest:
    raise UsageError(f'{rest[0]!r} is not a flag; flags begin with --')
  return main() or 0


def _unknown(error: flags.UnrecognizedFlagError) -> str:
  """Returns the message for a flag that does not exist.

  It proposes flags with the same last part, such as config.ppo.clip for clip or
  num_agents for config.environment.num_agents. If there are none, it has the
  proposals of absl, which are spelled alike.
  """
  end = error.flagname.removesuffix('.name').rpartition('.')[2]
  alike = sorted(x for x in flags.FLAGS if x.rpartition('.')[2] == end)
  if alike:
    told = f"Unknown command line flag '{error.flagname}'. Did you mean: "
    return told + f'{", ".join(alike)} ?'
  proposes = 'Did you mean' in str(error)
  return str(error) + (
    '' if proposes else '; --help lists those of the command'
  )


def _asks(arguments: Sequence[str]) -> bool:
  """Returns whether a user asks for help."""
  names = (argument.partition('=')[0] for argument in arguments)
  return any(name in ('--help', '-help', '-h') for name in names)


def fail(message: str) -> int:
  """Prints why a command failed while it ran; returns the exit code."""
  _complain(message)
  return FAILURE


def given(arguments: Sequence[str], name: str) -> list[str]:
  """Returns the unparsed values that arguments give to a flag."""
  values = []
  for index, argument in enumerate(arguments):
    if argument == '--':
      break
    flag, equals, value = argument.partition('=')
    if flag in (f'--{name}', f'-{name}'):
      values += [value] if equals else arguments[index + 1 : index + 2]
  return values


def last(arguments: Sequence[str], flag: Flag) -> str | None:
  """Returns the last unparsed value of a flag; None if it is not given."""
  return next(reversed(given(arguments, flag.name)), None)


def defines(*these: Flag) -> Callable[[Sequence[str]], None]:
  """Returns a function for the argument `define` of `run`."""

  def define(arguments: Sequence[str]) -> None:
    del arguments
    for flag in these:
      flag.define()

  return define


def load_modules(
  names: Sequence[str], note: Callable[[str], None] = lambda told: None
) -> None:
  """Imports modules of a user; see `extensions.load`.

  Raises:
    ImportFailure: a module can't be imported.
  """
  if names:  # Most modules import TensorFlow; here it is quiet.
    with quiet_imports():
      import tensorflow as tf  # noqa: F401
  extensions.load(names, folder('.'), note)


def imports() -> tuple[str, ...]:
  """Returns the modules and files of --import, as the user wrote them."""
  return _modules(IMPORT.value)


def _modules(values: Iterable[str]) -> tuple[str, ...]:
  names = [name for value in values for name in value.split(',')]
  return tuple(dict.fromkeys(filter(None, names)))


def define_leaves(
  prefix: str,
  node: Any,
  without: Iterable[str] = (),
  groups: Callable[[str], str] = lambda name: '',
) -> None:
  """Defines a flag for each leaf of a config; flags not given are None.

  Args:
    prefix: prefix of the names of the flags.
    node: the config; --help shows its values as the defaults.
    without: names of leaves to leave out, since they have other flags.
    groups: function that returns the heading below which --help lists a leaf.
  """
  for name, value in overrides.leaves(node).items():
    if name not in without:
      about = fields.meaning(node, name)
      told = [about[:1].upper() + about[1:]] if about else []
      if allowed := fields.allowed(node, name):
        told.append(f'Allowed: {allowed}')
      told.append(f'Default: {fields.told(value) or "empty"}')
      kind = overrides.kind(node, name)
      _DEFINE[kind](prefix + name, None, '. '.join(told) + '.')
      _groups[prefix + name] = groups(name)


def given_leaves(prefix: str, node: Any) -> dict[str, Any]:
  """Returns {leaf: value} of the flags of `define_leaves` that were given."""
  known = [x for x in overrides.leaves(node) if prefix + x in flags.FLAGS]
  values = {name: flags.FLAGS[prefix + name].value for name in known}
  return {name: value for name, value in values.items() if value is not None}


def describe(flag: str, about: str) -> None:
  """Sets the help text of a flag that is already defined."""
  flags.FLAGS[flag].help = about


def _complain(message: str) -> None:
  print('error: ' + ' '.join(message.split()), file=sys.stderr)


def note(message: str) -> None:
  """Tells the user something on stderr, which is not an error."""
  print('note: ' + message, file=sys.stderr)


def folder(path: str | pathlib.Path) -> pathlib.Path:
  """Returns a user's path, relative to the user's working directory."""
  root = pathlib.Path(os.environ.get('BUILD_WORKING_DIRECTORY', '.'))
  # A shell leaves the ~ of --run_dir=~/runs as it is.
  return root / os.path.expanduser(path)


@contextlib.contextmanager
def quiet_imports() -> Iterator[None]:
  """Imports TensorFlow without its messages, and without Keras.

  TensorFlow writes some messages before it reads its log level, so stderr is
  redirected. Importing Keras takes a second, and no command uses it; tf.keras
  can still be imported later.
  """
  left_out = [name for name in _KERAS if name not in sys.modules]
  sys.modules.update(dict.fromkeys(left_out))  # As if not installed.
  sys.stderr.flush()
  real = os.dup(2)
  with open(os.devnull, 'w') as nowhere:
    os.dup2(nowhere.fileno(), 2)
  try:
    yield
  finally:
    os.dup2(real, 2)
    os.close(real)
    for name in left_out:
      del sys.modules[name]
