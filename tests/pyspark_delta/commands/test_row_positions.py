"""Row numbers are split into files and bitmaps."""

from __future__ import annotations

import pyarrow as pa
from pyroaring import BitMap64

from pyspark_delta.commands.row_positions import ROW_BITS, bitmap, grouped


def test_rows_come_back_by_file_in_ascending_order():
    numbers = [(3 << ROW_BITS) | 7, 5, (3 << ROW_BITS) | 2, 0, (1 << ROW_BITS) | (2**33)]
    indexes = {
        ordinal: rows.to_pylist() for ordinal, rows in grouped(pa.chunked_array([numbers[:2], numbers[2:]]))
    }
    assert indexes == {0: [0, 5], 1: [2**33], 3: [2, 7]}


def test_no_numbers_are_no_files():
    assert list(grouped(pa.array([], pa.int64()))) == []
    assert list(grouped(pa.chunked_array([], pa.int64()))) == []


def test_a_bitmap_has_exactly_the_rows_of_a_slice():
    rows = pa.array([9, 1, 2**34, 5], pa.int64()).slice(1, 2)
    assert bitmap(rows) == BitMap64([1, 2**34])
