"""Find the file that a `path` in the log names."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def decode(path: str) -> str:
    """Return the path without percent encoding; bytes that are not UTF-8 become surrogate escapes."""
    return unquote(path, errors="surrogateescape") if "%" in path else path


def is_absolute(path: str) -> bool:
    """Whether a path does not depend on the table's folder."""
    return path.startswith("/") or _SCHEME.match(path) is not None


def logical_path(path: str) -> str:
    """Return one path for all spellings of a file: `/x` for `file:/x`, `file:///x` and `/x`."""
    if not path.startswith("file:"):
        return path
    rest = path.removeprefix("file:")
    return "/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest


def resolve(folder: Path, path: str) -> Path:
    """Return the local file that a URI-encoded path means for a table in `folder`."""
    if path.startswith("file:"):
        return Path(decode(logical_path(path)))
    return folder / decode(path)
