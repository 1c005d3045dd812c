# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""TF_CONFIG and Slurm name the processes of a run; others are refused."""

import json
import os
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import cluster
from vacl_tf.launch import command_line


def _slurm(
  nodes: str, tasks_per_node: str, node: str, local: int, **more: str
) -> dict[str, str]:
  """Returns what srun sets for one of its tasks."""
  counts = {'2': 2, '2(x2)': 4, '1(x11)': 11, '2,1': 3}
  return {
    'SLURM_JOB_ID': '7',
    'SLURM_PROCID': '0',
    'SLURM_STEP_NUM_TASKS': str(counts[tasks_per_node]),
    'SLURM_STEP_NODELIST': nodes,
    'SLURM_STEP_TASKS_PER_NODE': tasks_per_node,
    'SLURMD_NODENAME': node,
    'SLURM_LOCALID': str(local),
  } | more


def _named(values: dict[str, str]) -> cluster.Cluster | None:
  with mock.patch.dict(os.environ, values, clear=True):
    return cluster.named()


class ClusterTest(parameterized.TestCase):
  def test_a_process_alone(self):
    self.assertIsNone(_named({}))
    self.assertIsNone(_named({'SLURM_JOB_ID': '7', 'SLURM_NTASKS': '4'}))
    alone = {'SLURM_STEP_NUM_TASKS': '1', 'SLURM_PROCID': '0'}
    self.assertIsNone(_named(alone))

  def test_tf_config_is_read_as_it_is_written(self):
    workers = ('a:1', 'b:1', 'a:2', 'a:3')
    for index, local_index in enumerate((0, 0, 1, 2)):
      written = cluster.Cluster('TF_CONFIG', workers, index)
      self.assertEqual(_named({'TF_CONFIG': written.text}), written)
      self.assertEqual(written.local_index, local_index)

  def test_the_index_may_be_quoted(self):
    written = cluster.Cluster('TF_CONFIG', ('a:1', 'b:1'), 1)
    text = written.text.replace('"index": 1', '"index": "1"')
    self.assertNotEqual(text, written.text)
    self.assertEqual(_named({'TF_CONFIG': text}), written)

  def test_tf_config_goes_before_slurm(self):
    text = cluster.Cluster('', ('a:1', 'b:1'), 1).text
    found = _named({'TF_CONFIG': text} | _slurm('n[1-2]', '2(x2)', 'n1', 0))
    self.assertEqual(found.workers, ('a:1', 'b:1'))

  @parameterized.parameters(
    ('n1', '2', [('n1', 2)]),
    ('n[1-2]', '2(x2)', [('n1', 2), ('n2', 2)]),
    ('n[2,10]', '2,1', [('n2', 2), ('n10', 1)]),
    ('n[1-11]', '1(x11)', [(f'n{i}', 1) for i in range(1, 12)]),
  )
  def test_each_slurm_task_has_an_address_of_its_own(self, nodes, tasks, where):
    found = [
      _named(_slurm(nodes, tasks, node, local))
      for node, count in where
      for local in range(count)
    ]
    self.assertLen({x.workers for x in found}, 1)
    self.assertCountEqual([x.index for x in found], range(len(found)))
    self.assertLen(set(found[0].workers), len(found))
    mine = [x.workers[x.index].rpartition(':')[0] for x in found]
    self.assertEqual(
      mine, [node for node, count in where for _ in range(count)]
    )
    locals_ = [local for _, count in where for local in range(count)]
    self.assertEqual([x.local_index for x in found], locals_)

  def test_jobs_on_one_machine_have_other_ports(self):
    ports = set()
    for job in ('7', '8'):
      values = _slurm('n1', '2', 'n1', 0, SLURM_JOB_ID=job)
      ports.update(_named(values).workers)
    self.assertLen(ports, 4)

  @parameterized.parameters(
    {'SLURM_JOB_ID': 'x'},
    {'SLURM_LOCALID': '9'},
    {'SLURMD_NODENAME': 'elsewhere'},
    {'SLURM_STEP_NODELIST': 'n[1'},
    {'SLURM_STEP_TASKS_PER_NODE': 'two'},
    {'SLURM_STEP_NUM_TASKS': '3'},
    {'SLURM_STEP_NUM_TASKS': 'x'},
  )
  def test_a_job_step_that_cannot_be_is_refused(self, **wrong):
    message = 'job step cannot be determined .* one srun'
    with self.assertRaisesRegex(command_line.UsageError, message):
      _named(_slurm('n1', '2', 'n1', 0) | wrong)

  @parameterized.parameters(
    'SLURM_JOB_ID', 'SLURM_PROCID', 'SLURM_LOCALID', 'SLURMD_NODENAME'
  )
  def test_what_is_missing_is_named(self, name):
    values = _slurm('n1', '2', 'n1', 0)
    del values[name]
    with self.assertRaisesRegex(command_line.UsageError, name):
      _named(values)

  @parameterized.parameters(
    'x',
    '[]',
    '{"cluster": {}}',
    '{"cluster": {"worker": ["here"]}, "task": {"type": "worker", "index": 0}}',
    '{"cluster": {"worker": ["h:1"]}, "task": {"type": "worker", "index": 1}}',
    '{"cluster": {"worker": ["h:1"]}, "task": {"type": "ps", "index": 0}}',
    *(
      '{"cluster": {"worker": ["h:1", "h:2"]}, '
      f'"task": {{"type": "worker", "index": {index}}}}}'
      for index in ('1e999', '0.7', '0.0', 'true', 'null')
    ),
    json.dumps(
      {
        'cluster': {'worker': ['h:1', 'h:1']},
        'task': {'type': 'worker', 'index': 0},
      }
    ),
  )
  def test_a_tf_config_that_is_none_is_refused(self, text):
    message = 'TF_CONFIG does not describe a cluster of workers'
    with self.assertRaisesRegex(command_line.UsageError, message):
      _named({'TF_CONFIG': text})


if __name__ == '__main__':
  absltest.main()
