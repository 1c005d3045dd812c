# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What grows is seen; what is flat, with noise, is not."""

from absl.testing import absltest

from vacl_tf.testing.stress import soak


def _samples(megabytes=0.0, threads=0.0, handles=0.0):
  """Returns samples of 3000 iterations in which these grow, in 1000 each."""
  return [
    soak.Sample(
      iteration,
      500.0 + megabytes * iteration / 1000 + 5.0 * (index % 2),
      int(20 + threads * iteration / 1000),
      int(30 + handles * iteration / 1000),
    )
    for index, iteration in enumerate(range(0, 3000, 5))
  ]


def _stamps(slower=1.0):
  """Returns stamps of iterations that take longer and longer."""
  stamps, now = [], 0.0
  for index in range(3000):
    now += 1.0 + (slower - 1.0) * index / 3000
    stamps.append(now)
  return stamps


class JudgeTest(absltest.TestCase):
  def test_flat(self):
    self.assertEqual(soak.judge(_samples(), _stamps()), [])
    self.assertEqual(soak.judge(_samples(megabytes=0.8), _stamps(1.1)), [])

  def test_what_grows(self):
    for samples, stamps, message in (
      (_samples(megabytes=1.5), _stamps(), 'memory grows by 1.5'),
      (_samples(threads=2.0), _stamps(), 'threads grow'),
      (_samples(handles=2.0), _stamps(), 'handles grow'),
      (_samples(), _stamps(2.0), 'times as long'),
      (_samples()[:42], _stamps(), 'only 2 looks'),
    ):
      (found,) = soak.judge(samples, stamps)
      self.assertIn(message, found)

  def test_slope_does_not_mind_a_peak(self):
    samples = _samples(megabytes=0.5)
    samples[300] = samples[300]._replace(megabytes=5000.0)
    self.assertAlmostEqual(soak.slope(samples), 0.5, delta=0.1)


if __name__ == '__main__':
  absltest.main()
