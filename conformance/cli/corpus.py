"""`conformance corpus`: ask the oracle or engines about reference tables that others made, and judge the answers."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from conformance.cli.errors import UsageError
from conformance.reporting.atomic_write import CannotWrite
from conformance.reporting.run_folder import new_run_folder, point_latest
from conformance.reporting.text import here, one_line, plural, seconds

if TYPE_CHECKING:
    from conformance.corpus.runner import Answerer, CaseCounts, CaseLine
    from delta_adapters.registry import EngineSpec

DEFAULT_OUT = Path("conformance-results")
MOST_SHOWN = 20

HELP = """\
Usage: conformance corpus PATH... [--engine NAME]... [--after RUN]... [--out DIR]

Reads reference tables that others made, and judges the answers by the rows, the metadata and
the errors that they expect. PATH is a folder above the tables, in any of these layouts: DAT,
acceptance workloads, the golden tables of the kernel and of the connectors.

  --engine NAME[@VERSION|@PATH]
                            an engine that reads; again for more. Default: reference, the
                            oracle itself, which alone answers every kind of question
  --after RUN               the folder of an earlier run, which may have been cut: what it
                            asked is not asked again
  --out DIR                 the run makes a new folder in it, and the link `latest` points at
                            that. Default: conformance-results

The folder holds cases.jsonl, one line a spec, a version or a table. A case that is wrong in
itself is named in conformance/corpus/exclusions.toml, and is out of scope.

Exit: 0 nothing failed, 1 a case failed, 2 there are no tables or the harness is at fault,
3 an engine that was asked for can't run here, 130 stopped by Ctrl-C.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `corpus`."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--engine", action="append", default=[], dest="engines")
    parser.add_argument("--after", action="append", default=[], type=Path)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)


def execute(arguments: argparse.Namespace) -> int:
    """Find the cases, ask all questions, write the answers and print the results."""
    from conformance.corpus import cases, runner  # noqa: PLC0415 - loads pyarrow; --help shall not wait for it

    specs = _engines(arguments.engines)
    try:
        questions = cases.find(arguments.paths)
        answered = runner.answered_questions(_files(arguments.after))
        folder = new_run_folder(arguments.out)
        point_latest(folder)
    except cases.NoCases as error:
        raise UsageError(str(error), error.cure) from error
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="delta-corpus-")))
        answerers, missing = _answerers(specs, work, stack)
        unanswered = sum(
            (answerer.name, question.corpus, question.case, question.spec) not in answered
            for answerer in answerers
            for question in questions
        )
        show = stack.enter_context(CorpusProgress(unanswered))
        case_counts = runner.run(questions, answerers, folder, show.count, answered)
    sys.stdout.write("\n".join(_closing(case_counts, missing, folder / runner.FILE)) + "\n")
    if case_counts.failures:
        return 1
    return 3 if missing else 0


def _files(runs: list[Path]) -> list[Path]:
    """The files with the answers of earlier runs."""
    files = [run / "cases.jsonl" if run.is_dir() else run for run in runs]
    for file in files:
        if not file.is_file():
            raise UsageError(f"there are no answers in {file}", "--after takes the folder of an earlier run.")
    return files


def _engines(names: list[str]) -> list[EngineSpec]:
    from delta_adapters.registry import UnknownEngine, parse_engine  # noqa: PLC0415 - --help needs no engine

    try:
        return list({str(spec): spec for spec in map(parse_engine, names or ["reference"])}.values())
    except UnknownEngine as error:
        raise UsageError(str(error), "`conformance engines` lists them.") from error


def _answerers(specs: list[EngineSpec], work: Path, stack: ExitStack) -> tuple[list[Answerer], list[str]]:
    from conformance.corpus.engine_reader import HostReader, NotAvailable  # noqa: PLC0415 - loads pyarrow
    from conformance.corpus.oracle import NAME, Oracle  # noqa: PLC0415 - the same

    answerers: list[Answerer] = []
    missing: list[str] = []
    for spec in specs:
        if str(spec) == NAME:
            answerers.append(Oracle())
            continue
        try:
            reader = HostReader(spec, work / f"host{len(answerers)}")
        except NotAvailable as error:
            missing.append(f"{spec} can't run here: {error}")
            continue
        stack.callback(reader.close)
        answerers.append(reader)
    return answerers, missing


class CorpusProgress:
    """Shows how far the run is: a bar on a terminal, a line for each tenth elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._failed = 0
        self._bar = sys.stderr.isatty()
        self._step = max(total // 10, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def count(self, line: CaseLine) -> None:
        """Count an answer."""
        self._done += 1
        self._failed += line.verdict.result == "failed"
        if self._bar:
            filled = 30 * self._done // self._total
            bar = "━" * filled + "╌" * (30 - filled)
            text = (
                f"\r\x1b[K{bar} {self._done}/{self._total}  {self._failed} failed  {line.question.case[:40]}"
            )
            sys.stderr.write(text)
            sys.stderr.flush()
        elif self._done % self._step == 0 or self._done == self._total:
            sys.stdout.write(f"{self._done} of {self._total} asked, {self._failed} failed\n")
            sys.stdout.flush()


def _closing(case_counts: CaseCounts, missing: list[str], file: Path) -> Iterator[str]:
    results = ("passed", "failed", "out of scope")
    yield ""
    rows = sorted({key[:3] for key in case_counts.counts})
    widths = [max([len(row[column]) for row in rows] + [6]) for column in range(3)]
    heads = ("engine", "corpus", "kind")
    yield "  ".join([*(head.ljust(width) for head, width in zip(heads, widths, strict=True)), *results])
    for row in rows:
        counts = [str(case_counts.counts[(*row, result)]).rjust(len(result)) for result in results]
        yield "  ".join([*(part.ljust(width) for part, width in zip(row, widths, strict=True)), *counts])
    totals = [
        str(sum(count for key, count in case_counts.counts.items() if key[3] == result)).rjust(len(result))
        for result in results
    ]
    yield "  ".join(["total".ljust(widths[0]), " " * widths[1], " " * widths[2], *totals])
    if case_counts.failures:
        yield ""
    for line in case_counts.failures[:MOST_SHOWN]:
        question = line.question
        yield f"failed: {line.engine} {question.corpus} {question.case} {question.spec}"
        yield f"        {one_line(line.verdict.why, 240)}"
    if len(case_counts.failures) > MOST_SHOWN:
        yield f"... and {len(case_counts.failures) - MOST_SHOWN} more in the file"
    yield ""
    yield from missing
    total = sum(case_counts.counts.values())
    yield f"{plural(total, 'question')} in {seconds(case_counts.seconds)}. Written: {here(file)}"
