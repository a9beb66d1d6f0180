"""Writes `reports/corpora.md` from runs of `conformance corpus`: each engine's answers, and who is at fault.

python tools/corpora_report.py RUN...     RUN is a run's folder, or its cases.jsonl; later ones replace earlier answers

`reports/corpora.toml` holds a ruling for each failed case: who is at fault, and why. Exit 1 if a failed case has no
ruling, or a ruling names a case that does not fail.
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
    """Return the newest answer of each engine to each question."""
    newest: dict[tuple[str, ...], Answer] = {}
    for run in runs:
        file = run if run.is_file() else run / "cases.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines():
            answer = json.loads(line)
            newest[answer["engine"], answer["corpus"], answer["case"], answer["spec"]] = answer
    return list(newest.values())


def ruling_of(answer: Answer, rulings: Iterable[Ruling]) -> Ruling | None:
    """Return the ruling on a failure, or None."""
    engine = EngineId.parse(answer["engine"]).name
    return next(
        (ruling for ruling in rulings if ruling["engine"] == engine and answer["case"] in ruling["cases"]),
        None,
    )


def document(every_answer: list[Answer], rulings: list[Ruling]) -> tuple[str, list[Answer]]:
    """Return the report, and the failures without a ruling."""
    counts = Counter(
        (answer["engine"], answer["corpus"], answer["kind"], answer["result"]) for answer in every_answer
    )
    lines = [HEAD, "| engine | corpus | kind | passed | failed | out of scope |", "|---|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join((*row, *(str(counts[*row, result]) for result in RESULTS))) + " |"
        for row in sorted({key[:3] for key in counts})
    ]
    lines += ["", _questions_asked(every_answer)]
    failures = [answer for answer in every_answer if answer["result"] == "failed"]
    lines += ["", "## Failures", *_failures(failures, rulings)]
    lines += ["", "## Out of scope", "", *_reasons(every_answer)]
    return "\n".join(lines) + "\n", [failure for failure in failures if ruling_of(failure, rulings) is None]


def needless_rulings(every_answer: list[Answer], rulings: list[Ruling]) -> list[tuple[str, str]]:
    """Return engines and cases with a ruling that do not fail, among the engines that answered."""
    engines = {EngineId.parse(answer["engine"]).name for answer in every_answer}
    failed = {
        (EngineId.parse(answer["engine"]).name, answer["case"])
        for answer in every_answer
        if answer["result"] == "failed"
    }
    ruled = [(ruling["engine"], case) for ruling in rulings for case in ruling["cases"]]
    return [(engine, case) for engine, case in ruled if engine in engines and (engine, case) not in failed]


def _questions_asked(every_answer: list[Answer]) -> str:
    """Say how many questions each engine answered, because a run may have been cut."""
    asked = Counter(answer["engine"] for answer in every_answer)
    most = max(asked.values(), default=0)
    counts = (
        f"{name} {count}" + ("" if count == most else f" of {most}") for name, count in sorted(asked.items())
    )
    return f"Questions asked: {', '.join(counts)}."


def _reasons(every_answer: list[Answer]) -> Iterator[str]:
    """Yield the table of reasons for `out of scope`, without the part of a reason that names a case."""
    counts = Counter(
        (answer["engine"], answer["why"].split(": ")[0].split("'")[0].strip())
        for answer in every_answer
        if answer["result"] == "out of scope" and answer["why"]
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
    for number, ruling in enumerate(rulings):
        ruled = by_ruling.get(number, [])
        if ruled:
            yield f"\n### {ruled[0]['engine']}: {ruling['title']} ({len(ruled)})\n"
            yield f"Fault: {ruling['fault']}. {ruling['why'].strip()}\n"
            yield from sorted({f"- {failure['corpus']} `{failure['case']}`" for failure in ruled})
    for failure in by_ruling.get(len(rulings), []):
        yield f"\nNot looked at: {failure['engine']} {failure['corpus']} `{failure['case']}` {failure['spec']}"


def main(arguments: list[str]) -> int:
    """Write the report. Return 1 if a ruling is missing or needless."""
    rulings = tomllib.loads((REPORTS / "corpora.toml").read_text(encoding="utf-8"))["ruling"]
    every_answer = answers(map(Path, arguments))
    text, without_ruling = document(every_answer, rulings)
    (REPORTS / "corpora.md").write_text(text, encoding="utf-8")
    for failure in without_ruling:
        print(
            f"nothing is said of {failure['engine']} {failure['corpus']} {failure['case']}: {failure['why'][:160]}"
        )
    needless = needless_rulings(every_answer, rulings)
    for engine, case in needless:
        print(f"{engine} does not fail {case}: its ruling is needless")
    return int(bool(without_ruling or needless))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
