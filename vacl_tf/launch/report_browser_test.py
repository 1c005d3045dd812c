# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A page in a real browser: `make test-browser`, which needs Chromium."""

import base64
import json
import os
import pathlib
import re
import tempfile

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import judging
from vacl_tf.launch import report
from vacl_tf.testing import browser
from vacl_tf.testing import run_folders

_RESULTS = pathlib.Path(__file__).parents[2] / 'results'
_RUN = _RESULTS / 'push_ball_n4' / 'seed0'  # It grows from two agents to four.
_WIDTHS = (1280, 400)
_LEAST_FONT = 12.0  # Pixels.
_SMALLEST = """
  Math.min(...[...document.querySelectorAll('body *')]
    .filter((x) => [...x.childNodes].some(
      (y) => y.nodeType === 3 && y.textContent.trim()))
    .filter((x) => x.getClientRects().length)
    .map((x) => parseFloat(getComputedStyle(x).fontSize) *
      (x.ownerSVGElement ? x.getScreenCTM().a : 1)))
"""
_BOX = """
  (() => {
    const found = document.querySelector('%s');
    found.scrollIntoView({block: 'center'});
    const box = found.getBoundingClientRect();
    return [box.left, box.top, box.width, box.height];
  })()
"""


@absltest.skipUnless(_RUN.is_dir(), 'results/ is not here')
class BrowserTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    program = browser.find()
    if program is None:
      raise absltest.SkipTest('no Chromium: apt-get install chromium')
    folder = cls.enterClassContext(tempfile.TemporaryDirectory())
    cls.path = pathlib.Path(folder, 'report.html')
    report.report([_RUN], cls.path, [], judging.Options(60, 0, True))
    text = cls.path.read_text()
    [cls.data] = re.findall('<script type="application/json".*?>(.*)<', text)
    cls.data = json.loads(cls.data)
    cls.page = cls.enterClassContext(browser.started(program))

  def setUp(self):
    super().setUp()
    self.page.complaints.clear()

  def tearDown(self):
    self.assertEmpty(self.page.complaints)
    super().tearDown()

  def _text(self, name):
    return self.page.value(f"document.getElementById('{name}').innerText")

  def _maps(self):
    """Returns what is drawn on the maps."""
    return self.page.value(
      "[...document.querySelectorAll('.rooms canvas')].map("
      '(x) => x.toDataURL())'
    )

  def _click_dot(self, name, row, time=-1):
    """Clicks where a task of a set puts its first entity."""
    found = self.data['curriculum']
    packed = found['target']
    if name != 'target':
      packed = found['snapshots'][time]['sets'][name]
    points = np.frombuffer(base64.b64decode(packed['points']), '<i2')
    points = points.reshape(packed['rows'], -1, 2) * found['unit']
    left, top, width, _ = self.page.value(_BOX % '.rooms canvas')
    from_x, to_x, from_y, to_y = found['box']
    scale = width / (to_x - from_x)
    x, y = points[row, 0] + [from_x, from_y]
    self.page.click(left + scale * (x - from_x), top + scale * (to_y - y))

  def _show_alone(self, name):
    for index, other in enumerate(('active', 'solved', 'target')):
      self.page.value(
        f"[...document.querySelectorAll('input[type=checkbox]')][{index}]"
        f'.checked !== {json.dumps(other == name)} && '
        f"[...document.querySelectorAll('input[type=checkbox]')][{index}]"
        '.click()'
      )

  @parameterized.parameters(*_WIDTHS)
  def test_it_is_legible(self, width):
    self.page.open(self.path, width)
    self.assertLessEqual(
      self.page.value('document.documentElement.scrollWidth'), width
    )
    self.assertGreaterEqual(self.page.value(_SMALLEST), _LEAST_FONT)
    least = min(width - 80, 300)
    for part in ('.charts svg', '.rooms canvas'):
      self.assertGreater(self.page.value(_BOX % part)[2], least)
    if folder := os.environ.get('PICTURES'):
      self.page.picture(pathlib.Path(folder) / f'report_{width}.png')

  @parameterized.parameters(*_WIDTHS)
  def test_the_slider_goes_through_time(self, width):
    self.page.open(self.path, width)
    self.page.value("document.getElementById('time').focus()")
    seen = set()
    self.page.press('Home')
    for snapshot in self.data['curriculum']['snapshots']:
      told = f'iteration {snapshot["iteration"]}, '
      self.assertStartsWith(self._text('told'), told)
      seen.add(tuple(self._maps()))
      self.page.press('ArrowRight')
    self.assertLen(seen, len(self.data['curriculum']['snapshots']))

  @parameterized.product(width=_WIDTHS, name=('active', 'solved', 'target'))
  def test_a_click_on_a_dot_plays_its_film(self, width, name):
    self.page.open(self.path, width)
    self._show_alone(name)
    sets = self.data['curriculum']['snapshots'][-1]['sets']
    sets['target'] = self.data['curriculum']['target']
    row = min(map(int, sets[name]['films']))
    before = self._maps()
    self._click_dot(name, row)
    facts = self._text('facts').split()
    self.assertEqual(facts[:2], ['set', name])
    for old, new in zip(before, self._maps(), strict=True):
      self.assertNotEqual(old, new)  # Its entities are marked on each map.
    self.page.wait(
      "/step [5-9]/.test(document.getElementById('caption').innerText)"
    )
    picture = "document.getElementById('chosen').toDataURL()"
    first = self.page.value(picture)
    self.page.wait(f'{picture} !== {json.dumps(first)}')

  def test_a_task_without_a_film_is_drawn(self):
    self.page.open(self.path, _WIDTHS[0])
    self._show_alone('active')
    packed = self.data['curriculum']['snapshots'][-1]['sets']['active']
    without = [
      x for x in range(packed['rows']) if str(x) not in packed['films']
    ]
    for row in without:
      self._click_dot('active', row)
      if 'no film' in self._text('caption'):
        break
    self.assertIn('no film of this task', self._text('caption'))
    self.assertIn('not included in this report', self._text('facts'))

  def test_play_and_pause(self):
    self.page.open(self.path, _WIDTHS[0])
    self.page.click(*self._middle('.controls button'))
    first = self.data['curriculum']['snapshots'][0]['iteration']
    told = f'iteration {first}, '
    self.assertStartsWith(self._text('told'), told)
    self.page.wait(
      f"!document.getElementById('told').innerText.startsWith('{told}')"
    )
    self.page.click(*self._middle('.controls button'))
    stopped = self._text('told')
    self.page.value('new Promise((done) => setTimeout(done, 1200))')
    self.assertEqual(self._text('told'), stopped)

  @parameterized.parameters(*_WIDTHS)
  def test_worst_tasks_are_drawn_and_play(self, width):
    self.page.open(self.path, width)
    number = "document.querySelectorAll('.failures canvas').length"
    self.assertEqual(self.page.value(number), len(self.data['failures']))
    caption = "document.querySelector('.failures figcaption').innerText"
    value = f'value {self.data["failures"][0]["value"]:.2f}'
    self.assertEqual(self.page.value(caption), value)
    self.page.click(*self._middle('.failures canvas'))
    self.page.wait(f'/step [5-9]/.test({caption})')
    self.page.click(*self._middle('.failures canvas'))
    self.assertEqual(self.page.value(caption), value)

  def _middle(self, selector):
    left, top, width, height = self.page.value(_BOX % selector)
    return left + width / 2, top + height / 2


class ParentTest(absltest.TestCase):
  """A run without a policy whose tasks have parents."""

  def test_the_parent_is_drawn(self):
    program = browser.find()
    if program is None:
      raise absltest.SkipTest('no Chromium: apt-get install chromium')
    root = pathlib.Path(self.create_tempdir().full_path)
    run = run_folders.write_run(root / 'run')
    run_folders.write_snapshots(run)
    with np.load(run / 'curriculum.npz') as arrays:
      found = dict(arrays)
    phi = found['40/active_phi']
    found['40/active_parent'] = 0.5 * phi[:3]
    found['40/active_parent_row'] = np.arange(3)
    np.savez_compressed(run / 'curriculum.npz', **found)
    path = root / 'report.html'
    report.report([run], path, [], judging.Options(4, 0, True))
    with browser.started(program) as page:
      page.open(path, _WIDTHS[0])
      for index in (1, 2):  # Active tasks alone are left.
        page.value(
          f"document.querySelectorAll('input[type=checkbox]')[{index}].click()"
        )
      told = {}
      for row in (0, 9):  # The parent of the first one alone is known.
        left, top, width, _ = page.value(_BOX % '.rooms canvas')
        x, y = phi[row, :2]
        low, high = -3.18, 3.18  # The room and its margin, metres.
        scale = width / (high - low)
        page.click(left + scale * (x - low), top + scale * (high - y))
        told[row] = page.value("document.getElementById('facts').innerText")
        is_hidden = page.value("document.getElementById('parent').hidden")
        self.assertEqual(is_hidden, row == 9, told)
      self.assertIn('shown beside this task', told[0])
      self.assertIn('not included in this report', told[9])
      self.assertEmpty(page.complaints)


if __name__ == '__main__':
  absltest.main()
