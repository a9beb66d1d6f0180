"""Files of a campaign: a line of JSON for each result, so that a call that is killed loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to the file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as rows:
        rows.write(("\n" if cut else "") + json.dumps(row) + "\n")
        rows.flush()
        os.fsync(rows.fileno())


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows so far. A line that was cut is passed over, so what it told is found out again."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text("utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows
