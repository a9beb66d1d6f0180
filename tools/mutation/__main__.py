"""Mutants of the in-house engine, played by the gate: `python -m tools.mutation COMMAND`.

    draw    --seed S --count N                       list the mutants that a seed draws
    record  --out DIR [--part NAME]...               record which chunk executes which line of the engine, once
    play    --out DIR --seed S --count N [...]       play drawn mutants; go on where an earlier call was ended
    play    --out DIR --folder tools/mutation/semantic   the same for mutants that are files
    report  --out DIR [--title TEXT]                 write the results as Markdown
    lines   --out DIR                                say which part of each file the recorded chunks execute

A mutant plays the chunks that execute its line, until the first violation that blames the engine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.histories import Chunk
from conformance.options import RunOptions
from conformance.planning.plan import plan_run
from conformance.planning.profile import load_profile
from delta_adapters.registry import EngineSpec, parse_engine
from tools.mutation import drawing, records, table, traced_engine
from tools.mutation.edits import Mutant, load_all
from tools.mutation.play import ENGINE, play
from tools.mutation.warm_jvm import warm_jvm

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / drawing.PACKAGE
PARTS = ("core", "sql", "features")  # those that need no turnstile, and no JVM of their own


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("draw", "record", "play", "report", "lines"))
    parser.add_argument("--out", type=Path, default=Path("mutation-results"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--part", action="append", default=[], dest="parts")
    parser.add_argument("--folder", type=Path, help="play the mutants of a folder in place of drawn ones")
    parser.add_argument("--most-chunks", type=int, default=10_000)
    parser.add_argument(
        "--budget", type=float, default=float("inf"), help="seconds after which no mutant begins"
    )
    parser.add_argument("--title", default="Mutants")
    arguments = parser.parse_args(words)
    commands = {"draw": _draw, "record": _record, "play": _play, "report": _report, "lines": _lines}
    return commands[arguments.command](arguments)


def _mutants(arguments: argparse.Namespace) -> Sequence[drawing.DrawnMutant | Mutant]:
    if arguments.folder is not None:
        return load_all(arguments.folder)
    return drawing.draw(PACKAGE, arguments.seed, arguments.count)


def _draw(arguments: argparse.Namespace) -> int:
    for mutant in _mutants(arguments):
        print(json.dumps(_told(mutant)))
    return 0


def _chunks(arguments: argparse.Namespace) -> tuple[Chunk, ...]:
    """The chunks of the gate for the engine, in the parts that were asked for."""
    seed = load_profile("gate").seed or 0
    parts = tuple(arguments.parts) or PARTS
    return plan_run(RunOptions(Path(), engines=(ENGINE,), profile="gate", parts=parts, seed=seed)).chunks


def _record(arguments: argparse.Namespace) -> int:
    folder = arguments.out / "lines"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[traced_engine.FOLDER] = str(folder.absolute())
    known = records.read_lines(folder)
    chunks = [chunk for chunk in _chunks(arguments) if chunk.name not in known][: arguments.most_chunks]
    adapter = f"{Path(traced_engine.__file__).absolute()}:{traced_engine.TracedPyspark.__name__}"
    spec = replace(parse_engine(ENGINE), adapter=adapter)
    began = time.monotonic()
    with warm_jvm(arguments.out.absolute() / "jvm") as jvm:
        for number, chunk in enumerate(chunks, 1):
            if time.monotonic() - began > arguments.budget:
                break
            jvm.start()
            played = play(spec, [chunk], to_the_end=True)
            print(
                f"{number} of {len(chunks)}: {chunk.name} {played.verdict} {played.requirement or played.detail}",
                flush=True,
            )
            if played.verdict != "survived":
                records.append(
                    arguments.out / "unfit.jsonl",
                    {"chunk": chunk.name, "requirement": played.requirement, "detail": played.detail},
                )
            if played.lost:
                jvm.stop()
    return 0


def _play(arguments: argparse.Namespace) -> int:
    arguments.out.mkdir(parents=True, exist_ok=True)
    unfit = {record["chunk"] for record in records.read_results(arguments.out / "unfit.jsonl")}
    chunks = [chunk for chunk in _chunks(arguments) if chunk.name not in unfit]
    lines = records.read_lines(arguments.out / "lines")
    gate = hashlib.sha256(json.dumps([chunk.to_json() for chunk in chunks]).encode()).hexdigest()[:8]
    results = arguments.out / "results.jsonl"
    done = {record["mutant"] for record in records.read_results(results) if record["gate"] == gate}
    mutants = _mutants(arguments)
    began = time.monotonic()
    with warm_jvm(arguments.out.absolute() / "jvm") as jvm:
        for number, mutant in enumerate(mutants, 1):
            if mutant.name in done or time.monotonic() - began > arguments.budget:
                continue
            jvm.start()
            folder = drawing.make(mutant, PACKAGE, arguments.out.absolute() / "build")
            changed = drawing.changed_lines(mutant, PACKAGE)
            at_import = drawing.runs_at_import(changed, PACKAGE)
            asked = records.chunks_for(changed, lines, chunks, at_import=at_import)[: arguments.most_chunks]
            played = play(_spec(folder), asked)
            if played.lost or played.verdict == "unusable":
                jvm.stop()  # its context may still be there
            told = {
                name: getattr(played, name)
                for name in ("verdict", "requirement", "detail", "chunk", "chunks", "operations", "seconds")
            }
            records.append(results, _told(mutant) | told | {"gate": gate, "reached": len(asked)})
            print(
                f"{number} of {len(mutants)}: {mutant.name} {played.verdict} {played.requirement}"
                f" ({played.chunks} of {len(asked)} chunks, {played.operations} operations, {played.seconds:.0f} s)",
                flush=True,
            )
    return 0


def _spec(folder: Path) -> EngineSpec:
    return parse_engine(f"{ENGINE}@{folder}")


def _report(arguments: argparse.Namespace) -> int:
    sys.stdout.write(table.markdown(arguments.title, records.read_results(arguments.out / "results.jsonl")))
    return 0


def _lines(arguments: argparse.Namespace) -> int:
    """Print how many of the lines inside functions of each file are executed: those at import are by any run."""
    executable = {
        path.relative_to(PACKAGE).as_posix(): drawing.lines_of_functions(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    covered = records.coverage_by_file(records.read_lines(arguments.out / "lines"), executable)
    for file, (reached, every) in covered.items():
        if every:
            print(f"{file:45} {reached:4} of {every:4} {reached / every:6.1%}")
    return 0


def _told(mutant: drawing.DrawnMutant | Mutant) -> dict[str, Any]:
    """A mutant as its record has it."""
    if isinstance(mutant, Mutant):
        return {
            "mutant": mutant.name, "group": "written", "file": ", ".join(mutant.files), "operator": "edit",
            "before": mutant.sentence, "after": "", "line": 0,
        }  # fmt: skip
    return mutant.to_json()


if __name__ == "__main__":
    sys.exit(main())
