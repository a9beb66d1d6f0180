"""Deletion vectors have the protocol's bytes, and any changed byte is detected."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import pytest
from pyroaring import BitMap64

from pyspark_delta import deletion_vectors
from pyspark_delta.exceptions import CorruptDeletionVector
from pyspark_delta.log.actions import DeletionVector

ROWS = BitMap64([3, 4, 7, 11, 18, 29])


def test_several_vectors_share_a_file_and_come_back(tmp_path):
    vectors = {"a": BitMap64([0]), "b": BitMap64(range(100_000)), "c": BitMap64([2**33, 5])}
    written = deletion_vectors.write_many(str(tmp_path), vectors)
    assert list(written) == ["a", "b", "c"]
    assert len(list(tmp_path.iterdir())) == 1
    assert written["a"].offset == 1
    assert written["b"].cardinality == 100_000
    assert written["b"].size_in_bytes < 200
    for name, vector in written.items():
        assert deletion_vectors.read(vector, str(tmp_path)) == vectors[name]
        assert deletion_vectors.file_of(vector, str(tmp_path)) == str(next(tmp_path.iterdir()))


def test_the_file_is_laid_out_as_the_protocol_says(tmp_path):
    (vector,) = deletion_vectors.write_many(str(tmp_path), {"a": ROWS}).values()
    content = next(tmp_path.iterdir()).read_bytes()
    size = vector.size_in_bytes
    assert content[0] == 1
    assert struct.unpack_from(">i", content, 1)[0] == size
    data = content[5 : 5 + size]
    assert struct.unpack_from("<i", data)[0] == 1681511377
    assert struct.unpack(">I", content[5 + size :])[0] == zlib.crc32(data)
    assert struct.unpack_from("<q", data, 4)[0] == 1


def test_a_vector_in_line_comes_back():
    assert deletion_vectors.read(deletion_vectors.inline(ROWS), "/nowhere") == ROWS


def test_a_vector_at_an_absolute_place_is_found(tmp_path):
    (vector,) = deletion_vectors.write_many(str(tmp_path), {"a": ROWS}).values()
    place = next(tmp_path.iterdir())
    moved = place.rename(tmp_path / "with space.bin")
    absolute = DeletionVector("p", f"file://{moved}".replace(" ", "%20"), 1, vector.size_in_bytes, len(ROWS))
    assert deletion_vectors.read(absolute, "/another/table") == ROWS


def test_a_name_with_a_prefix_is_in_that_folder():
    vector = DeletionVector("u", "ab^-aqEH.-t@S}K{vb[*k^", 4, 40, 6)
    assert deletion_vectors.file_of(vector, "/t") == (
        "/t/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    )


def damaged(tmp_path, position: int) -> DeletionVector:
    (vector,) = deletion_vectors.write_many(str(tmp_path), {"a": ROWS}).values()
    file = next(tmp_path.iterdir())
    content = bytearray(file.read_bytes())
    content[position] ^= 0xFF
    file.write_bytes(content)
    return vector


@pytest.mark.parametrize(
    ("position", "message"),
    ((0, "format version 1"), (2, "bytes, the log says"), (30, "another checksum"), (-1, "another checksum")),
)
def test_a_changed_byte_is_noticed(tmp_path, position, message):
    with pytest.raises(CorruptDeletionVector, match=message):
        deletion_vectors.read(damaged(tmp_path, position), str(tmp_path))


@pytest.mark.parametrize(
    ("change", "message"),
    (
        ({"cardinality": 7}, "has 6 rows, the log says 7"),
        ({"size_in_bytes": 12}, "the log says 12"),
        ({"offset": 1000}, "bytes only"),
        ({"storage_type": "x"}, "none that the protocol knows"),
        ({"path_or_inline_dv": "~" * 20}, "no Z85 text"),
    ),
    ids=str,
)
def test_a_descriptor_that_does_not_fit_is_noticed(tmp_path, change, message):
    (vector,) = deletion_vectors.write_many(str(tmp_path), {"a": ROWS}).values()
    with pytest.raises(CorruptDeletionVector, match=message):
        deletion_vectors.read(replace(vector, **change), str(tmp_path))


def test_a_missing_file_is_named(tmp_path):
    (vector,) = deletion_vectors.write_many(str(tmp_path), {"a": ROWS}).values()
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(CorruptDeletionVector, match=r"is missing: .*deletion_vector_.*\.bin"):
        deletion_vectors.read(vector, str(tmp_path))


def test_a_truncated_file_is_noticed(tmp_path):
    (vector,) = deletion_vectors.write_many(str(tmp_path), {"a": ROWS}).values()
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-6])
    with pytest.raises(CorruptDeletionVector, match="ends in the middle"):
        deletion_vectors.read(vector, str(tmp_path))
