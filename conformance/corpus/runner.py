"""The run of a corpus: it asks each engine every question and writes a line for each into `cases.jsonl`."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from conformance.corpus.cases import Question
from conformance.corpus.exclusions import load_exclusions
from conformance.corpus.result import FAILED, PASSED, CaseResult, failed, out_of_scope

FILE = "cases.jsonl"
FORMAT = ("corpus", "case", "spec", "kind", "engine", "result", "why")


class Answerer(Protocol):
    """What answers questions: the oracle or an engine."""

    @property
    def name(self) -> str:
        """The name under which `cases.jsonl` holds the answers."""

    def judge(self, question: Question) -> CaseResult:
        """Answer the question and judge the answer."""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One answered question."""

    question: Question
    engine: str
    verdict: CaseResult

    def to_json(self) -> str:
        """The line as the file holds it."""
        question = self.question
        values = (
            question.corpus, question.case, question.spec, question.kind, self.engine, self.verdict.result,
            self.verdict.why,
        )  # fmt: skip
        return json.dumps(dict(zip(FORMAT, values, strict=True)), ensure_ascii=False)


@dataclass(slots=True)
class CaseCounts:
    """How many questions had each result, by engine, corpus and kind."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    failures: list[CaseLine] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, line: CaseLine) -> None:
        """Count a line."""
        question = line.question
        self.counts[line.engine, question.corpus, question.kind, line.verdict.result] += 1
        if line.verdict.result == FAILED:
            self.failures.append(line)


def ask(answerer: Answerer, question: Question) -> CaseLine:
    """Ask one engine one question. A question out of scope is asked, too, and counts if the answer is right."""
    reason = load_exclusions().reasons.get((question.corpus, question.case, question.spec))
    try:
        verdict = answerer.judge(question)
    except Exception as error:  # noqa: BLE001 - one case that breaks the harness must not hide the others
        verdict = failed(f"the harness is at fault: {type(error).__name__}: {error}")
    if reason is not None and verdict.result != PASSED:
        verdict = out_of_scope(reason)
    return CaseLine(question, answerer.name, verdict)


AnsweredQuestions = frozenset[tuple[str, str, str, str]]


def answered_questions(files: Iterable[Path]) -> AnsweredQuestions:
    """The questions that earlier runs answered: engine, corpus, case, spec. A torn last line does not count."""
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines(keepends=True))
    forms = (json.loads(line) for line in lines if line.endswith("}\n"))
    return frozenset((form["engine"], form["corpus"], form["case"], form["spec"]) for form in forms)


def run(
    questions: Sequence[Question],
    answerers: Iterable[Answerer],
    folder: Path,
    report: Callable[[CaseLine], None],
    answered: AnsweredQuestions = frozenset(),
) -> CaseCounts:
    """Ask every engine every question that is not `answered`; write and report each answer at once."""
    case_counts = CaseCounts()
    began = time.monotonic()
    with (folder / FILE).open("w", encoding="utf-8") as file:
        for answerer in answerers:
            for question in questions:
                if (answerer.name, question.corpus, question.case, question.spec) in answered:
                    continue
                line = ask(answerer, question)
                file.write(f"{line.to_json()}\n")
                file.flush()
                case_counts.add(line)
                report(line)
    case_counts.seconds = time.monotonic() - began
    return case_counts
