"""Read and write deletion vectors: the deleted rows of a file in the protocol's bytes, in files or inline."""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Mapping

from pyroaring import BitMap64

from pyspark_delta.exceptions import CorruptDeletionVector
from pyspark_delta.log.actions import DeletionVector
from pyspark_delta.log.store import LogStore, open_store
from pyspark_delta.partition_values import decode_path

__all__ = ["file_of", "inline", "read", "write_many"]

_MAGIC = 1681511377
_FORMAT = b"\x01"
_ALPHABET = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_DIGITS = {character: value for value, character in enumerate(_ALPHABET)}
_UUID_TEXT = 20


def read(vector: DeletionVector, table_path: str, store: LogStore | None = None) -> BitMap64:
    """Return the deleted rows by their position in the file; CorruptDeletionVector if the bytes are damaged."""
    if vector.storage_type == "i":
        subject = "the inline deletion vector"
        data = _z85_decoded(vector.path_or_inline_dv, subject)[: vector.size_in_bytes]
        rows = _bitmap(data, subject)
    else:
        name = file_of(vector, table_path)
        subject = f"the deletion vector at {vector.offset or 0} of {name}"
        rows = _bitmap(_stored(vector, _content(name, table_path, store), subject), subject)
    if len(rows) != vector.cardinality:
        raise CorruptDeletionVector(f"{subject} has {len(rows)} rows, the log says {vector.cardinality}")
    return rows


def file_of(vector: DeletionVector, table_path: str) -> str:
    """The absolute path of the file that has the vector."""
    text = vector.path_or_inline_dv
    if vector.storage_type == "p":
        return decode_path(text)
    if vector.storage_type != "u" or len(text) < _UUID_TEXT:
        raise CorruptDeletionVector(
            f"a deletion vector of kind {vector.storage_type!r} with the path {text!r} is none that the protocol knows"
        )
    prefix, coded = text[:-_UUID_TEXT], text[-_UUID_TEXT:]
    name = uuid.UUID(bytes=_z85_decoded(coded, f"the name of the deletion vector {text!r}"))
    folder = f"{table_path}/{prefix}" if prefix else table_path
    return f"{folder}/deletion_vector_{name}.bin"


def write_many(
    table_path: str, vectors: Mapping[str, BitMap64], store: LogStore | None = None
) -> dict[str, DeletionVector]:
    """Write the vectors of several data files into one new file; the keys, such as paths of adds, return unchanged."""
    if not vectors:
        return {}
    name = uuid.uuid4()
    coded = _z85_encoded(name.bytes)
    parts = [_FORMAT]
    offset = len(_FORMAT)
    written = {}
    for key, rows in vectors.items():
        data = _serialized(rows)
        written[key] = DeletionVector("u", coded, offset, len(data), len(rows))
        part = struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
        parts.append(part)
        offset += len(part)
    (store or open_store(table_path)).put(f"deletion_vector_{name}.bin", b"".join(parts))
    return written


def inline(rows: BitMap64) -> DeletionVector:
    """A vector inside the log itself, for small ones."""
    data = _serialized(rows)
    return DeletionVector("i", _z85_encoded(data), None, len(data), len(rows))


def _content(name: str, table_path: str, store: LogStore | None) -> bytes:
    try:
        if name.startswith(f"{table_path}/"):
            return (store or open_store(table_path)).read(name.removeprefix(f"{table_path}/"))
        folder, _, last = name.rpartition("/")
        if not folder or not last:
            raise CorruptDeletionVector(f"the path of a deletion vector is no absolute path: {name!r}")
        return open_store(folder).read(last)
    except (FileNotFoundError, NotADirectoryError):
        raise CorruptDeletionVector(f"the file of a deletion vector is missing: {name}") from None


def _stored(vector: DeletionVector, content: bytes, subject: str) -> bytes:
    if content[:1] != _FORMAT:
        raise CorruptDeletionVector(f"{subject}: the file does not begin with format version 1")
    start = vector.offset if vector.offset is not None else len(_FORMAT)
    if start < 1 or start + 4 > len(content):
        raise CorruptDeletionVector(f"{subject}: the file has {len(content)} bytes only")
    (size,) = struct.unpack_from(">i", content, start)
    if size != vector.size_in_bytes:
        raise CorruptDeletionVector(f"{subject} has {size} bytes, the log says {vector.size_in_bytes}")
    data = content[start + 4 : start + 4 + size]
    checksum = content[start + 4 + size : start + 8 + size]
    if len(data) != size or len(checksum) != 4:
        raise CorruptDeletionVector(f"{subject}: the file ends in the middle of it")
    if zlib.crc32(data) != struct.unpack(">I", checksum)[0]:
        raise CorruptDeletionVector(f"{subject} has another checksum than the one that was written")
    return data


def _serialized(rows: BitMap64) -> bytes:
    rows.run_optimize()
    return struct.pack("<i", _MAGIC) + bytes(rows.serialize())


def _bitmap(data: bytes, subject: str) -> BitMap64:
    if len(data) < 12 or struct.unpack_from("<i", data)[0] != _MAGIC:
        raise CorruptDeletionVector(f"{subject} does not begin with the number of a 64-bit roaring bitmap")
    try:
        return BitMap64.deserialize(data[4:])
    except Exception as problem:  # pyroaring has no exception of its own for this
        raise CorruptDeletionVector(f"{subject} is no roaring bitmap ({problem})") from problem


def _z85_encoded(data: bytes) -> str:
    text = bytearray()
    for (number,) in struct.iter_unpack(">I", data + b"\0" * (-len(data) % 4)):
        text += bytes(_ALPHABET[number // 85**place % 85] for place in (4, 3, 2, 1, 0))
    return text.decode()


def _z85_decoded(text: str, subject: str) -> bytes:
    if len(text) % 5:
        raise CorruptDeletionVector(f"{subject} is no Z85 text: its length is {len(text)}")
    data = bytearray()
    for start in range(0, len(text), 5):
        number = 0
        for character in text[start : start + 5].encode():
            digit = _DIGITS.get(character)
            if digit is None:
                raise CorruptDeletionVector(f"{subject} is no Z85 text: it has {chr(character)!r}")
            number = number * 85 + digit
        if number >> 32:
            raise CorruptDeletionVector(f"{subject} is no Z85 text: a block is too large")
        data += number.to_bytes(4, "big")
    return bytes(data)
