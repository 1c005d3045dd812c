# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whatever a file holds, it is read within bounds or refused in one line."""

import io
import os
import pathlib
import tracemalloc
import zipfile

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import reading

_MB = 1 << 20


def _npy(shape, content, dtype='<f8'):
  """Returns an .npy file whose header says a shape, whatever it holds."""
  file = io.BytesIO()
  header = {'descr': dtype, 'fortran_order': False, 'shape': shape}
  np.lib.format.write_array_header_1_0(file, header)
  return file.getvalue() + content


class _Case(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path) / 'file'

  def assert_refused(self, read, message):
    with self.assertRaisesRegex(reading.UnreadableError, message) as caught:
      read(self.path)
    text = str(caught.exception)
    self.assertStartsWith(text, f'{self.path} cannot be read (')
    self.assertTrue(text.isprintable(), text)
    self.assertLess(len(text), 1000)


class FileTest(_Case):
  @parameterized.parameters(
    reading.read_json, reading.read_table, reading.read_arrays
  )
  def test_what_is_no_file(self, read):
    with self.assertRaises(FileNotFoundError):
      read(self.path)
    self.path.mkdir()
    self.assert_refused(read, 'it is a folder, not a file')
    self.path.rmdir()
    os.mkfifo(self.path)  # Whoever opens it waits for ever.
    self.assert_refused(read, 'it is a pipe, not a file')
    self.path.unlink()
    self.path.symlink_to('/dev/zero')
    self.assert_refused(read, 'it is a device, not a file')
    self.path.unlink()
    self.path.symlink_to(self.path)
    self.assert_refused(read, 'symbolic links')

  @parameterized.parameters(
    reading.read_json, reading.read_table, reading.read_arrays
  )
  def test_a_file_too_large_is_not_opened(self, read):
    with self.path.open('wb') as file:
      file.truncate(1 << 40)  # Takes no space.
    self.assert_refused(read, '1,099,511,627,776 bytes; allowed: ')

  def test_what_there_is(self):
    self.assertEqual(reading.kind(self.path), '')
    self.path.touch()
    self.assertEqual(reading.kind(self.path), reading.FILE)
    self.assertEqual(reading.kind(self.path / 'below'), '')
    self.assertEqual(reading.kind(self.path.parent), reading.FOLDER)
    self.path = self.path.with_name('x' * 300)
    self.assert_refused(reading.kind, 'File name too long')

  def test_a_folder_of_files(self):
    self.path.mkdir()
    (self.path / 'inner').mkdir()
    (self.path / 'file').touch()
    reading.check_folder(self.path)
    os.mkfifo(self.path / 'pipe')
    with self.assertRaisesRegex(reading.UnreadableError, 'pipe cannot be read'):
      reading.check_folder(self.path)

  def test_what_is_told_harms_no_terminal(self):
    self.assertEqual(reading.one_line('a\n b\x1b[2J\ud800'), 'a b?[2J?')
    self.assertLess(len(reading.one_line('x' * 10**6)), 400)

  def test_the_end_of_what_was_printed(self):
    printed = io.BytesIO(b'first\n' + 10**6 * b'.' + b'\n \n  last \xff\n\n')
    lines = reading.last_lines(printed)
    self.assertEqual(lines[1:], ['last \ufffd'])
    self.assertLess(len(lines[0]), 10**5)
    self.assertEmpty(reading.last_lines(io.BytesIO()))


class JsonTest(_Case):
  @parameterized.parameters(
    (b'', 'it is not JSON'),
    (b'{', 'it is not JSON'),
    (b'[1]', 'it is JSON but not an object'),
    (b'null', 'it is JSON but not an object'),
    (b'{"a": NaN}', 'NaN is not a number'),
    (b'{"a": -Infinity}', '-Infinity is not a number'),
    (b'{"a": "\xff"}', 'it is not UTF-8 at byte 8'),
    (b'{"a": ' + b'9' * 5000 + b'}', 'it is not JSON'),
    (b'{"a": ' + b'[' * 30 + b']' * 30 + b'}', 'more than 20 levels deep'),
    (b'[' * 500_000, 'it is not JSON'),
    (b'{"a":' * 100_000, 'it is not JSON'),
  )
  def test_what_is_none(self, content, message):
    self.path.write_bytes(content)
    self.assert_refused(reading.read_json, message)

  def test_an_object(self):
    self.path.write_text('{"a": {"b": [1, 2.5, "c"]}}')
    found = reading.read_json(self.path)
    self.assertEqual(found, {'a': {'b': [1, 2.5, 'c']}})


class TableTest(_Case):
  @parameterized.parameters(
    (b'a,b\n1,2\n3,many\n', "line 3: .*'many'"),
    (b'a,b\n1,2\n3\n4,5\n', 'line 3: 1 cells for 2 columns'),
    (b'a,b\n1,2,3\n', 'line 2: 3 cells for 2 columns'),
    (b'a,a\n1,2\n', 'line 1: two columns have the same name'),
    (b'a\n1e999\n', 'is not a finite number'),
    (b'a\n-inf\n', 'is not a finite number'),
    (b'a\n' + b'1' * 150_000 + b'\n', 'field larger than field limit'),
    (b'a\n"1\n', 'unexpected end of data'),
    (b'a\n\x001\n', 'line 2'),
    (b'\xff\xfe\n', 'it is not UTF-8 at byte 1'),
  )
  def test_what_is_none(self, content, message):
    self.path.write_bytes(content)
    self.assert_refused(reading.read_table, message)

  def test_columns(self):
    self.path.write_bytes(b'a,b\r\n1,\r\n2,0.5\r\n')
    found = reading.read_table(self.path)
    np.testing.assert_array_equal(found['a'], [1.0, 2.0])
    np.testing.assert_array_equal(found['b'], [np.nan, 0.5])

  @parameterized.parameters('3', '3,', '3,0.2', '"3,')
  def test_half_a_line_at_the_end_does_not_count(self, half):
    self.path.write_text('a,b\n1,2\n' + half)
    self.assertLen(reading.read_table(self.path)['a'], 1)

  def test_nothing_at_all(self):
    self.path.touch()
    self.assertEqual(reading.read_table(self.path), {})


class ArraysTest(_Case):
  def _pack(self, content, compression=zipfile.ZIP_DEFLATED, number=1):
    with zipfile.ZipFile(self.path, 'w', compression) as archive:
      for index in range(number):
        archive.writestr(f'x{index}.npy', content)

  def test_numbers(self):
    arrays = {'1/a': np.eye(3), '2/b': np.arange(4, dtype=np.int32)}
    for save in (np.savez, np.savez_compressed):
      with self.path.open('wb') as file:
        save(file, **arrays)
      found = reading.read_arrays(self.path)
      self.assertEqual(found.keys(), arrays.keys())
      for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        self.assertEqual(found[name].dtype, array.dtype)

  def test_every_cut_and_many_flips_are_found_or_harmless(self):
    arrays = {'a': np.arange(100.0), 'b': np.eye(5)}
    with self.path.open('wb') as file:
      np.savez_compressed(file, **arrays)
    whole = self.path.read_bytes()
    rng, num_found = np.random.default_rng(0), 0
    for end in range(0, len(whole), 7):
      self.path.write_bytes(whole[:end])
      self.assert_refused(reading.read_arrays, '')
    for place in rng.integers(0, len(whole), 300):
      content = bytearray(whole)
      content[place] ^= 1 << rng.integers(8)
      self.path.write_bytes(content)
      try:
        found = reading.read_arrays(self.path)
      except reading.UnreadableError:
        num_found += 1
        continue
      # An entry of the directory can be lost; that one is missing is told by
      # who wants it.
      for name, array in found.items():
        np.testing.assert_array_equal(array, arrays[name])
    self.assertGreater(num_found, 100)

  @parameterized.parameters(
    (b'', 'cannot be read'),
    (b'nonsense', 'cannot be read'),
    (_npy((10**12,), b''), 'does not have 8,000,000,000,000 bytes'),
    (_npy((2**62, 2**62), b''), 'does not have .* bytes, as its'),
    (_npy((3,), bytes(8)), 'does not have 24 bytes'),
    (_npy((), bytes(8), '|O'), 'does not hold numbers'),
    (_npy((1,), bytes(8), '<M8[s]'), 'does not hold numbers'),
    (_npy((1,), bytes(8), '|S8'), 'does not hold numbers'),
    (b'\x93NUMPY\x09\x00' + bytes(80), 'has an unsupported format'),
  )
  def test_what_is_no_array(self, content, message):
    self._pack(content)
    self.assert_refused(reading.read_arrays, message)

  @parameterized.parameters(zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
  def test_what_expands_without_a_bound(self, compression):
    self._pack(_npy((1,), bytes(8)), compression)
    self.assert_refused(reading.read_arrays, 'has an unsupported compression')

  def test_too_many(self):
    self._pack(_npy((1,), bytes(8)), number=1001)
    self.assert_refused(reading.read_arrays, '1001 arrays; allowed: 1000')

  def test_what_expands_to_gigabytes_takes_no_memory(self):
    with zipfile.ZipFile(self.path, 'w', zipfile.ZIP_DEFLATED) as archive:
      with archive.open('x.npy', 'w', force_zip64=True) as file:
        file.write(_npy((100 * _MB // 8,), b''))
        for _ in range(100):
          file.write(bytes(_MB))
    self.assertLess(self.path.stat().st_size, _MB)
    # Also if the list of contents says less than there is.
    honest = self.path.read_bytes()
    size = (100 * _MB + 128).to_bytes(4, 'little')
    self.assertIn(size, honest)
    for content in (honest, honest.replace(size, (1000).to_bytes(4, 'little'))):
      self.path.write_bytes(content)
      tracemalloc.start()
      self.assert_refused(reading.read_arrays, '')
      _, most = tracemalloc.get_traced_memory()
      tracemalloc.stop()
      self.assertLess(most, 10 * _MB)


if __name__ == '__main__':
  absltest.main()
