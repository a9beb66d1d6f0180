"""Files that lie in a table and that no commit names: what a crash leaves over."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from conformance.turnstile import roles

FILES = frozenset({roles.DATA, roles.CHANGE})
TEMPORARY = frozenset({roles.STAGING, *(f"{each}-staging" for each in FILES)})


def left_overs(table: Path) -> set[str]:
    """Data and change files under their final names that no commit names, as paths below the table.

    Files of deletion vectors are not among them: a descriptor holds their name in another form. Nor is what lies in
    hidden folders, into which no vacuum of delta-spark looks.
    """
    return {path for path, role in _files(table, _named(table)) if role in FILES and not _hidden(path)}


def counted(table: Path) -> dict[str, int]:
    """All that is left over, temporary files too, by role."""
    named = _named(table)
    return dict(sorted(Counter(role for _, role in _files(table, named)).items()))


def _files(table: Path, named: str) -> Iterable[tuple[str, str]]:
    for folder, _, names in os.walk(table):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), table)  # noqa: PTH118 - `walk` speaks in texts
            role = roles.role_of(path)
            if role in TEMPORARY or (role in FILES and name not in named):
                yield path, role


def _hidden(path: str) -> bool:
    folders = path.split("/")[:-1]
    return any(each.startswith(("_", ".")) and "=" not in each and each != "_change_data" for each in folders)


def _named(table: Path) -> str:
    """The text of all commits, its paths without escapes."""
    return unquote("".join(each.read_text("utf-8") for each in sorted((table / "_delta_log").glob("*.json"))))
