# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported policies, used without vacl_tf."""

import errno
import functools
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import agents
from vacl_tf import config
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.testing import fakes
from vacl_tf.training import checkpoints
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import files
from vacl_tf.training import loop
from vacl_tf.training import players
from vacl_tf.training import policy_files
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_USE = """
import sys
import numpy as np
import tensorflow as tf
policy = tf.saved_model.load(sys.argv[1])
rng = np.random.default_rng(0)
for batch, n in ((3, 4), (5, 8)):
  seen = dict(
    own=rng.normal(size=[batch, n, 4]),
    agents=rng.normal(size=[batch, n, n - 1, 2]),
    landmarks=rng.normal(size=[batch, n, n, 3]),
  )
  seen = {k: tf.constant(v, tf.float32) for k, v in seen.items()}
  found = policy.act(seed=tf.constant([0, 1]), greedy=tf.constant(True), **seen)
  signature = policy.signatures['act'](
    seed=tf.constant([0, 1]), greedy=tf.constant(True), **seen
  )
  assert found['action'].shape == (batch, n)
  assert found['logits'].shape == (batch, n, 5)
  assert (signature['action'].numpy() == found['action'].numpy()).all()
  assert (found['action'].numpy() == found['logits'].numpy().argmax(-1)).all()
assert policy.initial_state(tf.constant(3), tf.constant(4)) == {}
"""
# The same program goes on.
_REMEMBER = """
policy = tf.saved_model.load(sys.argv[2])

def play(given, is_greedy):
  steps, batch, n = given['own'].shape[:3]
  state = policy.initial_state(tf.constant(batch), tf.constant(n))
  assert list(state) == ['memory'] and not state['memory'].numpy().any()
  for t in range(steps):
    found = policy.act(
      seed=tf.constant([t, 1]),
      greedy=tf.constant(is_greedy),
      **{k: tf.constant(given[k][t]) for k in ('own', 'agents', 'boxes')},
      **state,
    )
    state = {'memory': found['memory']}
    for key in ('logits', 'memory'):
      np.testing.assert_allclose(found[key], given[key][t], 1e-4, 1e-4)
    action, mode = found['action'].numpy(), given['mode'][t]
    assert action.shape == mode.shape and action.dtype == np.int32
    assert (action == mode).all() == is_greedy
    assert (action >= 0).all() and (action < [11, 11, 11, 2, 2]).all()

for path in sys.argv[3:]:
  for is_greedy in (True, False):
    play(np.load(path), is_greedy)
assert not any(name.startswith('vacl_tf') for name in sys.modules)
print('used')
"""


class _Exported(NamedTuple):
  """An agent and its policy, which no test changes."""

  cfg: config.Config
  env: base.World
  agent: agent_base.Agent
  folder: tempfile.TemporaryDirectory  # Its `policy` is to be copied.


@functools.cache
def _exported(task: str, sharpness: float) -> _Exported:
  """Exports a policy that was not trained, with larger logits."""
  cfg = presets.make(env=task, seed=1)
  env = environments.load(task)
  agent = agents.make(cfg, env.roles)
  logits = agent.policies[0].logits
  logits.w.assign(sharpness * logits.w)
  folder = tempfile.TemporaryDirectory()
  export.export(agent, env, cfg, pathlib.Path(folder.name) / 'policy')
  return _Exported(cfg, env, agent, folder)


class _Case(parameterized.TestCase, tf.test.TestCase):
  exported = 'simple_spread', 1.0

  def setUp(self):
    super().setUp()
    self.cfg, self.env, self.agent, folder = _exported(*self.exported)
    self.saved = pathlib.Path(folder.name) / 'policy'
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.directory = self.folder / 'policy'
    shutil.copytree(self.saved, self.directory)


class ExportTest(_Case):
  def test_roles_never_share_what_they_draw(self):
    # Not in consecutive steps of consecutive episodes either.
    roles = tuple(
      types.Role(name, 50, types.discrete(5), 2, {}) for name in ('one', 'two')
    )
    policy = export.ExportedPolicy(agents.make(self.cfg, roles), roles)
    seen = {f'{name}_own': tf.zeros([1, 50, 2]) for name in ('one', 'two')}
    now, later = (
      policy.act(seed=tf.constant(seed), greedy=tf.constant(False), **seen)
      for seed in ([3, 7], [4, 8])
    )
    drawn = [now['one_action'], now['two_action'], later['one_action']]
    for one, other in itertools.combinations(drawn, 2):
      self.assertNotAllEqual(one, other)

  def test_roles_never_share_an_argument(self):
    world = fakes.LineWorld()
    world.roles = tuple(
      types.Role(name, 1, types.discrete(3), 2, {kind: 2})
      for name, kind in (('seeker', 'team_boxes'), ('seeker_team', 'boxes'))
    )
    self.assertLen(export.specs(world.roles), 3)  # And not 4.
    with self.assertRaisesRegex(
      base.WorldError, r'^roles\[1\] \(seeker_team\): .* seeker_team_boxes, wh'
    ):
      checked_simulator.check_world(world)
    world.roles = (world.roles[0], world.roles[1]._replace(name='team'))
    with self.assertRaisesRegex(base.WorldError, '^observation'):
      checked_simulator.check_world(world)  # The names are all right.

  def test_it_says_what_the_network_says(self):
    policy, facts = policy_files.load_policy(self.directory)
    self.assertEqual(facts['env'], 'simple_spread')
    self.assertEqual(facts['num_task_dims'], 16)
    self.assertEqual(facts['roles'], export.described(self.env.roles))
    phi = self.env.task_space.sample_uniform(6, randomness.root(0))
    observations = self.env.observe(self.env.place(phi, randomness.root(0)))
    named = export.flat(self.env.roles, observations)
    found = policy.act(
      seed=randomness.root(3), greedy=tf.constant(False), **named
    )
    [distribution] = self.agent.distributions(observations)
    expected = distribution.logits
    self.assertAllClose(found['logits'], expected, 1e-5, 1e-6)
    self.assertBetween(int(tf.reduce_max(found['action'])), 1, 4)

  def test_a_folder_without_a_policy_is_refused(self):
    (self.directory / 'policy.json').unlink()
    with self.assertRaisesRegex(
      checkpoints.UnusableError, 'saved_model folder'
    ):
      policy_files.load_policy(self.directory)

  @parameterized.parameters('br[ab]', 'back\\slash')
  def test_a_path_that_tensorflow_cannot_read_is_refused(self, name):
    directory = self.folder / name
    self.directory.rename(directory)
    for run_graph in (False, True):
      with self.assertRaisesRegex(
        checkpoints.UnusableError,
        r'contains [\[\\], which .* rename the folder',
      ):
        policy_files.load_policy(directory, run_graph)

  def _facts(self) -> dict[str, Any]:
    return json.loads((self.directory / 'policy.json').read_text())

  def _export(self, iteration: int) -> None:
    progress = {'iteration': iteration, 'env_steps': 100 * iteration}
    export.export(self.agent, self.env, self.cfg, self.directory, progress)

  def _export_by_copying(self, iteration: int) -> None:
    """Exports; TensorFlow's part, which takes long, is copied."""

    def save(policy: Any, path: str, **_: Any) -> None:
      del policy
      shutil.copytree(
        self.saved, path, ignore=shutil.ignore_patterns('policy.json')
      )

    with (
      mock.patch.object(export, 'ExportedPolicy'),
      mock.patch.object(tf.saved_model, 'save', save),
    ):
      self._export(iteration)

  def test_numbers_of_a_user_may_be_those_of_numpy(self):
    (role,) = self.env.roles
    sizes = {kind: np.int64(x) for kind, x in role.entity_sizes.items()}
    role = role._replace(own_size=np.int32(4), entity_sizes=sizes)
    space = self.env.task_space
    with (
      mock.patch.object(self.env, 'roles', (role,)),
      mock.patch.object(self.env, 'horizon', np.int64(9)),
      mock.patch.object(space, 'num_dims', np.prod([8, 2])),
    ):
      self._export(1)
    facts = self._facts()
    self.assertEqual((facts['horizon'], facts['num_task_dims']), (9, 16))
    self.assertEqual(facts['roles'][0]['own_size'], 4)

  def test_it_says_how_far_it_was_trained(self):
    self._export(7)
    facts = self._facts()
    self.assertEqual((facts['iteration'], facts['env_steps']), (7, 700))

  @parameterized.parameters('fsync', 'rename')
  def test_the_old_one_stays_until_the_new_one_is_whole(self, deed):
    self._export_by_copying(1)
    full = OSError(errno.ENOSPC, 'No space left on device')
    with mock.patch.object(os, deed, side_effect=full):
      with self.assertRaisesRegex(files.WriteError, 'No space left'):
        self._export_by_copying(2)
    self.assertEqual(self._facts()['iteration'], 1)
    self._export_by_copying(3)
    self.assertEqual(self._facts()['iteration'], 3)
    self.assertEqual(os.listdir(self.directory.parent), ['policy'])

  @parameterized.parameters('.new', '.old')
  def test_one_whose_replacement_was_cut_short_comes_back(self, ending):
    beside = self.directory.with_name(f'policy{ending}')
    self.directory.rename(beside)
    export.recover(self.directory)
    self.assertIn('env', self._facts())
    # One that is not whole is of no use.
    (beside / 'variables').mkdir(parents=True)
    export.recover(self.directory)
    self.assertEqual(os.listdir(self.directory.parent), ['policy'])


class ExportWithMemoryTest(_Case):
  """Exports a policy of Lock-and-Return."""

  # As it is initialised, the policy is all but uniform everywhere.
  exported = 'lock_and_return', 100.0

  def test_it_says_what_it_is_for(self):
    _, facts = policy_files.load_policy(self.directory)
    self.assertEqual(facts['env'], 'lock_and_return')
    self.assertEqual((facts['num_agents'], facts['num_boxes']), (2, 2))
    self.assertEqual(facts['roles'], export.described(self.env.roles))
    self.assertEqual(facts['roles'][0]['num_actions'], [11, 11, 11, 2, 2])

  def test_it_works_without_vacl_tf_for_any_numbers(self):
    # As does one without a memory; TensorFlow takes long to start.
    folder = _exported(*_Case.exported).folder
    other = pathlib.Path(folder.name) / 'policy'
    paths = [str(self.folder / name) for name in ('few.npz', 'many.npz')]
    self._write(paths[0], batch=3, n=2, boxes=2)
    self._write(paths[1], batch=2, n=4, boxes=1)
    program, policies = _USE + _REMEMBER, [str(other), str(self.directory)]
    result = subprocess.run(
      [sys.executable, '-c', program, *policies, *paths],
      capture_output=True,
      text=True,
      cwd=self.folder,
      check=False,
    )
    self.assertEqual(result.stdout.strip(), 'used', result.stderr)

  def _write(self, path, batch, n, boxes):
    """Writes what agents see in three steps, and what the network says."""
    rng, [role] = np.random.default_rng(0), self.env.roles
    shapes = {
      'own': [role.own_size],
      'agents': [n - 1, role.entity_sizes['agents']],
      'boxes': [boxes, role.entity_sizes['boxes']],
    }
    given = {
      kind: rng.normal(size=[3, batch, n, *shape]).astype(np.float32)
      for kind, shape in shapes.items()
    }
    memory, expected = self.agent.initial_memory(batch, (n,)), []
    for t in range(3):
      seen = {kind: tf.constant(x[t]) for kind, x in given.items()}
      observation = types.Observation(seen.pop('own'), seen)
      [distribution], memory = self.agent.act((observation,), memory)
      expected.append((distribution.logits, memory[0], distribution.mode()))
    columns = map(np.stack, zip(*expected, strict=True))
    said = dict(zip(('logits', 'memory', 'mode'), columns, strict=True))
    np.savez(path, **given, **said)


class ExportWithMasksTest(parameterized.TestCase, tf.test.TestCase):
  """Policies that were trained where some slots of entities are empty."""

  def _train(self, agent_config):
    """Returns the world, the agent, and its policy after export."""
    cfg = config.Config(
      agent=agent_config,
      curriculum=config.CurriculumConfig(name='uniform'),
      ppo=config.PpoConfig(learning_rate=0.05, num_minibatches=2),
      training=config.TrainingConfig(num_tasks=10),
    )
    env = fakes.MaskedWorld()
    run = run_lib.Run(cfg, [env])
    programs = programs_lib.Programs(run, [env], cfg, use_xla=False)
    for _ in range(2):
      loop.iterate(run, programs, cfg)
    directory = pathlib.Path(self.create_tempdir().full_path) / 'policy'
    export.export(run.agent, env, cfg, directory)
    return env, run.agent, policy_files.load_policy(directory, run_graph=True)

  @parameterized.parameters(
    config.AttentionConfig(hidden_size=8),
    config.RecurrentConfig(hidden_size=8, segment_length=4),
  )
  def test_it_plays_as_it_did_before(self, agent_config):
    env, agent, (policy, facts) = self._train(agent_config)
    self.assertEqual(facts['roles'][0]['mask_kinds'], ['landmarks'])
    seed = randomness.root(5)
    expected = evaluation.evaluate(
      rollout.greedy(agent),
      env,
      64,
      seed,
      initial_memory=lambda num: agent.initial_memory(num, (2,)),
    )
    player = players.ExportedPlayer(policy, env, is_greedy=True)
    self.assertAllEqual(player.progress(64, seed), expected)
    self.assertGreater(np.ptp(expected), 0.0)

    self._check_masks(env, policy, agent.initial_memory(20, (2,)))

  def _check_masks(self, env, policy, memory):
    """Checks that what is masked, and nothing else, is of no account."""
    _, inputs = policy.act.structured_input_signature
    mask = inputs['landmarks_mask']
    self.assertEqual((mask.dtype, mask.shape.rank), (tf.bool, 3))
    phi = env.task_space.sample_uniform(20, randomness.root(0))
    seen = export.flat(env.roles, env.observe(env.place(phi, None)))
    if memory:
      seen['memory'] = memory[0]

    def logits(**changed):
      given = {'seed': randomness.root(3), 'greedy': tf.constant(True)}
      return policy.act(**given, **{**seen, **changed})['logits'].numpy()

    is_there = seen['landmarks_mask']
    is_whole = tf.reduce_all(is_there, -1)
    self.assertNotAllEqual(is_whole, tf.zeros_like(is_whole))
    unmasked = logits(landmarks_mask=tf.ones_like(is_there))
    is_same = np.all(np.isclose(unmasked, logits()), -1)
    self.assertAllEqual(is_same, is_whole)
    other = tf.where(is_there[..., None], seen['landmarks'], 3.0)
    self.assertNotAllEqual(other, seen['landmarks'])
    self.assertAllEqual(logits(landmarks=other), logits())


if __name__ == '__main__':
  tf.test.main()
