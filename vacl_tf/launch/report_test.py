# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A page has what there is of a run, and says what is missing."""

import html.parser
import json
import os
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import command_line
from vacl_tf.launch import judging
from vacl_tf.launch import report
from vacl_tf.testing import commands
from vacl_tf.testing import run_folders

_OPTIONS = judging.Options(4, 0, True)
_LONG = 'x' * 300  # Longer than a name may be.


class _Page(html.parser.HTMLParser):
  """The sections of a page, its text and its data."""

  def __init__(self, path):
    super().__init__()
    self.sections, self.text, self.links, self.data = [], '', [], None
    self._is_data = False
    self.feed(path.read_text())

  def handle_starttag(self, tag, attributes):
    attributes = dict(attributes)
    if tag == 'section':
      self.sections.append(attributes['id'])
    self.links += [x for k, x in attributes.items() if k in ('src', 'href')]
    self._is_data = attributes.get('type') == 'application/json'

  def handle_data(self, data):
    if self._is_data:
      self.data, self._is_data = json.loads(data), False
    else:
      self.text += data


class ReportTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.output = self.root / 'report.html'
    self.run_dir = run_folders.write_run(self.root / 'run')
    run_folders.write_snapshots(self.run_dir)

  def _report(self, *paths):
    notes = report.report(paths or [self.run_dir], self.output, [], _OPTIONS)
    return notes, _Page(self.output)

  def test_a_page_needs_nothing_else(self):
    _, page = self._report()
    self.assertEqual(page.links, ['data:,'])
    self.assertIn("default-src 'none'", self.output.read_text())
    self.assertLess(self.output.stat().st_size, 8_000_000)

  def test_without_a_policy_the_rest_is_shown(self):
    notes, page = self._report()
    self.assertTrue(any('no policy is played' in note for note in notes))
    for note in notes:
      self.assertIn(note, page.text)
    self.assertEqual(
      page.sections,
      ['missing', 'curves', 'curriculum', 'speed', 'constants', 'machine'],
    )
    self.assertLen(page.data['curriculum']['snapshots'], 3)
    self.assertEqual(page.data['films']['items'], [])

  def test_sets_are_called_what_they_are(self):
    _, page = self._report()
    titles = [x['title'] for x in page.data['charts']['sets']]
    self.assertLen(titles, 3)
    self.assertEqual(page.data['curriculum']['names']['active'], 'active tasks')
    self.assertIn(f'The task sets of {self.run_dir}.', page.text)

  def test_a_curriculum_without_sets_is_the_tasks_that_it_played(self):
    bare, played = (
      run_folders.write_run(self.root / name, has_sets=False, curriculum=name)
      for name in ('uniform', 'rcg')
    )
    run_folders.write_snapshots(played)
    _, page = self._report(bare, played)
    [far] = page.data['charts']['sets']
    names = page.data['curriculum']['names']
    self.assertEqual(
      [x['name'] for x in far['series']],
      ['played, not solved', 'played, solved'],
    )
    self.assertEqual(
      [names['active'], names['solved']], [x['name'] for x in far['series']]
    )
    self.assertNotIn('The task sets of', page.text)
    self.assertIn(f'Tasks that {played} played in selected', page.text)
    _, page = self._report(bare)
    self.assertIn(
      f'{bare} has no recorded tasks to show (curriculum: uniform)', page.text
    )
    self.assertNotIn('curriculum', page.data)

  def test_curves_are_those_of_the_run(self):
    _, page = self._report()
    [steps, minutes] = page.data['charts']['curves']
    [coverage, *_] = steps['series']
    self.assertEqual(coverage['y'], [0.1, 0.2, 0.3, 0.4])
    self.assertEqual(coverage['x'], [0.35, 0.7, 1.05, 1.4])
    self.assertEqual(minutes['series'][0]['x'], [0.5, 0.66667, 0.83333, 1.0])
    self.assertIn('1,400,000', page.text)

  def test_no_two_curves_look_alike(self):
    runs = [
      run_folders.write_run(self.root / f'{i}', {'ppo.clip': 0.1 + 0.01 * i})
      for i in range(8)
    ]
    _, page = self._report(*runs)
    for name in ('curves', 'speed'):
      series = page.data['charts'][name][0]['series']
      looks = {(x['colour'], x.get('is_dashed')) for x in series}
      self.assertLen(looks, len(series))
      self.assertGreaterEqual(len(series), len(runs))

  def test_the_published_curve_is_of_the_same_task_alone(self):
    changed = {'environment.half_width': 5.0}
    other = run_folders.write_run(self.root / 'other', changed)
    for path, number in ((self.run_dir, 1), (other, 0)):
      _, page = self._report(path)
      names = [x['name'] for x in page.data['charts']['curves'][0]['series']]
      self.assertLen([x for x in names if 'authors' in x], number)

  def test_seeds_have_a_mean(self):
    other = run_folders.write_run(self.root / 'other', seed=1)
    _, page = self._report(self.run_dir, other)
    series = page.data['charts']['curves'][0]['series']
    self.assertLen([x for x in series if x.get('is_thin')], 2)
    [mean] = [x for x in series if 'low' in x]
    self.assertEqual(mean['y'], [0.1, 0.2, 0.3, 0.4])

  def test_seeds_without_steps_in_common_have_none(self):
    other = run_folders.write_run(self.root / 'other', seed=1)
    header, *rows = (other / 'metrics.csv').read_text().splitlines()
    for path, part in ((self.run_dir, rows[:15]), (other, rows[15:])):
      (path / 'metrics.csv').write_text('\n'.join([header, *part, '']))
    _, page = self._report(self.run_dir, other)
    names = {x['name'] for x in page.data['charts']['curves'][0]['series']}
    self.assertIn('vacl (2 runs whose steps do not overlap)', names)
    self.assertFalse(any('interval' in name for name in names))

  def test_runs_of_several_tasks_share_no_name_of_progress(self):
    other = run_folders.write_run(self.root / 'other', env='ramp_use')
    for paths in ((other, self.run_dir), (self.run_dir, other)):
      _, page = self._report(*paths)
      [title, *_] = (x['title'] for x in page.data['charts']['curves'])
      self.assertIn('coverage', title.lower())
      self.assertNotIn('hider', title.lower())

  def test_constants_that_differ_from_the_preset(self):
    changed = run_folders.write_run(self.root / 'other', {'ppo.clip': 0.35})
    _, page = self._report(changed)
    self.assertIn('that differ from its preset', page.text)
    self.assertIn('0.35', page.text.partition('All constants')[0])
    _, page = self._report()
    self.assertIn(
      f'All constants of {self.run_dir} are those of its preset.', page.text
    )

  @parameterized.parameters(
    ('config.json', '{', 'no config.json that can be read', 'curves'),
    ('metrics.csv', 'a,b\n1,2\n', 'no column', 'constants'),
    ('metrics.csv', None, 'no metrics.csv', 'constants'),
    ('curriculum.npz', 'no arrays', 'no map of the curriculum', 'curves'),
    ('curriculum.npz', None, 'no curriculum.npz', 'curves'),
  )
  def test_what_is_damaged_is_told(self, name, content, message, shown):
    path = self.run_dir / name
    path.unlink() if content is None else path.write_text(content)
    notes, page = self._report()
    self.assertIn(message, ' '.join(notes))
    self.assertIn(message, page.text)
    self.assertIn(shown, page.sections)

  def test_a_run_without_an_evaluation_has_its_speed(self):
    young = run_folders.write_run(self.root / 'young', num_iterations=5)
    notes, page = self._report(young)
    self.assertIn('no evaluation yet', ' '.join(notes))
    [speed] = page.data['charts']['speed']
    self.assertEqual(set(speed['series'][0]['y']), {35_000.0})
    self.assertEqual(page.data['charts']['curves'], [])

  def test_names_do_no_harm(self):
    name = 'a</script><script>alert(1)</script>&b'
    run = run_folders.write_run(self.root / name.replace('/', '_'))
    _, page = self._report(run)
    self.assertNotIn('<script>alert', self.output.read_text())
    self.assertIn('<script>alert(1)', page.text)

  def test_a_name_may_be_no_text(self):
    run = run_folders.write_run(self.root / os.fsdecode(b'l\xe4ufe'))
    _, page = self._report(run)
    self.assertIn(r'l\udce4ufe', page.text)

  @parameterized.parameters(
    (['--run_dirs=/nowhere'], '/nowhere is not a folder; give the run_dir'),
    ([], 'no run to report on; give --run_dirs='),
    (['--run_dirs=.', '--output=a.pdf'], 'give a name that ends in .html'),
    (['--run_dirs=.', '--output=no/a.html'], 'mkdir -p'),
    (['--run_dirs=.', f'--output={_LONG}/a.html'], 'too long); give another'),
    ([f'--run_dirs={_LONG}'], 'too long); give the run_dir of another run'),
    (['--run_dirs=.', '--num_agents=4,x'], 'give one like 4,8,24'),
  )
  def test_what_a_user_can_mend_is_one_line(self, arguments, message):
    def start():
      command_line.run(report.main, report.define)

    ended = commands.run(start, *arguments)
    self.assertEqual(ended.code, 2)
    self.assertIn(message, ended.err)
    self.assertLen(ended.err.splitlines(), 1)

  def test_a_folder_of_something_else(self):
    (self.root / 'empty').mkdir()
    with self.assertRaisesRegex(
      command_line.UsageError, 'has neither a config'
    ):
      self._report(self.root / 'empty')
    self.assertFalse(self.output.exists())

  def test_of_a_folder_of_runs_one_is_proposed(self):
    with self.assertRaisesRegex(
      command_line.UsageError, f'give one of them, like {self.run_dir}$'
    ):
      self._report(self.run_dir.parent)
    self.assertFalse(self.output.exists())


if __name__ == '__main__':
  absltest.main()
