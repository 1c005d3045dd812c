# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file that makes no network requests.

A content security policy forbids the browser to load anything else. The data of
charts, maps and films is JSON in the page; page/*.js draws it.
"""

import html
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from vacl_tf.launch import report_tables

_FOLDER = pathlib.Path(__file__).parent / 'page'
_SCRIPTS = ('charts.js', 'films.js', 'curriculum.js', 'start.js')
_POLICY = (
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
  "img-src data:; base-uri 'none'; form-action 'none'"
)


def page(title: str, sections: Sequence[str], data: dict[str, Any]) -> str:
  """Returns the whole page.

  Args:
    title: title of the page.
    sections: HTML from `section`.
    data: data that the scripts draw, without NaN.
  """
  # A '<' is the only character that could end the script element.
  content = json.dumps(data, separators=(',', ':'), allow_nan=False)
  content = content.replace('<', '\\u003c')
  scripts = '\n'.join((_FOLDER / name).read_text('utf-8') for name in _SCRIPTS)
  style = (_FOLDER / 'style.css').read_text('utf-8')
  parts = [
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
    '<link rel="icon" href="data:,">',  # Otherwise browsers ask for one.
    f'<title>{html.escape(title)}</title>\n<style>\n{style}</style>',
    f'</head>\n<body>\n<h1>{html.escape(title)}</h1>',
    *sections,
    f'<script type="application/json" id="data">{content}</script>',
    f"<script>\n'use strict';\n{scripts}</script>\n</body>\n</html>\n",
  ]
  return '\n'.join(parts)


def section(name: str, heading: str, *parts: str) -> str:
  """Returns a section with those parts that are not empty."""
  inside = '\n'.join(part for part in parts if part)
  return (
    f'<section id="{name}">\n<h2>{html.escape(heading)}</h2>\n{inside}\n'
    '</section>'
  )


def paragraph(text: str) -> str:
  """Returns a paragraph of plain text; nothing if the text is empty."""
  return f'<p>{html.escape(text)}</p>' if text else ''


def bullets(texts: Sequence[str]) -> str:
  """Returns a bulleted list."""
  items = ''.join(f'<li>{html.escape(text)}</li>' for text in texts)
  return f'<ul>{items}</ul>'


def table(content: report_tables.Table) -> str:
  """Returns a table, which scrolls if it is too wide."""
  head = ''.join(f'<th>{html.escape(x)}</th>' for x in content.headings)
  body = ''.join(
    '<tr>' + ''.join(f'<td>{html.escape(x)}</td>' for x in row) + '</tr>\n'
    for row in content.rows
  )
  return (
    '<div class="wide"><table>\n'
    f'<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>'
  )


def folded(heading: str, inside: str) -> str:
  """Returns content that is hidden until its heading is clicked."""
  return f'<details><summary>{html.escape(heading)}</summary>{inside}</details>'


def charts(name: str) -> str:
  """Returns a placeholder for the charts data['charts'][name]."""
  return f'<div class="charts" data-charts="{html.escape(name)}"></div>'


def widget(name: str) -> str:
  """Returns a placeholder for a widget: curriculum or failures."""
  return f'<div data-widget="{html.escape(name)}"></div>'
