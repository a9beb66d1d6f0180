"""Deletion vectors are decoded from text, bitmap and file; each kind of damage is an error."""

from __future__ import annotations

import random
import struct
from dataclasses import replace

import pytest

from delta_models.log import deletion_vectors as dv
from delta_models.log.errors import CorruptFile, MissingFile, WrongCardinality


def test_z85_reads_the_example_of_its_specification():
    assert dv.z85_decode("HelloWorld") == bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])
    assert dv.z85_encode(dv.z85_decode("HelloWorld")) == "HelloWorld"


def test_z85_fills_the_last_block_with_zeros():
    assert dv.z85_decode(dv.z85_encode(b"abcde")) == b"abcde\0\0\0"


@pytest.mark.parametrize("text", ("Hell", "Hell ", "#####"))
def test_what_is_no_z85_is_named(text):
    with pytest.raises(CorruptFile):
        dv.z85_decode(text)


def test_the_file_of_a_relative_vector_is_the_one_of_the_protocols_example(tmp_path):
    vector = dv.DeletionVector("u", "ab^-aqEH.-t@S}K{vb[*k^", 40, 6, 4)
    assert vector.unique_id == "uab^-aqEH.-t@S}K{vb[*k^@4"
    name = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    assert vector.file(tmp_path) == tmp_path / "ab" / name


def test_a_vector_without_offset_is_another_one_than_with_offset_zero():
    assert dv.DeletionVector("u", "x", 1, 1).unique_id == "ux"
    assert dv.DeletionVector("u", "x", 1, 1, 0).unique_id == "ux@0"


@pytest.mark.parametrize(
    "rows",
    (
        [],
        [0],
        [5, 3, 3],
        range(4097),
        range(0, 200_000, 7),
        [65_535, 65_536, 1 << 32, (1 << 40) + 9],
        random.Random(1).sample(range(1 << 33), 5_000),
    ),
)
def test_a_bitmap_holds_the_rows_that_it_was_made_of(rows):
    assert dv.decode_bitmap(dv.encode_bitmap(rows)) == frozenset(rows)


def test_run_containers_are_read():
    # One bucket, one container of two runs: 10 to 14, and 100.
    body = struct.pack("<IBHHHHHHH", 12347, 1, 0, 5, 2, 10, 4, 100, 0)
    data = struct.pack("<IQI", dv.MAGIC, 1, 0) + body
    assert dv.decode_bitmap(data) == {10, 11, 12, 13, 14, 100}


def test_run_containers_have_offsets_from_four_containers_on():
    header = struct.pack("<IB", 12347 | 3 << 16, 0b1111) + b"".join(
        struct.pack("<HH", key, 0) for key in range(4)
    )
    offsets = struct.pack("<4I", 0, 0, 0, 0)
    runs = b"".join(struct.pack("<HHH", 1, key, 0) for key in range(4))
    data = struct.pack("<IQI", dv.MAGIC, 1, 0) + header + offsets + runs
    assert dv.decode_bitmap(data) == {0, 65_537, 131_074, 196_611}


def test_a_bitmap_that_ends_too_early_or_too_late_is_named():
    data = dv.encode_bitmap([1, 70_000, 1 << 33])
    for length in range(len(data)):
        with pytest.raises(CorruptFile):
            dv.decode_bitmap(data[:length])
    with pytest.raises(CorruptFile, match="1 bytes too many"):
        dv.decode_bitmap(data + b"\0")


def test_a_wrong_magic_number_is_named():
    with pytest.raises(CorruptFile, match="magic"):
        dv.decode_bitmap(b"\0" + dv.encode_bitmap([1])[1:])


def write(folder, rows):
    data = dv.encode_bitmap(rows)
    framed, (first, second) = dv.encode_file([dv.encode_bitmap([9]), data])
    assert first == 1
    path = folder / "deletion_vector_00010203-0405-0607-0809-0a0b0c0d0e0f.bin"
    path.write_bytes(framed)
    return path, dv.DeletionVector("u", dv.z85_encode(bytes(range(16))), len(data), len(rows), second)


def test_the_second_vector_of_a_file_is_found_by_its_offset(tmp_path):
    _, vector = write(tmp_path, [2, 4])
    assert dv.read(vector, tmp_path) == {2, 4}


def test_an_absolute_vector_is_found_by_its_encoded_path(tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    path, vector = write(folder, [2, 4])
    encoded = f"file://{path.as_posix().replace(' ', '%20')}"
    assert dv.read(replace(vector, storage_type="p", path_or_inline=encoded), tmp_path) == {2, 4}


def test_an_inline_vector_is_cut_to_its_size(tmp_path):
    vector = dv.inline_vector(range(3))
    assert vector.size_in_bytes % 4 == 2
    assert dv.read(vector, tmp_path) == {0, 1, 2}


@pytest.mark.parametrize("position", range(60))
def test_a_changed_byte_of_a_vector_is_never_read_over(tmp_path, position):
    path, vector = write(tmp_path, [2, 4, 9, 11])
    data = bytearray(path.read_bytes())
    assert vector.offset is not None
    if not vector.offset <= position < len(data):
        position = vector.offset + position % (len(data) - vector.offset)
    data[position] ^= 0x10
    path.write_bytes(bytes(data))
    with pytest.raises(CorruptFile):
        dv.read(vector, tmp_path)


def test_a_file_of_another_version_is_named(tmp_path):
    path, vector = write(tmp_path, [2])
    path.write_bytes(b"\2" + path.read_bytes()[1:])
    with pytest.raises(CorruptFile, match="version 02"):
        dv.read(vector, tmp_path)


def test_a_file_that_is_gone_is_named(tmp_path):
    path, vector = write(tmp_path, [2])
    path.unlink()
    with pytest.raises(MissingFile):
        dv.read(vector, tmp_path)


def test_a_wrong_cardinality_is_named(tmp_path):
    _, vector = write(tmp_path, [2])
    with pytest.raises(WrongCardinality):
        dv.read(replace(vector, cardinality=2), tmp_path)
