"""What a campaign keeps: the recorded lines of each chunk, and a line of JSON for each mutant that was played."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.histories import Chunk

Lines = Mapping[str, Mapping[str, Mapping[int, int]]]  # by chunk and file: how often each line was executed


def read_lines(folder: Path) -> Lines:
    """Read the lines that each chunk executed, as the traced engine wrote them down."""
    lines: dict[str, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for path in sorted(folder.glob("*.json")):
        form = json.loads(path.read_text("utf-8"))
        for file, line, count in form["lines"]:
            lines[form["chunk"]][file][line] += count
    return lines


def chunks_for(
    changed: Mapping[str, set[int]], lines: Lines, chunks: Sequence[Chunk], *, at_import: bool = False
) -> list[Chunk]:
    """Return the recorded chunks that execute a changed line, those first that do it most often.

    Lines that run at import are in no record: for these every recorded chunk counts. A chunk without a record is not
    played, since nobody knows whether the unchanged engine passes it.
    """
    known = [chunk for chunk in chunks if chunk.name in lines]
    if at_import:
        return known
    counts = {
        chunk.name: sum(
            lines[chunk.name].get(file, {}).get(line, 0) for file, held in changed.items() for line in held
        )
        for chunk in known
    }
    reached = [chunk for chunk in known if counts[chunk.name]]
    return sorted(reached, key=lambda chunk: (-counts[chunk.name], chunk.name))


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a record to the results, whole or not at all, so that a campaign that is killed can go on."""
    with path.open("a", encoding="utf-8") as results:
        results.write(json.dumps(record) + "\n")
        results.flush()
        os.fsync(results.fileno())


def read_results(path: Path) -> list[dict[str, Any]]:
    """Read the results so far. A last line that was cut is passed over, and its mutant is played again."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text("utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def coverage_by_file(lines: Lines, executable: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, int]]:
    """Return how many of the executable lines of each file the chunks execute, and how many there are."""
    reached: dict[str, set[int]] = defaultdict(set)
    for files in lines.values():
        for file, held in files.items():
            reached[file] |= set(held)
    return {file: (len(reached[file] & set(every)), len(set(every))) for file, every in executable.items()}
