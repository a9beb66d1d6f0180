"""Frames between the host client and a host: a JSON header and binary parts, over two inherited descriptors.

A frame is `MAGIC`, the length of the header (4 bytes), the length of the body (8 bytes), both little-endian, then the
header in UTF-8 JSON, then the body. The header's `parts` lists the lengths of the binary parts that make up the body.
See `docs/host-protocol.md`. Standard library only: the other side may run in any interpreter.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PROTOCOL = 1
MAGIC = b"DCW1"
LARGEST_HEADER = 256 << 20
LARGEST_BODY = 8 << 30

_PREFIX = struct.Struct("<4sIQ")
_CHUNK = 1 << 16


class WireError(Exception):
    """No more frames can pass between the two sides."""


class Closed(WireError):
    """The other side closed its end."""


class Garbage(WireError):
    """The bytes that arrived are no frame."""


class TooLate(WireError):
    """The deadline passed before the whole frame had gone through."""


class Disturbed(WireError):
    """The watched descriptor became readable before a frame arrived."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: a JSON object, and binary parts."""

    header: dict[str, Any]
    parts: tuple[memoryview, ...] = ()


class Channel:
    """One end of a connection: reads frames from one descriptor and writes frames to another.

    If the descriptor `watch` becomes readable while no data is there, a wait ends with `Disturbed`. Deadlines are
    values of `time.monotonic()`; None waits without limit.
    """

    def __init__(self, read_from: int, write_to: int, watch: int | None = None) -> None:
        self._read_from = read_from
        self._write_to = write_to
        self._watch = watch
        self._readable = select.poll()
        self._readable.register(read_from, select.POLLIN)
        if watch is not None:
            self._readable.register(watch, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(write_to, select.POLLOUT)
        os.set_blocking(read_from, False)
        os.set_blocking(write_to, False)
        self._pending = bytearray()
        self._disturbed = False

    def send(
        self, header: dict[str, Any], parts: Sequence[bytes | memoryview] = (), deadline: float | None = None
    ) -> None:
        """Write one frame."""
        views = [memoryview(part) for part in parts]
        if views:
            header = {**header, "parts": [len(view) for view in views]}
        text = json.dumps(header, separators=(",", ":")).encode("utf-8", "surrogatepass")
        body = sum(map(len, views))
        if len(text) + body <= _CHUNK:
            self._write(memoryview(b"".join((_PREFIX.pack(MAGIC, len(text), body), text, *views))), deadline)
            return
        self._write(memoryview(_PREFIX.pack(MAGIC, len(text), body) + text), deadline)
        for view in views:
            self._write(view, deadline)

    def receive(self, deadline: float | None = None) -> Frame:
        """Read one frame."""
        self._fill(_PREFIX.size, deadline)
        magic, header_length, body_length = _PREFIX.unpack_from(self._pending)
        if magic != MAGIC:
            raise Garbage(f"a frame begins with {MAGIC!r}, this with {bytes(self._pending[:40])!r}")
        if header_length > LARGEST_HEADER or body_length > LARGEST_BODY:
            raise Garbage(f"a frame of {header_length} + {body_length} bytes is longer than any sensible one")
        total = _PREFIX.size + header_length + body_length
        self._fill(total, deadline)
        whole = self._pending[:total]
        del self._pending[:total]
        body = memoryview(whole)[_PREFIX.size + header_length :].toreadonly()
        try:
            header = json.loads(bytes(whole[_PREFIX.size : _PREFIX.size + header_length]))
        except ValueError as error:
            raise Garbage(f"the header is no JSON: {error}") from error
        return Frame(header, _split(header, body))

    def _fill(self, size: int, deadline: float | None) -> None:
        while len(self._pending) < size:
            try:
                arrived = os.read(self._read_from, max(_CHUNK, min(size - len(self._pending), 1 << 20)))
            except BlockingIOError:
                self._wait(self._readable, self._read_from, deadline)
                continue
            if not arrived:
                raise Closed("the other side closed the connection")
            self._pending += arrived

    def _write(self, data: memoryview, deadline: float | None) -> None:
        while data:
            try:
                data = data[os.write(self._write_to, data) :]
            except BlockingIOError:
                self._wait(self._writable, self._write_to, deadline)
            except BrokenPipeError as error:
                raise Closed("the other side closed the connection") from error

    def _wait(self, poll: select.poll, descriptor: int, deadline: float | None) -> None:
        if self._disturbed:  # and still nothing to read, or no room to write
            raise Disturbed("the host supervisor reported")
        left = None if deadline is None else (deadline - time.monotonic()) * 1000
        if left is not None and left <= 0:
            raise TooLate("no answer in time")
        ready = [fd for fd, _ in poll.poll(left)]
        self._disturbed = bool(ready) and descriptor not in ready


def _split(header: Any, body: memoryview) -> tuple[memoryview, ...]:
    if not isinstance(header, dict):
        raise Garbage(f"the header is a JSON {type(header).__name__}, an object was expected")
    lengths = header.get("parts", [])
    if (
        not isinstance(lengths, list)
        or not all(isinstance(length, int) for length in lengths)
        or sum(lengths) != len(body)
    ):
        raise Garbage(f"the parts {lengths!r} do not add up to a body of {len(body)} bytes")
    parts, start = [], 0
    for length in lengths:
        parts.append(body[start : start + length])
        start += length
    return tuple(parts)
