"""Decode deletion vectors: descriptors, Z85, the framing in files, and 64-bit roaring bitmaps.

See the protocol's sections "Deletion Vectors" and "Deletion Vector Format", and the specification of the portable
roaring format to which they refer. The module also encodes, for tests and for the reference engine.
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delta_models.log import paths
from delta_models.log.errors import CorruptFile, MissingFile, WrongCardinality

MAGIC = 1681511377
FILE_VERSION = 1
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_DIGIT = {character: value for value, character in enumerate(ALPHABET)}
_UUID_LENGTH = 20
_NO_RUNS = 12346
_WITH_RUNS = 12347
_ARRAY_LIMIT = 4096
_OFFSETS_FROM = 4
_BITMAP_BYTES = 8192


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """The descriptor of a deletion vector, as an action holds it."""

    storage_type: str
    path_or_inline: str
    size_in_bytes: int
    cardinality: int
    offset: int | None = None

    @property
    def unique_id(self) -> str:
        """The id that distinguishes the deletion vectors of one data file."""
        where = f"{self.storage_type}{self.path_or_inline}"
        return where if self.offset is None else f"{where}@{self.offset}"

    def file(self, folder: Path) -> Path | None:
        """Return the file that holds the bytes; None for an inline vector. Raises CorruptFile."""
        match self.storage_type:
            case "u":
                prefix, encoded = self.path_or_inline[:-_UUID_LENGTH], self.path_or_inline[-_UUID_LENGTH:]
                if len(encoded) != _UUID_LENGTH:
                    raise CorruptFile(
                        f"deletion vector {self.unique_id!r}: the name is too short to hold a UUID"
                    )
                name = f"deletion_vector_{uuid.UUID(bytes=z85_decode(encoded))}.bin"
                return folder / prefix / name if prefix else folder / name
            case "p":
                return paths.resolve(folder, self.path_or_inline)
            case "i":
                return None
        raise CorruptFile(f"deletion vector {self.unique_id!r}: unknown storage type {self.storage_type!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the object that an action holds."""
        form: dict[str, Any] = {"storageType": self.storage_type, "pathOrInlineDv": self.path_or_inline}
        if self.offset is not None:
            form["offset"] = self.offset
        return form | {"sizeInBytes": self.size_in_bytes, "cardinality": self.cardinality}


def z85_decode(text: str) -> bytes:
    """Return the bytes of a Z85 text: four bytes for five characters, most significant first. Raises CorruptFile."""
    if len(text) % 5:
        raise CorruptFile(f"Z85 text of {len(text)} characters: not a multiple of five")
    out = bytearray()
    for start in range(0, len(text), 5):
        block = 0
        for character in text[start : start + 5]:
            digit = _DIGIT.get(character)
            if digit is None:
                raise CorruptFile(f"{character!r} is no character of Z85")
            block = block * 85 + digit
        if block >> 32:
            raise CorruptFile(f"the Z85 block {text[start : start + 5]!r} exceeds four bytes")
        out += block.to_bytes(4, "big")
    return bytes(out)


def z85_encode(data: bytes) -> str:
    """Return the Z85 text of some bytes; zeros fill up the last block."""
    out: list[str] = []
    for start in range(0, len(data), 4):
        block = int.from_bytes(data[start : start + 4].ljust(4, b"\0"), "big")
        digits: list[str] = []
        for _ in range(5):
            block, digit = divmod(block, 85)
            digits.append(ALPHABET[digit])
        out.extend(reversed(digits))
    return "".join(out)


def read(vector: DeletionVector, folder: Path) -> frozenset[int]:
    """Return the positions of the rows that a vector deletes.

    Raises MissingFile, or CorruptFile if the vector is unreadable or disagrees with its descriptor.
    """
    where = f"deletion vector {vector.unique_id!r}"
    file = vector.file(folder)
    data = _inline_bytes(vector, where) if file is None else _stored_bytes(vector, file, where)
    rows = decode_bitmap(data, where)
    if len(rows) != vector.cardinality:
        detail = f"the descriptor says {vector.cardinality} rows, the bitmap holds {len(rows)}"
        raise WrongCardinality(f"{where}: {detail}")
    return rows


def _inline_bytes(vector: DeletionVector, where: str) -> bytes:
    data = z85_decode(vector.path_or_inline)
    if not vector.size_in_bytes <= len(data) < vector.size_in_bytes + 4:
        raise CorruptFile(f"{where}: {len(data)} bytes inline, the descriptor says {vector.size_in_bytes}")
    return data[: vector.size_in_bytes]


def _stored_bytes(vector: DeletionVector, file: Path, where: str) -> bytes:
    offset = vector.offset or 0
    try:
        with file.open("rb") as stream:
            version = stream.read(1)
            if version != bytes([FILE_VERSION]):
                raise CorruptFile(f"{where}: the file begins with version {version.hex() or 'nothing'}")
            stream.seek(offset)
            framed = stream.read(vector.size_in_bytes + 8)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(f"{where}: no file {file}") from error
    except (OSError, ValueError) as error:
        raise CorruptFile(f"{where}: {error}") from error
    if len(framed) != vector.size_in_bytes + 8:
        raise CorruptFile(f"{where}: the file ends before the vector does")
    (size,) = struct.unpack_from(">i", framed)
    if size != vector.size_in_bytes:
        raise CorruptFile(f"{where}: the file says {size} bytes, the descriptor {vector.size_in_bytes}")
    data = framed[4:-4]
    (checksum,) = struct.unpack_from(">I", framed, len(framed) - 4)
    if zlib.crc32(data) != checksum:
        raise CorruptFile(f"{where}: the checksum does not fit the bytes")
    return data


def decode_bitmap(data: bytes, where: str = "bitmap") -> frozenset[int]:
    """Return the numbers in a serialized 64-bit bitmap that begins with its magic number. Raises CorruptFile."""
    try:
        (magic,) = struct.unpack_from("<I", data)
        if magic != MAGIC:
            raise CorruptFile(f"{where}: magic number {magic}, not {MAGIC}")
        (buckets,) = struct.unpack_from("<Q", data, 4)
        position = 12
        rows: set[int] = set()
        previous = -1
        for _ in range(buckets):
            (high,) = struct.unpack_from("<I", data, position)
            if high <= previous:
                raise CorruptFile(f"{where}: the buckets are not in ascending order")
            previous = high
            position = _decode_32(data, position + 4, high << 32, rows)
    except struct.error as error:
        raise CorruptFile(f"{where}: the bitmap ends too early") from error
    if position != len(data):
        raise CorruptFile(f"{where}: {len(data) - position} bytes too many behind the bitmap")
    return frozenset(rows)


def _decode_32(data: bytes, start: int, base: int, rows: set[int]) -> int:
    """Add the numbers of one 32-bit bitmap to `rows`, and return where it ends."""
    cookie: int
    containers: int
    (cookie,) = struct.unpack_from("<I", data, start)
    position = start + 4
    runs = b""
    if cookie & 0xFFFF == _WITH_RUNS:
        containers = (cookie >> 16) + 1
        runs = data[position : position + (containers + 7) // 8]
        position += len(runs)
    elif cookie == _NO_RUNS:
        (containers,) = struct.unpack_from("<I", data, position)
        position += 4
    else:
        raise CorruptFile(f"a roaring bitmap cannot begin with {cookie}")
    header = struct.unpack_from(f"<{2 * containers}H", data, position)
    position += 4 * containers
    if not runs or containers >= _OFFSETS_FROM:
        position += 4 * containers
    for index in range(containers):
        high = base | header[2 * index] << 16
        cardinality = header[2 * index + 1] + 1
        if runs and runs[index // 8] >> index % 8 & 1:
            (count,) = struct.unpack_from("<H", data, position)
            pairs = struct.unpack_from(f"<{2 * count}H", data, position + 2)
            for first, more in zip(pairs[::2], pairs[1::2], strict=True):
                rows.update(range(high + first, high + first + more + 1))
            position += 2 + 4 * count
        elif cardinality <= _ARRAY_LIMIT:
            rows.update(high + low for low in struct.unpack_from(f"<{cardinality}H", data, position))
            position += 2 * cardinality
        else:
            words = struct.unpack_from(f"<{_BITMAP_BYTES // 8}Q", data, position)
            for word_index, word in enumerate(words):
                rest = word
                while rest:
                    lowest = rest & -rest
                    rows.add(high + 64 * word_index + lowest.bit_length() - 1)
                    rest ^= lowest
            position += _BITMAP_BYTES
    return position


def encode_bitmap(rows: Iterable[int]) -> bytes:
    """Return the serialized bitmap of these numbers, in array and bitset containers."""
    buckets: dict[int, dict[int, list[int]]] = {}
    for row in sorted(set(rows)):
        buckets.setdefault(row >> 32, {}).setdefault(row >> 16 & 0xFFFF, []).append(row & 0xFFFF)
    out = bytearray(struct.pack("<IQ", MAGIC, len(buckets)))
    for high, containers in buckets.items():
        out += struct.pack("<III", high, _NO_RUNS, len(containers))
        for key, lows in containers.items():
            out += struct.pack("<HH", key, len(lows) - 1)
        offset = 8 + 8 * len(containers)
        bodies = [_encode_container(lows) for lows in containers.values()]
        for body in bodies:
            out += struct.pack("<I", offset)
            offset += len(body)
        for body in bodies:
            out += body
    return bytes(out)


def _encode_container(lows: list[int]) -> bytes:
    if len(lows) <= _ARRAY_LIMIT:
        return struct.pack(f"<{len(lows)}H", *lows)
    bits = 0
    for low in lows:
        bits |= 1 << low
    return bits.to_bytes(_BITMAP_BYTES, "little")


def encode_file(bitmaps: Iterable[bytes]) -> tuple[bytes, tuple[int, ...]]:
    """Return the bytes of a deletion vector file that holds these bitmaps, and their offsets."""
    out = bytearray([FILE_VERSION])
    offsets = []
    for data in bitmaps:
        offsets.append(len(out))
        out += struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    return bytes(out), tuple(offsets)


def inline_vector(rows: Iterable[int]) -> DeletionVector:
    """Return the inline vector that deletes these rows."""
    numbers = set(rows)
    data = encode_bitmap(numbers)
    return DeletionVector("i", z85_encode(data), len(data), len(numbers))
