"""Asks engines every question, and writes a line for each into `cases.jsonl`."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from conformance.corpus.cases import Question
from conformance.corpus.exclusions import named
from conformance.corpus.result import FAILED, PASSED, CaseResult, failed, out_of_scope

FILE = "cases.jsonl"
FORMAT = ("corpus", "case", "spec", "kind", "engine", "result", "why")


class Answerer(Protocol):
    """Whoever answers: the oracle, or an engine."""

    @property
    def name(self) -> str:
        """The name under which its answers are kept."""

    def judge(self, question: Question) -> CaseResult:
        """The verdict on its answer."""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One answered question."""

    question: Question
    engine: str
    verdict: CaseResult

    def to_json(self) -> str:
        """The line as it stands in the file."""
        asked = self.question
        values = (
            asked.corpus, asked.case, asked.spec, asked.kind, self.engine, self.verdict.result, self.verdict.why,
        )  # fmt: skip
        return json.dumps(dict(zip(FORMAT, values, strict=True)), ensure_ascii=False)


@dataclass(slots=True)
class CaseCounts:
    """How often each result was had, by engine, corpus and kind."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    failures: list[CaseLine] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, line: CaseLine) -> None:
        """Count a line."""
        asked = line.question
        self.counts[line.engine, asked.corpus, asked.kind, line.verdict.result] += 1
        if line.verdict.result == FAILED:
            self.failures.append(line)


def ask(answerer: Answerer, question: Question) -> CaseLine:
    """One question to one engine. What is named out of scope is asked all the same, and counts where it is right."""
    reason = named().reasons.get((question.corpus, question.case, question.spec))
    try:
        verdict = answerer.judge(question)
    except Exception as error:  # noqa: BLE001 - one case that breaks the harness must not hide the others
        verdict = failed(f"the harness is at fault: {type(error).__name__}: {error}")
    if reason is not None and verdict.result != PASSED:
        verdict = out_of_scope(reason)
    return CaseLine(question, answerer.name, verdict)


Asked = frozenset[tuple[str, str, str, str]]


def asked_in(files: Iterable[Path]) -> Asked:
    """What earlier runs asked: engine, corpus, case, spec. The last line of one that was cut may be half a line."""
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines(keepends=True))
    forms = (json.loads(line) for line in lines if line.endswith("}\n"))
    return frozenset((form["engine"], form["corpus"], form["case"], form["spec"]) for form in forms)


def run(
    questions: Sequence[Question],
    answerers: Iterable[Answerer],
    folder: Path,
    tell: Callable[[CaseLine], None],
    asked: Asked = frozenset(),
) -> CaseCounts:
    """Ask everyone everything that was not `asked` before; every answer is written at once and told."""
    tally = CaseCounts()
    began = time.monotonic()
    with (folder / FILE).open("w", encoding="utf-8") as file:
        for answerer in answerers:
            for question in questions:
                if (answerer.name, question.corpus, question.case, question.spec) in asked:
                    continue
                line = ask(answerer, question)
                file.write(f"{line.to_json()}\n")
                file.flush()
                tally.add(line)
                tell(line)
    tally.seconds = time.monotonic() - began
    return tally
