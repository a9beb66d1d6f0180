"""Read and write `_last_checkpoint`, the hint to the newest checkpoint, with its checksum."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pyspark_delta.log.names import LAST_CHECKPOINT, LOG
from pyspark_delta.log.store import LogStore

__all__ = ["Hint", "canonical_checksum", "read_hint", "write_hint"]

_log = logging.getLogger("pyspark_delta")


@dataclass(frozen=True, slots=True)
class Hint:
    """The hint's content. Only the version is used, and only to list fewer files."""

    version: int
    size: int
    parts: int | None = None
    size_in_bytes: int | None = None
    num_of_add_files: int | None = None


def read_hint(store: LogStore) -> Hint | None:
    """Return the hint; None if there is none or it can't be trusted."""
    try:
        text = store.read(f"{LOG}/{LAST_CHECKPOINT}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        pairs = json.loads(text, object_pairs_hook=_no_duplicates, parse_float=_Number, parse_int=_Number)
        if "checksum" in pairs and canonical_checksum(pairs) != pairs["checksum"]:
            raise ValueError("its checksum is another")  # noqa: TRY301 - handled as every damage of a hint
        return Hint(int(pairs["version"]), int(pairs.get("size", 0)))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        _log.warning("%s/%s is not used: %s", store.root, f"{LOG}/{LAST_CHECKPOINT}", problem)
        return None


def write_hint(store: LogStore, hint: Hint) -> None:
    """Replace the hint."""
    body: dict[str, Any] = {"version": hint.version, "size": hint.size}
    more = {"parts": hint.parts, "sizeInBytes": hint.size_in_bytes, "numOfAddFiles": hint.num_of_add_files}
    body.update({name: value for name, value in more.items() if value is not None})
    body["checksum"] = canonical_checksum(body)
    store.put(f"{LOG}/{LAST_CHECKPOINT}", json.dumps(body, separators=(",", ":")).encode())


def canonical_checksum(body: dict[str, Any]) -> str:
    """MD5 of the JSON in canonical form: sorted `path=value` texts, independent of order and spacing in the file."""
    flat = [("+".join(path), text) for path, text in _flattened(body, ()) if path != ('"checksum"',)]
    flat.sort(key=lambda pair: pair[0].encode())
    return hashlib.md5(
        ",".join(f"{path}={text}" for path, text in flat).encode(), usedforsecurity=False
    ).hexdigest()


class _Number(str):
    """A number in the file's own spelling."""

    __slots__ = ()


def _flattened(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flattened(part, (*path, _quoted(name)))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _flattened(part, (*path, str(index)))
    elif value is None:
        yield path, "null"
    elif isinstance(value, bool):
        yield path, "true" if value else "false"
    elif isinstance(value, _Number | int | float | Decimal):
        yield path, str(value)
    else:
        yield path, _quoted(value)


def _quoted(text: str) -> str:
    return f'"{quote(text, safe="-._~")}"'


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key appears twice")
    return fields
