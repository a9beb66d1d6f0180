"""Which chunk of the gate executes which line of the engine: recorded once, to choose what a mutant plays.

A record is of one chunk and of the files as they were. It tells nothing of a file that has changed since, so a mutant
of such a file plays the chunk. No verdict follows from a record, but for that the unchanged engine must pass a chunk:
one that blames it is *unfit*, and nobody plays it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any

from conformance.histories import Chunk
from tools.mutation.rows import append, read_rows

DIGITS = 12
_digests: dict[
    int, tuple[Chunk, str]
] = {}  # by the chunk's identity: to compare chunks takes as long as a digest


@dataclass(frozen=True, slots=True)
class LineRecord:
    """What one chunk executed: how often each line, by file, with the digests of the files as they were."""

    chunk: str
    name: str
    part: str
    fit: bool
    detail: str
    seconds: float
    operations: int
    sources: Mapping[str, str]
    lines: Mapping[str, Mapping[int, int]] = field(repr=False)

    def hits(self, changed: Mapping[str, set[int]], sources: Mapping[str, str]) -> int:
        """How often the chunk executed one of the changed lines; 1 if nobody knows."""
        total = 0
        for file, held in changed.items():
            if self.sources.get(file) != sources.get(file):
                total += 1
            else:
                total += sum(self.lines.get(file, {}).get(line, 0) for line in held)
        return total

    def to_json(self) -> dict[str, Any]:
        """The record as its file has it."""
        lines = {file: [[line, count] for line, count in held.items()] for file, held in self.lines.items()}
        return {
            "chunk": self.chunk, "name": self.name, "part": self.part, "fit": self.fit, "detail": self.detail,
            "seconds": round(self.seconds, 1), "operations": self.operations, "sources": dict(self.sources),
            "lines": lines,
        }  # fmt: skip

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> LineRecord:
        """Read a record."""
        lines = {file: dict(held) for file, held in form["lines"].items()}
        return cls(**{**form, "lines": lines})


def digest_of(chunk: Chunk) -> str:
    """What tells a chunk from another, whatever its number in a plan is: all that is played in it."""
    kept = _digests.get(id(chunk))
    if kept is None or kept[0] is not chunk:
        form = chunk.to_json()
        own = {key: value for key, value in form.items() if key not in {"number", "given"}}
        steps = [
            [history["seed"], history["steps"], history.get("explicit_reads", False)]
            for history in form["given"]
        ]
        kept = _digests[id(chunk)] = chunk, _digest(json.dumps([own, steps], sort_keys=True).encode())
    return kept[1]


def digests_of(package: Path) -> dict[str, str]:
    """A digest of each file of the package."""
    return {
        path.relative_to(package).as_posix(): _digest(path.read_bytes())
        for path in sorted(package.rglob("*.py"))
    }


def read_records(path: Path) -> dict[str, LineRecord]:
    """Read the newest record of each chunk, by the chunk's digest."""
    return {form["chunk"]: LineRecord.from_json(form) for form in read_rows(path)}


def write_record(path: Path, record: LineRecord) -> None:
    """Add a record to the file."""
    append(path, record.to_json())


def without_record(
    chunks: Sequence[Chunk], records: Mapping[str, LineRecord], sources: Mapping[str, str]
) -> list[Chunk]:
    """Return the chunks to record: those without a record, and those that an engine failed that has changed since."""
    missing = []
    for chunk in chunks:
        record = records.get(digest_of(chunk))
        if record is None or (not record.fit and record.sources != sources):
            missing.append(chunk)
    return missing


def chunks_that_reach(
    changed: Mapping[str, set[int]],
    chunks: Sequence[Chunk],
    records: Mapping[str, LineRecord],
    sources: Mapping[str, str],
    *,
    at_import: bool = False,
) -> list[Chunk]:
    """Return the chunks that execute a changed line, in the order in which they are worth playing.

    Those that do it most often come first, but each part in turn, since chunks of a part resemble each other. A line
    that runs at import is reached by every chunk. A chunk without a record is left out: nobody knows whether the
    unchanged engine passes it.
    """
    by_part: dict[str, list[tuple[int, Chunk]]] = defaultdict(list)
    for chunk in chunks:
        record = records.get(digest_of(chunk))
        if record is None or not record.fit:
            continue
        hits = 1 if at_import else record.hits(changed, sources)
        if hits:
            by_part[record.part].append((hits, chunk))
    turns: list[tuple[int, int, str, Chunk]] = []
    for part, held in by_part.items():
        held.sort(key=lambda pair: (-pair[0], pair[1].name))
        turns += [(turn, -hits, part, chunk) for turn, (hits, chunk) in enumerate(held)]
    return [chunk for *_, chunk in sorted(turns, key=lambda turn: turn[:3])]


def executable_lines(source: str) -> set[int]:
    """Return the lines that have code inside functions. All others run at import."""
    lines: set[int] = set()

    def visit(code: CodeType, *, inside: bool) -> None:
        if inside:
            lines.update(line for *_, line in code.co_lines() if line and line != code.co_firstlineno)
        for part in code.co_consts:
            if isinstance(part, CodeType):
                visit(part, inside=inside or bool(part.co_flags & inspect.CO_OPTIMIZED))

    visit(compile(source, "<source>", "exec"), inside=False)
    return lines


def lines_executed(package: Path, records: Iterable[LineRecord]) -> dict[str, dict[str, Any]]:
    """Return for each file with functions how many lines of them there are, and which ones no record executes.

    What was recorded of another source of a file tells nothing of it.
    """
    sources = digests_of(package)
    reached: dict[str, set[int]] = defaultdict(set)
    for record in records:
        for file, held in record.lines.items():
            if record.sources.get(file) == sources.get(file):
                reached[file] |= set(held)
    told = {}
    for file in sources:
        executable = executable_lines((package / file).read_text("utf-8"))
        if executable:
            missed = sorted(executable - reached[file])
            told[file] = {"lines": len(executable), "missed": missed}
    return told


def ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers as people write them: 3, 7-9."""
    texts: list[str] = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        first, *rest = [number for _, number in run]
        texts.append(f"{first}-{rest[-1]}" if rest else str(first))
    return ", ".join(texts)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]
