"""Compute the checksum of a JSON document from its canonical form.

See the protocol's section "JSON checksum".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

_CHECKSUM = "checksum"


class DuplicateKey(ValueError):
    """An object names a key twice, which makes the document invalid."""


class _Verbatim(str):
    """A number as it is written."""

    __slots__ = ()


def checksum(text: str | bytes) -> str:
    """Return the MD5 digest of a document's canonical form, without its top-level `checksum`."""
    return hashlib.md5(canonical(text).encode("utf-8"), usedforsecurity=False).hexdigest()


def canonical(text: str | bytes) -> str:
    """Return the canonical form: a path and a value for each leaf, in the order of the paths' bytes.

    Raises DuplicateKey, or ValueError for a text that is not JSON.
    """
    document = json.loads(
        text,
        object_pairs_hook=_unique_keys,
        parse_int=_Verbatim,
        parse_float=_Verbatim,
        parse_constant=_Verbatim,
    )
    if isinstance(document, dict):
        document = {key: value for key, value in document.items() if key != _CHECKSUM}
    leaves = sorted(_leaves((), document), key=lambda leaf: leaf[0].encode("utf-8"))
    return ",".join(f"{path}={value}" if path else value for path, value in leaves)


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for key, part in value.items():
                yield from _leaves((*path, _quote(key)), part)
        case list():
            for position, part in enumerate(value):
                yield from _leaves((*path, str(position)), part)
        case _:
            yield "+".join(path), _scalar(value)


def _scalar(value: Any) -> str:
    match value:
        case _Verbatim():
            return str(value)
        case str():
            return _quote(value)
        case bool():
            return "true" if value else "false"
    return "null"


def _quote(text: str) -> str:
    return f'"{quote(text, safe="-._~")}"'


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise DuplicateKey("a key stands twice in one object")
    return unique
