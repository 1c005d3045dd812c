# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The processes that train a run together, from TF_CONFIG or Slurm."""

import dataclasses
import json
import os

import tensorflow as tf

from vacl_tf.launch import command_line

VARIABLE = 'TF_CONFIG'  # Environment variable that TensorFlow reads.
_TASKS = 'SLURM_STEP_NUM_TASKS'
_JOB = 'SLURM_JOB_ID'
_NODE = 'SLURMD_NODENAME'
_LOCAL = 'SLURM_LOCALID'
_FIRST_PORT = 12000
_PORTS_OF_JOB = 64  # Each job has its own: two may share a machine.
_NUM_JOBS = 256


@dataclasses.dataclass(frozen=True)
class Cluster:
  """The processes of a run.

  Attributes:
    source: where the list of processes comes from, for messages.
    workers: addresses of the processes, like host:port.
    index: index of this process in `workers`.
  """

  source: str
  workers: tuple[str, ...]
  index: int

  @property
  def local_index(self) -> int:
    """Number of processes before this one on the same machine."""
    hosts = [x.rpartition(':')[0] for x in self.workers]
    return hosts[: self.index].count(hosts[self.index])

  @property
  def text(self) -> str:
    """This object as a value of TF_CONFIG."""
    task = {'type': 'worker', 'index': self.index}
    cluster = {'worker': list(self.workers)}
    return json.dumps({'cluster': cluster, 'task': task})


def named() -> Cluster | None:
  """Returns the processes that the environment names; None if it names none.

  TF_CONFIG takes precedence over Slurm. With Slurm, the processes are the tasks
  of one `srun`.

  Raises:
    UsageError: the environment does not name a valid list of processes.
  """
  if VARIABLE in os.environ:
    return _of_tf_config(os.environ[VARIABLE])
  if os.environ.get(_TASKS, '1') != '1':
    return _of_slurm()
  return None


def _of_tf_config(text: str) -> Cluster:
  try:
    content = json.loads(text)
    workers, task = content['cluster']['worker'], content['task']
    # The index may be text, since shells and templates quote it. 0.7 and 1e999
    # are refused.
    index = int(str(task['index']))
    is_valid = (
      isinstance(workers, list)
      and all(isinstance(x, str) and ':' in x for x in workers)
      and len(set(workers)) == len(workers)
      and task['type'] == 'worker'
      and index in range(len(workers))
      and set(content['cluster']) == {'worker'}
    )
  except (ValueError, KeyError, TypeError):
    is_valid = False
  if not is_valid:
    raise command_line.UsageError(
      f'{VARIABLE} does not describe a cluster of workers; give JSON like '
      '{"cluster": {"worker": ["host0:port", "host1:port"]}, "task": {"type": '
      '"worker", "index": 0}}, or --num_replicas=1 to train alone'
    )
  return Cluster(VARIABLE, tuple(workers), index)


def _of_slurm() -> Cluster:
  try:
    job = int(os.environ[_JOB])
    first = _FIRST_PORT + _PORTS_OF_JOB * (job % _NUM_JOBS)
    # These numbers keep the resolver from looking for GPUs: `devices` chooses
    # the GPU of a process, as on any other machine.
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
      port_base=first,
      gpus_per_node=_PORTS_OF_JOB,
      gpus_per_task=1,
      auto_set_gpu=False,
    )
    workers = tuple(resolver.cluster_spec().as_dict()['worker'])
    # The rank may be another index: the resolver sorts the machines by name,
    # Slurm does not.
    me = f'{os.environ[_NODE]}:{first + int(os.environ[_LOCAL])}'
    return Cluster('Slurm', workers, workers.index(me))
  except (KeyError, ValueError, RuntimeError) as error:
    reason = f'{error} is missing' if isinstance(error, KeyError) else error
    raise command_line.UsageError(
      'the tasks of this Slurm job step cannot be determined '
      f'({reason}); start all of them with one srun, with at most '
      f'{_PORTS_OF_JOB} tasks per node, or give --num_replicas=1 to train alone'
    ) from error
