"""A campaign: the lines of the gate's chunks are recorded once, then each mutant plays the chunks that reach it.

Every result is a row of a file, written when it is there. A mutant that survived so far goes on with the chunks that it
has not played, so a campaign may be ended at any time, and a plan that grows costs what is new in it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import plan_run
from conformance.planning.profile import load_profile
from delta_adapters.environments import build_copy
from delta_adapters.registry import parse_engine
from tools.mutation import drawing, lines, traced_engine
from tools.mutation.drawing import DrawnMutant
from tools.mutation.edits import Mutant
from tools.mutation.play import ENGINE, SURVIVED, UNUSABLE, Played, needs_own_jvm, play
from tools.mutation.rows import append, read_rows
from tools.mutation.warm_jvm import WarmJvm, warm_jvm

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / drawing.PACKAGE
NOT_REACHED, OPEN = "not-reached", "open"  # states beside those of `play`
Say = Callable[[str], None]
AnyMutant = DrawnMutant | Mutant


def gate_chunks() -> tuple[Chunk, ...]:
    """The chunks of the whole gate for the engine."""
    profile = load_profile("gate")
    chosen, seed = tuple(part.name for part in profile.parts), profile.seed or 0
    return plan_run(RunOptions(Path(), engines=(ENGINE,), profile="gate", parts=chosen, seed=seed)).chunks


def gate_digest(chunks: Sequence[Chunk]) -> str:
    """What tells a gate from another."""
    return hashlib.sha256(" ".join(sorted(map(lines.digest_of, chunks))).encode()).hexdigest()[:8]


def record(work: Path, chunks: Sequence[Chunk], budget: float, say: Say) -> None:
    """Record the lines that chunks execute on the unchanged engine, those that have no record yet."""
    records = work / "lines.jsonl"
    sources = lines.digests_of(PACKAGE)
    missing = lines.without_record(chunks, lines.read_records(records), sources)
    say(f"{len(chunks) - len(missing)} of {len(chunks)} chunks are recorded")
    counts = traced_engine.LineCounts.make((work / "counts").absolute(), PACKAGE)
    os.environ[traced_engine.VARIABLE] = str((work / "counts").absolute())
    adapter = f"{Path(traced_engine.__file__).absolute()}:{traced_engine.TracedPyspark.__name__}"
    spec = replace(parse_engine(ENGINE), adapter=adapter)
    end = time.monotonic() + budget

    def after(chunk: Chunk, played: Played, seconds: float) -> None:
        detail = f"{played.state} {played.requirement} {played.detail}".strip()
        found = lines.LineRecord(
            lines.digest_of(chunk), chunk.name, chunk.table, played.state == SURVIVED, detail, seconds,
            played.operations, sources, counts.take(),
        )  # fmt: skip
        lines.write_record(records, found)
        say(f"{chunk.name} ({chunk.table}): {detail}, {played.operations} operations, {seconds:.0f} s")
        played.forget()

    def enough() -> bool:
        return time.monotonic() > end

    own = [chunk for chunk in missing if needs_own_jvm(chunk)]
    shared = [chunk for chunk in missing if not needs_own_jvm(chunk)]
    with warm_jvm(work.absolute() / "jvm") as jvm:
        if shared and not enough():
            jvm.start()
            play(spec, shared, ready=counts.take, after=after, enough=enough)
    if own and not enough():
        play(spec, own, ready=counts.take, after=after, enough=enough)


def play_mutants(
    mutants: Sequence[AnyMutant],
    chunks: Sequence[Chunk],
    results: Path,
    work: Path,
    say: Say,
    *,
    budget: float = float("inf"),
    most_chunks: int = 10_000,
    parts: Sequence[str] = (),
    unrecorded: bool = False,
    again: Sequence[str] = (),
) -> None:
    """Play each mutant that has no result yet, and add its row to the results.

    Args:
        mutants: the mutants, played in this order; those that were never played come first.
        chunks: the gate.
        results: the file of rows.
        work: the folder with the records of lines, and for what is made on the way.
        say: takes a line for the reader.
        budget: seconds after which no chunk begins. A mutant that has not played all of its chunks is *open*.
        most_chunks: how many chunks a mutant plays at most in this call.
        parts: the parts of the gate to play, or all.
        unrecorded: play all chunks in the order of the plan, whatever they execute.
        again: states whose mutants are played anew.
    """
    sources, known = lines.digests_of(PACKAGE), lines.read_records(work / "lines.jsonl")
    rows = newest(read_rows(results))
    gate = gate_digest(chunks)
    end = time.monotonic() + budget
    with warm_jvm(work.absolute() / "jvm") as jvm:
        for number, mutant in enumerate(sorted(mutants, key=lambda mutant: mutant.name in rows), 1):
            row = rows.get(mutant.name)
            decided = row["decided_in"] if row else ""
            if row is not None and (row["sources"] != _sources_of(mutant, sources) or row["state"] in again):
                row = None
            reaching = chunks if unrecorded else _reaching(mutant, chunks, known, sources)
            asked = sorted(reaching, key=lambda chunk: _place(chunk, decided))
            lacking = 0 if unrecorded else sum(lines.digest_of(chunk) not in known for chunk in chunks)
            if row is not None and is_settled(row, chunks, asked, lacking=lacking):
                continue
            if time.monotonic() > end:
                break
            done = set(row["played"]) if row else set()
            left = [chunk for chunk in asked if lines.digest_of(chunk) not in done]
            now = [chunk for chunk in left if not parts or chunk.table in parts][:most_chunks]
            if row is not None and row["state"] == OPEN and not now and (left or lacking):
                continue  # it stays so
            played, stopped = Played(), False
            try:
                _play(mutant, now, played, jvm, work, end=end)
            except KeyboardInterrupt:
                stopped = True
            new = _row(mutant, played, asked, done | set(map(lines.digest_of, now[: played.chunks])), lacking)
            for key in ("seconds", "operations"):
                new[key] += row[key] if row else 0
            append(results, new | {"gate": gate, "sources": _sources_of(mutant, sources)})
            say(
                f"{number} of {len(mutants)}: {mutant.name} {new['state']} {played.requirement} "
                f"({len(new['played'])} of {len(asked)} chunks, {played.operations} operations, {played.seconds:.0f} s)"
            )
            if stopped:
                raise KeyboardInterrupt


def contradicted(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say of which mutants another thing became than before. One that is open contradicts no survivor."""
    now = newest(after)
    told = []
    for name, row in newest(before).items():
        state = now[name]["state"] if name in now else "not played"
        agrees = state == row["state"] or (state == OPEN and row["state"] in {SURVIVED, NOT_REACHED})
        if not agrees:
            told.append(f"{name} was {row['state']}, and is {state}")
    return told


def _place(chunk: Chunk, decided: str) -> tuple[bool, bool]:
    """First the chunk that decided before, then those that need no JVM of their own."""
    return lines.digest_of(chunk) != decided, needs_own_jvm(chunk)


def newest(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The last row of each mutant."""
    return {row["mutant"]: row for row in rows}


def is_settled(
    row: Mapping[str, Any], chunks: Sequence[Chunk], asked: Sequence[Chunk], *, lacking: int = 0
) -> bool:
    """Whether a row says what became of a mutant, on the gate as it is now; `lacking` chunks of it have no record."""
    match row["state"]:
        case "open":
            return False
        case "survived" | "not-reached":
            return not lacking and all(lines.digest_of(chunk) in row["played"] for chunk in asked)
        case "killed" | "fault" | "given-up":
            return any(lines.digest_of(chunk) == row["decided_in"] for chunk in chunks)
    return True


def _reaching(
    mutant: AnyMutant,
    chunks: Sequence[Chunk],
    known: Mapping[str, lines.LineRecord],
    sources: Mapping[str, str],
) -> list[Chunk]:
    changed = drawing.changed_lines(mutant, PACKAGE)
    at_import = drawing.runs_at_import(changed, PACKAGE)
    return lines.chunks_that_reach(changed, chunks, known, sources, at_import=at_import)


def _play(
    mutant: AnyMutant, chunks: Sequence[Chunk], played: Played, jvm: WarmJvm, work: Path, *, end: float
) -> None:
    """Play chunks on a mutant, in runs of those that need a JVM of their own and those that do not."""
    folder = drawing.make(mutant, PACKAGE, work.absolute() / "build")
    spec = parse_engine(f"{ENGINE}@{folder}")
    copy = build_copy(spec)

    def enough() -> bool:
        return time.monotonic() > end

    try:
        for own, run in groupby(chunks, key=needs_own_jvm):
            if played.state != SURVIVED or enough():
                break
            if own:
                with jvm.hidden():
                    play(spec, tuple(run), played, enough=enough)
                continue
            jvm.start()
            jvm.import_from(str(copy))
            play(spec, tuple(run), played, enough=enough)
            if played.lost:
                jvm.stop()  # the context of a host that was lost may still be there
    finally:
        shutil.rmtree(copy, ignore_errors=True)  # nobody plays this build again


def _row(
    mutant: AnyMutant, played: Played, asked: Sequence[Chunk], done: set[str], lacking: int
) -> dict[str, Any]:
    state = played.state
    if state == SURVIVED:
        left = lacking or [chunk for chunk in asked if lines.digest_of(chunk) not in done]
        state = OPEN if left else SURVIVED if asked else NOT_REACHED
    decided = next((lines.digest_of(chunk) for chunk in asked if chunk.name == played.chunk), "")
    return {
        **drawing.told(mutant), "diff": drawing.diff_of(mutant, PACKAGE), "state": state,
        "requirement": played.requirement, "detail": played.detail, "chunk": played.chunk,
        "decided_in": "" if state in {SURVIVED, OPEN, NOT_REACHED, UNUSABLE} else decided,
        "operations": played.operations, "seconds": round(played.seconds, 1), "reached": len(asked),
        "played": sorted(done), "unrecorded": lacking,
        "at": datetime.now(UTC).isoformat(timespec="seconds"), "load": round(os.getloadavg()[0], 1),
    }  # fmt: skip


def _sources_of(mutant: AnyMutant, sources: Mapping[str, str]) -> dict[str, str]:
    """The digests of the files that a mutant changes, as they are without it."""
    files = drawing.changed_lines(mutant, PACKAGE)
    return {file: sources[file] for file in sorted(files)}
