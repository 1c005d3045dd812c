# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Policies are read as data: the same numbers, and nothing foreign is run."""

import functools
import importlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import agents
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.testing import tiny
from vacl_tf.training import checkpoints
from vacl_tf.training import export
from vacl_tf.training import policy_files

_ROOT = pathlib.Path(__file__).parents[2]
_RESULTS = _ROOT / 'results'
_EXAMPLES = _ROOT / 'examples/pettingzoo_spread'


@functools.cache  # Copies cost less than to save the same once more.
def _exported(env, agent) -> tempfile.TemporaryDirectory:
  """Returns a folder with an untrained policy that acts by what it sees."""
  folder = tempfile.TemporaryDirectory()
  cfg = tiny.shrunk(presets.make(env=env, agent=agent, seed=1))
  world = environments.make(cfg.environment)
  made = agents.make(cfg, world.roles)
  rng = np.random.default_rng(0)
  for part in made.policies:
    for variable in part.variables:
      variable.assign_add(rng.normal(size=variable.shape).astype('f'))
  export.export(made, world, cfg, pathlib.Path(folder.name) / 'policy')
  return folder


def _export(path, env, agent=None):
  """Writes the policy of `_exported`, and returns its folder."""
  folder = pathlib.Path(_exported(env, agent).name)
  return shutil.copytree(folder / 'policy', path)


def _built_once():
  """Returns a patch; policies that are built alike are one and the same.

  It is filled anew with variables whenever one is loaded.
  """
  build, made = policy_files._build, {}

  def built(cfg, facts):
    key = cfg.agent, cfg.environment, json.dumps(facts['roles'])
    if key not in made:
      made[key] = build(cfg, facts)
    return made[key]

  return mock.patch.object(policy_files, '_build', built)


def _traced_once():
  """Returns a patch; policies with variables of the same kind are one.

  It suits tests that do not act: what agents make of what they see may differ.
  """
  trace, made = export.ExportedPolicy, {}

  def exported(agent, roles):
    variables = [(x.name, *x.shape) for x in agent.variables]
    key = str((variables, export.described(roles)))
    if key not in made:
      made[key] = trace(agent, roles)
    return made[key]

  return mock.patch.object(export, 'ExportedPolicy', exported)


def _given(policy):
  """Returns arguments of `act`, for 3 worlds of 2 agents."""
  rng, given = np.random.default_rng(1), {}
  _, inputs = policy.act.structured_input_signature
  for name, spec in sorted(inputs.items()):  # The same everywhere.
    shape = [x or (3, 2)[min(i, 1)] for i, x in enumerate(spec.shape)]
    given[name] = tf.cast(rng.normal(size=shape), spec.dtype)
  return given | {'seed': randomness.root(2)}


class _Case(parameterized.TestCase, tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path) / 'policy'

  def assert_alike(self, one, other, tolerance=0.0):
    """Checks that two policies do the same."""
    given = _given(other)
    for is_greedy in (True, False):
      given['greedy'] = tf.constant(is_greedy)
      expected, found = other.act(**given), one.act(**given)
      self.assertEqual(found.keys(), expected.keys())
      for name, x in expected.items():
        self.assertAllClose(found[name], x, tolerance, tolerance)


class WeightsTest(_Case):
  @parameterized.parameters(
    ('simple_spread', None),
    ('simple_spread', 'recurrent_attention'),
    ('push_ball', None),
    ('speaker_listener', None),
    ('speaker_listener', 'recurrent_attention'),
    ('ramp_use', None),
    ('ramp_use', 'attention'),
    ('lock_and_return', None),
  )
  def test_it_acts_as_the_graph_to_the_last_bit(self, env, agent):
    _export(self.folder, env, agent)
    with mock.patch.object(tf.saved_model, 'load', side_effect=AssertionError):
      policy, facts = policy_files.load_policy(self.folder)
    graph, same = policy_files.load_policy(str(self.folder), run_graph=True)
    self.assertEqual(facts, same)
    self.assert_alike(policy, graph)

  def test_a_run_folder_will_do(self):
    run = self.folder
    _export(run / 'saved_model', 'speaker_listener')
    wanted, facts = policy_files.load_policy(run / 'saved_model')
    for options in ({}, {'run_graph': True}):
      found, same = policy_files.load_policy(run, **options)
      self.assertEqual(same, facts)
      self.assert_alike(found, wanted)
    shutil.rmtree(run / 'saved_model')
    self._assert_refused('give a run folder that has one, or its saved_model')

  def test_how_it_was_trained_need_not_be_known(self):
    _export(self.folder, 'speaker_listener')
    wanted, _ = policy_files.load_policy(self.folder)
    path = self.folder / 'policy.json'
    facts = json.loads(path.read_text())
    facts['config'] |= {'curriculum.name': 'mine', 'curriculum.its_own': 1}
    path.write_text(json.dumps(facts))
    found, _ = policy_files.load_policy(self.folder)
    self.assert_alike(found, wanted)

  def test_it_needs_no_graph_and_runs_none(self):
    _export(self.folder, 'simple_spread')
    wanted, _ = policy_files.load_policy(self.folder)
    (self.folder / 'saved_model.pb').write_bytes(b'foreign')
    (self.folder / 'fingerprint.pb').unlink()
    found, _ = policy_files.load_policy(self.folder)
    self.assert_alike(found, wanted)

  def test_every_byte_that_is_flipped_is_found_or_harmless(self):
    _export(self.folder, 'speaker_listener')
    wanted, _ = policy_files.load_policy(self.folder)
    self.enter_context(_built_once())
    rng, num_found = np.random.default_rng(0), 0
    for path in sorted((self.folder / 'variables').iterdir()):
      whole = path.read_bytes()
      for place in rng.integers(0, len(whole), 10):
        content = bytearray(whole)
        content[place] ^= 1 << rng.integers(8)
        path.write_bytes(content)
        try:
          self.assert_alike(policy_files.load_policy(self.folder)[0], wanted)
        except checkpoints.UnusableError:
          num_found += 1
      path.write_bytes(whole)
    self.assertGreater(num_found, 10)

  def _assert_refused(self, message, **options):
    with self.assertRaisesRegex(checkpoints.UnusableError, message) as caught:
      policy_files.load_policy(self.folder, **options)
    self.assertNotIn('\n', str(caught.exception))

  @parameterized.parameters(
    ({'environment.horizon': 10**9}, 'horizon=1000000000 is out of range'),
    ({'agent.hidden_size': 16}, 'variables cannot be read'),
    ({'agent.hidden_size': 10**6}, 'hidden_size=1000000 is out of range'),
    ({'agent.hidden_size': [8]}, "'agent.hidden_size' is a list; allowed: a"),
    ({'agent.hidden_size': True}, 'hidden_size=True is not possible; .*: int'),
    ({'agent.name': 'mine'}, "agent='mine' is unknown; .*author.* run_graph"),
    ({'environment.name': 'mine'}, "env='mine' is unknown; .* run_graph"),
    ({'preset': '\x1b[2J'}, 'allowed: printable text'),
    ({'agent.activation': '\x1b[2J'}, 'allowed: printable text'),
  )
  def test_a_description_that_is_not_possible(self, values, message):
    _export(self.folder, 'speaker_listener')
    path = self.folder / 'policy.json'
    facts = json.loads(path.read_text())
    facts['config'] |= values
    path.write_text(json.dumps(facts))
    self._assert_refused(message)

  def test_variables_of_another_network(self):
    _export(self.folder, 'speaker_listener')
    other = _export(self.folder.with_name('other'), 'simple_spread')
    shutil.rmtree(self.folder / 'variables')
    (other / 'variables').rename(self.folder / 'variables')
    self._assert_refused('does not fit the described network')

  def test_a_pipe_is_not_waited_for(self):
    _export(self.folder, 'speaker_listener')
    path = self.folder / 'variables' / 'variables.index'
    path.unlink()
    os.mkfifo(path)
    self._assert_refused('it is a pipe')

  @parameterized.parameters(
    ('saved_model.pb', lambda x: x[: len(x) // 2]),
    ('saved_model.pb', lambda x: b''),
    ('saved_model.pb', lambda x: x.replace(b'MatMul', b'MatMol')),
    (
      'variables/variables.data-00000-of-00001',
      lambda x: x[: len(x) // 2],
    ),
  )
  def test_a_graph_that_is_damaged(self, name, damage):
    path = _export(self.folder, 'speaker_listener') / name
    path.write_bytes(damage(path.read_bytes()))
    self._assert_refused('holds no exported policy', run_graph=True)


class ResultsTest(_Case):
  """Every policy under results/ can be used without its graph."""

  def setUp(self):
    super().setUp()
    if not _RESULTS.is_dir():
      self.skipTest('results/ is not here')
    sys.path.append(str(_EXAMPLES))
    importlib.import_module('mpe_spread')  # Registers tasks of some results.

  def test_they_load(self):
    paths = sorted(_RESULTS.glob('*/seed*/saved_model'))
    self.assertGreater(len(paths), 30)
    self.enter_context(_built_once())
    self.enter_context(_traced_once())
    for path in paths:
      with self.subTest(str(path)):
        policy_files.load_policy(path)

  @parameterized.parameters(
    'simple_spread_n4_onehop',  # Older names.
    'simple_spread_n8',
    'speaker_listener_n2',
    'ramp_use_n1',
  )
  def test_they_act_as_their_graphs(self, name):
    path = _RESULTS / name / 'seed0' / 'saved_model'
    policy, _ = policy_files.load_policy(path)
    graph, _ = policy_files.load_policy(path, run_graph=True)
    # Graphs of earlier versions add in another order.
    self.assert_alike(policy, graph, 1e-5)


if __name__ == '__main__':
  tf.test.main()
