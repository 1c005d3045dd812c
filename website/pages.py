# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A MkDocs hook that adds pages for files outside docs/.

MkDocs knows only the files below docs/, but pages also link to README files,
sources and pictures elsewhere in the repository. Each file that a page links to
becomes a page too, and the links are rewritten to point to it. The README is
the home page, and notebooks are shown with their outputs.

All paths are relative to the root of the repository, with slashes.
"""

import functools
import json
import pathlib
import posixpath
import re
from collections.abc import Iterable
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
HOME = 'README.md'
_DOCS = 'docs/'
_PICTURES = ('.gif', '.png', '.svg')
_FENCE = '`' * 6  # Longer than any fence in a source.
# Matches code, in which nothing is a link, or the target of a link.
_LINK = re.compile(
  r'(?P<code>^```.*?^```$|`[^`\n]+`)|(?<=\]\()(?P<target>[^()\s]+)(?=\))',
  re.MULTILINE | re.DOTALL,
)


def page_of(path: str) -> str:
  """Returns the path of a file in the site, which MkDocs calls src_uri."""
  if path == HOME:
    return 'index.md'
  inside = path.removeprefix(_DOCS)
  if inside.endswith('.ipynb'):
    return inside.removesuffix('.ipynb') + '.md'
  return inside if inside.endswith(('.md', *_PICTURES)) else inside + '.md'


def links(text: str, path: str) -> dict[str, str]:
  """Returns {target: path} for the links of a page to files.

  Args:
    text: Markdown of the page.
    path: path of the page.
  """
  folder = posixpath.dirname(path)
  found = {}
  for match in _LINK.finditer(text):
    target = match['target']
    if target and not re.match(r'#|[a-z]+:', target):
      file = target.partition('#')[0]
      found[target] = posixpath.normpath(posixpath.join(folder, file))
  return found


def relinked(text: str, path: str) -> str:
  """Returns the text of a page, with links to pages of the site.

  Args:
    text: Markdown of the page.
    path: path of the page.
  """
  leads_to, here = links(text, path), posixpath.dirname(page_of(path))

  def replace(match: re.Match[str]) -> str:
    target = match['target']
    if target not in leads_to:
      return match[0]
    _, mark, anchor = target.partition('#')
    return (
      posixpath.relpath(page_of(leads_to[target]), here or '.') + mark + anchor
    )

  return _LINK.sub(replace, text)


def markdown_of(path: str) -> str:
  """Returns a file as Markdown, with links as they are in the repository."""
  text = (ROOT / path).read_text()
  if path.endswith('.md'):
    return text
  if path.endswith('.ipynb'):
    return '\n\n'.join(_cells(json.loads(text)['cells'])) + '\n'
  kind = pathlib.PurePosixPath(path).suffix[1:].replace('py', 'python')
  hidden = '---\nsearch:\n  exclude: true\n---\n'
  return f'{hidden}# {path}\n\n{_FENCE}{kind}\n{text}{_FENCE}\n'


def _cells(cells: list[dict[str, Any]]) -> Iterable[str]:
  """Yields the cells of a notebook and their outputs, as Markdown."""
  for cell in cells:
    source = ''.join(cell['source'])
    if cell['cell_type'] != 'code':
      yield source
      continue
    yield f'{_FENCE}python\n{source}\n{_FENCE}'
    for output in cell['outputs']:
      yield _shown(output)


def _shown(output: dict[str, Any]) -> str:
  """Returns an output of a cell, a picture or text, as Markdown."""
  data = output.get('data', {})
  for kind, content in data.items():
    if kind.startswith('image/'):
      content = ''.join(''.join(content).split())
      return f'![What the cell shows](data:{kind};base64,{content})'
  text = ''.join(output.get('text', data.get('text/plain', '')))
  return f'{_FENCE}text\n{text.rstrip()}\n{_FENCE}'


@functools.cache
def reached(paths: frozenset[str]) -> frozenset[str]:
  """Returns these files and all that they link to, directly or not."""
  found = list(paths)
  for path in found:  # The list grows in the loop.
    if path.endswith(('.md', '.ipynb')):
      more = links(markdown_of(path), path).values()
      found += [x for x in more if (ROOT / x).is_file() and x not in found]
  return frozenset(found)


def on_files(files: Any, config: Any) -> Any:
  """Adds the pages for files outside docs/; MkDocs calls this hook."""
  from mkdocs.structure import files as structure

  below = {_DOCS + x.src_uri for x in files}
  pages = {x for x in below if x.endswith(('.md', '.ipynb'))}
  for path in sorted(reached(frozenset({HOME, *pages}))):
    if path.endswith(_PICTURES):
      given = {'abs_src_path': str(ROOT / path)}
    else:
      given = {'content': relinked(markdown_of(path), path)}
    if path not in below or path.endswith('.ipynb'):
      added = structure.File.generated(config, page_of(path), **given)
      files.append(added)
  return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
  """Rewrites the links of a page in docs/; MkDocs calls this hook."""
  if page.file.generated_by:
    return markdown
  return relinked(markdown, _DOCS + page.file.src_uri)
