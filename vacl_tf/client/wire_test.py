# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Messages arrive as they were sent, or not at all."""

import io
import json
import struct

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.client import wire


def _sent(header, arrays=None):
  file = io.BytesIO()
  wire.write(file, header, arrays)
  return file.getvalue()


def _by_hand(text, body=b'', magic=b'vacl\0\0\0\1', num_text=None):
  """Returns a message, written as the docstring of `wire` says."""
  num_text = len(text) if num_text is None else num_text
  return struct.pack('<8sQQ', magic, num_text, len(body)) + text + body


def _about(*arrays, **header):
  return json.dumps({**header, 'arrays': arrays}).encode()


class WireTest(parameterized.TestCase):
  def test_messages_arrive_one_after_the_other(self):
    rng = np.random.default_rng(0)
    file, sent = io.BytesIO(), []
    for shape in ((), (0,), (3,), (2, 0), (2, 3), (4, 1, 2)):
      arrays = {
        np.dtype(code).name: rng.uniform(-9, 9, shape).astype(code)
        for code in ('?', 'i4', 'i8', 'u2', 'f4', 'f8', '>f4')
      }
      arrays['turned'] = rng.uniform(size=(3, 2)).T
      sent.append(({'shape': list(shape), 'none': None, 'ä': 'ß'}, arrays))
      wire.write(file, *sent[-1])
    file.seek(0)
    for header, arrays in sent:
      found, got = wire.read(file)
      self.assertEqual(found, header)
      self.assertEqual(list(got), list(arrays))
      for name, array in arrays.items():
        self.assertEqual(got[name].dtype, array.dtype)
        np.testing.assert_array_equal(got[name], array)
        self.assertTrue(got[name].flags.writeable)
    with self.assertRaises(wire.ClosedError):
      wire.read(file)

  def test_bytes_are_those_of_the_docstring(self):
    text, one = _about(['x', '<i4', [2]], a=1), struct.pack('<ii', 5, -6)
    header, arrays = wire.read(io.BytesIO(_by_hand(text, one)))
    self.assertEqual(header, {'a': 1})
    self.assertEqual(arrays['x'].tolist(), [5, -6])
    self.assertEqual(
      _sent({'a': 1}, {'x': np.array([5, -6], np.int32)}), _by_hand(text, one)
    )

  def test_a_part_of_a_message_is_none(self):
    whole = _sent({'a': 1}, {'x': np.arange(3)})
    for length in range(len(whole)):
      with self.assertRaises(wire.ClosedError):
        wire.read(io.BytesIO(whole[:length]))

  @parameterized.named_parameters(
    ('other_magic', _by_hand(_about(), magic=b'vacl\0\0\0\2')),
    ('vast', _by_hand(b'', num_text=1 << 60)),
    ('no_json', _by_hand(b'{')),
    ('no_text', _by_hand(b'\xff')),
    ('no_object', _by_hand(b'[]')),
    ('deep', _by_hand(b'[' * 100_000)),
    ('no_arrays', _by_hand(b'{}')),
    ('objects', _by_hand(_about(['x', '|O', [1]]), b'12345678')),
    ('texts', _by_hand(_about(['x', '<U1', [1]]), b'1234')),
    ('negative', _by_hand(_about(['x', '<i4', [-1]]), b'1234')),
    ('fraction', _by_hand(_about(['x', '<i4', [0.5]]), b'1234')),
    ('too_few_bytes', _by_hand(_about(['x', '<i4', [2]]), b'1234')),
    ('too_many_bytes', _by_hand(_about(['x', '<i4', [1]]), b'12345')),
    ('overflow', _by_hand(_about(['x', '<i4', [1 << 62, 4]]), b'1234')),
  )
  def test_garbled_messages_say_so(self, message):
    with self.assertRaises(wire.GarbledError):
      wire.read(io.BytesIO(message))

  def test_damage_is_garbled_or_cut_or_other_numbers(self):
    whole, rng = _sent({'a': 1}, {'x': np.arange(3)}), np.random.default_rng(0)
    for _ in range(2000):
      damaged = bytearray(whole)
      for place in rng.integers(len(whole), size=rng.integers(1, 4)):
        damaged[place] = rng.integers(256)
      try:
        wire.read(io.BytesIO(damaged))
      except (wire.ClosedError, wire.GarbledError):
        pass

  def test_what_is_too_large_is_not_sent(self):
    file = io.BytesIO()
    with self.assertRaisesRegex(
      ValueError, 'a message of .* bytes is too large'
    ):
      wire.write(file, {'a': 'x' * (1 << 20)})
    self.assertEmpty(file.getvalue())


if __name__ == '__main__':
  absltest.main()
