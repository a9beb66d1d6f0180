"""Where the file is that a `path` in the log names."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def decode(path: str) -> str:
    """The path without its percent encoding; bytes that are no UTF-8 become surrogate escapes."""
    return unquote(path, errors="surrogateescape") if "%" in path else path


def is_absolute(path: str) -> bool:
    """Whether a path stands for itself, whatever the table's folder is."""
    return path.startswith("/") or _SCHEME.match(path) is not None


def logical(path: str) -> str:
    """The path by which a file is known: `file:/x`, `file:///x` and `/x` are one URI, resolved against the table."""
    if not path.startswith("file:"):
        return path
    rest = path.removeprefix("file:")
    return "/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest


def resolve(folder: Path, path: str) -> Path:
    """The file that a URI-encoded path means for a table in `folder`; only local files can be told."""
    if path.startswith("file:"):
        return Path(decode(logical(path)))
    return folder / decode(path)
