"""Mutants of the in-house engine, played by the gate: `python -m tools.mutation COMMAND`.

    draw    --set NAME                 list the mutants of a set
    record  [--part NAME]...           record which chunk executes which line of the engine, once
    play    --set NAME                 play the mutants of a set; go on where an earlier call was ended
    gate    --set NAME --only MUTANT   run the whole gate on a mutant, as a user would
    check   --set NAME                 play mutants again, and end with 1 unless the same becomes of them
    report                             write reports/mutation.md from the rows of all sets
    lines                              say which lines the recorded chunks execute, and keep it for the report

A mutant plays the chunks that execute its line, until the first violation that blames the engine. `sets.toml` names the
sets. Rows are kept in reports/mutation/, what can be made again in the folder of --work.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.planning.profile import load_profile
from conformance.signals import interrupt, stoppable
from tools.mutation import campaign, drawing, lines, report
from tools.mutation.campaign import PACKAGE, ROOT, AnyMutant
from tools.mutation.edits import BadMutant
from tools.mutation.judgements import BadJudgement, Judgement, read_judgements
from tools.mutation.rows import append, read_rows
from tools.mutation.sets import SETS, BadSets, MutantSet, chosen_set, mutants_of, only, read_sets
from tools.mutation.whole_gate import run_gate

FAULT, INTERRUPTED = 2, 130
LINES = "lines.json"


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command says; return the exit code: 0, 1 if a state is not the one of --expect, or 2."""
    arguments = _parser().parse_args(words)
    commands = {
        "draw": _draw, "record": _record, "play": _play, "gate": _gate, "check": _check, "report": _report,
        "lines": _lines,
    }  # fmt: skip
    try:
        with stoppable(interrupt):
            return commands[arguments.command](arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BadSets, BadJudgement, BadMutant) as problem:
        print(f"tools.mutation: {problem}", file=sys.stderr)
        return FAULT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("draw", "record", "play", "gate", "check", "report", "lines"))
    parser.add_argument("--set", default="tuning", help="the set of mutants (default: tuning)")
    parser.add_argument("--sets", type=Path, default=SETS, help="the file that names the sets")
    parser.add_argument(
        "--only", action="append", default=[], metavar="MUTANT", help="this mutant of the set"
    )
    parser.add_argument("--part", action="append", default=[], dest="parts", help="a part of the gate")
    parser.add_argument(
        "--results", type=Path, default=ROOT / "reports" / "mutation", help="the folder of rows"
    )
    parser.add_argument("--work", type=Path, default=ROOT / "mutation-work", help="what can be made again")
    parser.add_argument(
        "--budget", type=float, default=float("inf"), help="seconds after which no chunk begins"
    )
    parser.add_argument(
        "--most-chunks",
        type=int,
        default=10_000,
        help="how many chunks a mutant plays, or are recorded, in this call",
    )
    parser.add_argument(
        "--unrecorded", action="store_true", help="play all chunks, whatever lines they execute"
    )
    parser.add_argument(
        "--again", action="append", default=[], metavar="STATE", help="play these mutants anew"
    )
    parser.add_argument("--expect", metavar="STATE", help="end with 1 unless this became of every mutant")
    return parser


def _draw(arguments: argparse.Namespace) -> int:
    for mutant in _mutants(arguments):
        print(json.dumps(drawing.told(mutant)))
    return 0


def _record(arguments: argparse.Namespace) -> int:
    parts = _parts(arguments)
    chunks = [chunk for chunk in campaign.gate_chunks() if not parts or chunk.table in parts]
    campaign.record(arguments.work, chunks[: arguments.most_chunks], arguments.budget, _say)
    return 0


def _play(arguments: argparse.Namespace) -> int:
    mutants = _mutants(arguments)
    results = arguments.results / f"{arguments.set}.jsonl"
    campaign.play_mutants(
        mutants, campaign.gate_chunks(), results, arguments.work, _say, budget=arguments.budget,
        most_chunks=arguments.most_chunks, parts=_parts(arguments), unrecorded=arguments.unrecorded,
        again=arguments.again,
    )  # fmt: skip
    rows = campaign.newest(read_rows(results))
    states = {
        mutant.name: rows[mutant.name]["state"] if mutant.name in rows else "not played" for mutant in mutants
    }
    _say(", ".join(f"{count} {state}" for state, count in sorted(Counter(states.values()).items())))
    others = [name for name, state in states.items() if arguments.expect and state != arguments.expect]
    if others:
        _say(f"not {arguments.expect}: {', '.join(others)}")
    return int(bool(others))


def _gate(arguments: argparse.Namespace) -> int:
    if not arguments.only:
        raise BadSets("the whole gate is run on one mutant at a time; name it with --only")
    rows = []
    for mutant in _mutants(arguments):
        rows.append(run_gate(mutant, PACKAGE, arguments.work, _parts(arguments)))
        append(arguments.results / "gates.jsonl", rows[-1])
        print(json.dumps(rows[-1]))
    return int(
        arguments.expect is not None and any(row["killed"] != (arguments.expect == "killed") for row in rows)
    )


def _check(arguments: argparse.Namespace) -> int:
    """Play mutants as if they had no result, each first in the chunk that decided before; keep no row."""
    mutants = _mutants(arguments)
    rows = campaign.newest(read_rows(arguments.results / f"{arguments.set}.jsonl"))
    lacking = [mutant.name for mutant in mutants if mutant.name not in rows]
    if lacking:
        raise BadSets(
            f"{', '.join(lacking)} of the set {arguments.set} was never played; `play` does it first"
        )
    before = [rows[mutant.name] for mutant in mutants]
    again = arguments.work / "check.jsonl"
    again.unlink(missing_ok=True)
    for row in before:
        append(again, row)
    campaign.play_mutants(
        mutants, campaign.gate_chunks(), again, arguments.work, _say, most_chunks=arguments.most_chunks,
        unrecorded=True, again=tuple(report.STATES),
    )  # fmt: skip
    contradictions = campaign.contradicted(before, read_rows(again))
    _say("\n".join(contradictions) or f"the same became of all {len(mutants)} mutants")
    return int(bool(contradictions))


def _report(arguments: argparse.Namespace) -> int:
    sets = read_sets(arguments.sets)
    judgements = read_judgements(arguments.results / "judgements.toml")
    played = [_played(each, arguments, sets, judgements) for each in sets.values()]
    known = {mutant["mutant"] for each in played for mutant in each.mutants}
    unknown = sorted(set(judgements) - known)
    if unknown:
        raise BadJudgement(
            f"no set has the mutant {', '.join(unknown)} of {arguments.results / 'judgements.toml'}"
        )
    path = arguments.results.parent / "mutation.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = arguments.results / LINES
    executed = json.loads(kept.read_text("utf-8")) if kept.exists() else None
    path.write_text(report.markdown(played, executed), "utf-8")
    for each in played:
        _say(f"{each.title}: {report.summary_of(each)}")
    return 0


def _played(
    chosen: MutantSet,
    arguments: argparse.Namespace,
    sets: dict[str, MutantSet],
    judgements: dict[str, tuple[Judgement, ...]],
) -> report.PlayedSet:
    mutants = [
        drawing.told(mutant) | {"diff": drawing.diff_of(mutant, PACKAGE)}
        for mutant in mutants_of(chosen, sets, PACKAGE)
    ]
    rows = campaign.newest(read_rows(arguments.results / f"{chosen.name}.jsonl"))
    return report.PlayedSet(chosen.title, mutants, rows, judgements)


def _lines(arguments: argparse.Namespace) -> int:
    """Keep, for the report, which lines of functions the recorded chunks execute."""
    records = lines.read_records(arguments.work / "lines.jsonl")
    chunks = campaign.gate_chunks()
    own = [records[digest] for digest in map(lines.digest_of, chunks) if digest in records]
    files = lines.lines_executed(PACKAGE, own)
    told = {"gate": campaign.gate_digest(chunks), "chunks": len(chunks), "recorded": len(own), "files": files}
    arguments.results.mkdir(parents=True, exist_ok=True)
    (arguments.results / LINES).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print("\n".join(report.lines_section(told)))
    return 0


def _mutants(arguments: argparse.Namespace) -> list[AnyMutant]:
    sets = read_sets(arguments.sets)
    return only(mutants_of(chosen_set(sets, arguments.set), sets, PACKAGE), arguments.only)


def _parts(arguments: argparse.Namespace) -> tuple[str, ...]:
    known = [part.name for part in load_profile("gate").parts]
    unknown = [name for name in arguments.parts if name not in known]
    if unknown:
        raise BadSets(f"the gate has no part {', '.join(unknown)}; it has {', '.join(known)}")
    return tuple(arguments.parts)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
