"""Writes `reports/corpora.md` from runs of `conformance corpus`: what each engine answered, and
whose fault each failure is.

python tools/corpora_report.py RUN...     RUN is a run's folder, or its cases.jsonl; later ones replace earlier answers

`reports/corpora.toml` says of each failed case whose fault it is, and why. Exit 1 if it says nothing of one, or
speaks of one that does not fail.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from delta_adapters.engine_id import EngineId

REPORTS = Path(__file__).resolve().parent.parent / "reports"
RESULTS = ("passed", "failed", "out of scope")
HEAD = """# Reference tables of others, read by engines

Written by `python tools/corpora_report.py RUN...` from the `cases.jsonl` of `conformance corpus`. A line is a spec, a
version or a table; the tables themselves are in no form part of this project. Whose fault a failure is stands in
`reports/corpora.toml`.
"""

Answer = dict[str, str]
Ruling = dict[str, Any]


def answers(runs: Iterable[Path]) -> list[Answer]:
    """The newest answer to each question, by engine."""
    found: dict[tuple[str, ...], Answer] = {}
    for run in runs:
        file = run if run.is_file() else run / "cases.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines():
            each = json.loads(line)
            found[each["engine"], each["corpus"], each["case"], each["spec"]] = each
    return list(found.values())


def ruling_of(answer: Answer, rulings: Iterable[Ruling]) -> Ruling | None:
    """What is said of a failure."""
    engine = EngineId.parse(answer["engine"]).name
    return next(
        (ruling for ruling in rulings if ruling["engine"] == engine and answer["case"] in ruling["cases"]),
        None,
    )


def document(found: list[Answer], rulings: list[Ruling]) -> tuple[str, list[Answer]]:
    """The report, and the failures of which nothing is said."""
    counts = Counter((each["engine"], each["corpus"], each["kind"], each["result"]) for each in found)
    lines = [HEAD, "| engine | corpus | kind | passed | failed | out of scope |", "|---|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join((*row, *(str(counts[*row, result]) for result in RESULTS))) + " |"
        for row in sorted({key[:3] for key in counts})
    ]
    lines += ["", _asked(found)]
    failures = [each for each in found if each["result"] == "failed"]
    lines += ["", "## Failures", *_failures(failures, rulings)]
    lines += ["", "## Out of scope", "", *_reasons(found)]
    return "\n".join(lines) + "\n", [failure for failure in failures if ruling_of(failure, rulings) is None]


def idle(found: list[Answer], rulings: list[Ruling]) -> list[tuple[str, str]]:
    """Engines and cases that are ruled on and do not fail, among the engines that answered."""
    engines = {EngineId.parse(each["engine"]).name for each in found}
    failed = {
        (EngineId.parse(each["engine"]).name, each["case"]) for each in found if each["result"] == "failed"
    }
    ruled = [(ruling["engine"], case) for ruling in rulings for case in ruling["cases"]]
    return [(engine, case) for engine, case in ruled if engine in engines and (engine, case) not in failed]


def _asked(found: list[Answer]) -> str:
    """How many questions each engine was asked, since a run may have been cut."""
    asked = Counter(each["engine"] for each in found)
    most = max(asked.values(), default=0)
    told = (
        f"{name} {count}" + ("" if count == most else f" of {most}") for name, count in sorted(asked.items())
    )
    return f"Questions asked: {', '.join(told)}."


def _reasons(found: list[Answer]) -> Iterator[str]:
    """Why engines were not asked, or not judged, without what is peculiar to a case."""
    counts = Counter(
        (each["engine"], each["why"].split(": ")[0].split("'")[0].strip())
        for each in found
        if each["result"] == "out of scope" and each["why"]
    )
    yield "| engine | why | questions |"
    yield "|---|---|---|"
    for (engine, why), count in sorted(counts.items()):
        yield f"| {engine} | {why} | {count} |"


def _failures(failures: list[Answer], rulings: list[Ruling]) -> Iterator[str]:
    by_ruling: dict[int, list[Answer]] = defaultdict(list)
    for failure in failures:
        ruling = ruling_of(failure, rulings)
        by_ruling[rulings.index(ruling) if ruling else len(rulings)].append(failure)
    for at, ruling in enumerate(rulings):
        told = by_ruling.get(at, [])
        if told:
            yield f"\n### {told[0]['engine']}: {ruling['title']} ({len(told)})\n"
            yield f"Fault: {ruling['fault']}. {ruling['why'].strip()}\n"
            yield from sorted({f"- {each['corpus']} `{each['case']}`" for each in told})
    for each in by_ruling.get(len(rulings), []):
        yield f"\nNot looked at: {each['engine']} {each['corpus']} `{each['case']}` {each['spec']}"


def main(arguments: list[str]) -> int:
    """Write the report."""
    rulings = tomllib.loads((REPORTS / "corpora.toml").read_text(encoding="utf-8"))["ruling"]
    found = answers(map(Path, arguments))
    text, open_ones = document(found, rulings)
    (REPORTS / "corpora.md").write_text(text, encoding="utf-8")
    for each in open_ones:
        print(f"nothing is said of {each['engine']} {each['corpus']} {each['case']}: {each['why'][:160]}")
    needless = idle(found, rulings)
    for engine, case in needless:
        print(f"{engine} does not fail {case}: its ruling is needless")
    return int(bool(open_ones or needless))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
