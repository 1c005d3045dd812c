# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pages have whole links, in the repository and on the site."""

import importlib.util
import json
import pathlib
import re
import tempfile
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

_ROOT = pathlib.Path(__file__).parent.parent
_HOOK = _ROOT / 'website' / 'pages.py'
_HEADING = re.compile(r'^#+ +(.*?)\s*$', re.MULTILINE)
_FENCED = re.compile(r'^```.*?^```$', re.MULTILINE | re.DOTALL)


def _load_hook():
  spec = importlib.util.spec_from_file_location('pages', _HOOK)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def _anchors(text):
  """Returns the anchors of the headings of a page, as GitHub makes them.

  Of headings that are called alike only the first one can be linked to.
  """
  headings = _HEADING.findall(_FENCED.sub('', text))
  return {
    re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
    for heading in headings
  }


@absltest.skipUnless(_HOOK.is_file(), 'website/ is not here')
class WebsiteTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.pages = _load_hook()

  def _all(self):
    """Returns {path: text} of all pages in Markdown that are reached."""
    pages = self.pages
    start = {
      path.relative_to(_ROOT).as_posix()
      for path in (_ROOT / 'docs').rglob('*')
      if path.suffix in ('.md', '.ipynb')
    }
    self.assertGreater(len(start), 15)
    reached = pages.reached(frozenset(start | {pages.HOME}))
    return {
      path: pages.markdown_of(path)
      for path in reached
      if path.endswith(('.md', '.ipynb'))
    }

  def test_every_link_leads_to_a_file_and_to_a_heading(self):
    texts = self._all()
    num_anchors = 0
    for path, text in texts.items():
      own = re.findall(r'\]\((#[^)]+)\)', text)
      found = {**self.pages.links(text, path), **dict.fromkeys(own, path)}
      for target, file in found.items():
        self.assertTrue((_ROOT / file).is_file(), f'{path}: {target}')
        _, mark, anchor = target.partition('#')
        if mark:
          num_anchors += 1
          self.assertIn(anchor, _anchors(texts[file]), f'{path}: {target}')
    self.assertGreater(num_anchors, 20)

  def test_every_link_leads_to_a_page_of_the_site(self):
    texts = self._all()
    paths = self.pages.reached(frozenset(texts))
    of_site = {self.pages.page_of(path) for path in paths}
    self.assertLen(of_site, len(paths))  # None hides another.
    for path, text in texts.items():
      page = self.pages.page_of(path)
      new = self.pages.relinked(text, path)
      self.assertLen(
        self.pages.links(new, page), len(self.pages.links(text, path))
      )
      for file in self.pages.links(new, page).values():
        is_picture = file.startswith('images/')  # MkDocs copies docs/images.
        self.assertTrue(file in of_site or is_picture, f'{path}: {file}')

  @parameterized.parameters(
    ('README.md', '[x](docs/flags.md#starts)', '[x](flags.md#starts)'),
    ('README.md', '![x](docs/images/a.gif)', '![x](images/a.gif)'),
    ('README.md', '[`x`](vacl_tf/types.py)', '[`x`](vacl_tf/types.py.md)'),
    ('docs/flags.md', '[x](../README.md)', '[x](index.md)'),
    ('docs/flags.md', '[x](tutorial.ipynb)', '[x](tutorial.md)'),
    (
      'docs/guides/a.md',
      '[x](../../results/README.md) [y](b.md)',
      '[x](../results/README.md) [y](b.md)',
    ),
    (
      'results/README.md',
      '[x](../docs/guides/a.md)',
      '[x](../guides/a.md)',
    ),
    ('results/README.md', '[x](#y)', '[x](#y)'),
    ('README.md', '[x](https://a.b/docs/c.md)', '[x](https://a.b/docs/c.md)'),
    ('README.md', '`x[0](docs/a.md)`', '`x[0](docs/a.md)`'),
    ('README.md', '```\nx[0](docs/a.md)\n```', '```\nx[0](docs/a.md)\n```'),
  )
  def test_links_are_rewritten_and_code_is_not(self, path, text, expected):
    self.assertEqual(self.pages.relinked(text, path), expected)

  def test_sources_are_shown_whole(self):
    text = self.pages.markdown_of('website/pages.py')
    self.assertIn('# website/pages.py\n', text)
    self.assertIn(_HOOK.read_text(), text)

  def test_notebooks_are_shown_with_outputs(self):
    code = {'cell_type': 'code', 'source': ['1 + ', '1'], 'outputs': []}
    code['outputs'] = [
      {'output_type': 'stream', 'text': ['two', ' lines\n']},
      {'output_type': 'execute_result', 'data': {'text/plain': ['2']}},
      {
        'output_type': 'display_data',
        'data': {'text/plain': ['<Image>'], 'image/png': 'AB\nC=\n'},
      },
    ]
    cells = [{'cell_type': 'markdown', 'source': ['# Title\n', 'Text.']}, code]
    with tempfile.TemporaryDirectory() as folder:
      path = pathlib.Path(folder) / 'a.ipynb'
      path.write_text(json.dumps({'cells': cells}))
      with mock.patch.object(self.pages, 'ROOT', path.parent):
        text = self.pages.markdown_of('a.ipynb')
    fence = '`' * 6
    self.assertEqual(
      text,
      f'# Title\nText.\n\n{fence}python\n1 + 1\n{fence}\n\n'
      f'{fence}text\ntwo lines\n{fence}\n\n{fence}text\n2\n{fence}\n\n'
      '![What the cell shows](data:image/png;base64,ABC=)\n',
    )

  def test_the_menu_names_pages(self):
    text = (_ROOT / 'mkdocs.yml').read_text().partition('\nnav:\n')[2]
    named = set(re.findall(r'[\w/]+\.md', text))
    paths = self._all()
    self.assertEmpty(named - {self.pages.page_of(path) for path in paths})
    # Nobody would find a page of docs/ that it does not name.
    below = {self.pages.page_of(x) for x in paths if x.startswith('docs/')}
    self.assertEmpty(below - named)


if __name__ == '__main__':
  absltest.main()
