"""The summary of a job: at most 20 lines, with everything else folded away below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.reporting.claims import VERDICTS
from conformance.reporting.github.notices import LONGEST, Notice, at_most, notices
from conformance.reporting.markdown import EXITS, SIGNS, amount, body, escape
from conformance.reporting.results import EngineResult, Results
from conformance.reporting.terminal.final_summary import HEADLINES
from conformance.reporting.text import plural

LINES = 20
ENGINES = 4
NOTICES = 6
LARGEST = 1_000_000  # bytes; GitHub refuses a summary of more than a mebibyte
MARKS = {"error": "❌", "warning": "⚠️", "notice": "🟪"}
WIDTH = 240


def job_summary(results: Results) -> str:
    """The summary, as Markdown."""
    folded = [*_whole(notices(results)), "", *body(results)]
    details = "\n".join(["<details><summary>Details</summary>", "", *folded, "", "</details>", ""])
    top = "\n".join(_visible(results))
    if len(f"{top}{details}".encode(errors="replace")) > LARGEST:
        details = "The details are too long for this page: the file report.html has them.\n"
    return f"{top}\n{details}"


def failure_summary(message: str) -> str:
    """The summary of a job whose command could not do what it was asked for."""
    first, *rest = message.splitlines() or [""]
    lines = [f"## {EXITS[2]} Nothing was tested", "", escape(first), *(escape(line) for line in rest)]
    return "\n".join(lines[: LINES - 1]) + "\n"


def _visible(results: Results) -> Iterator[str]:
    outcome = results.outcome
    yield f"## {EXITS[outcome.exit]} {HEADLINES[outcome.exit]}"
    yield ""
    parts = list(dict.fromkeys(cells.part for cells in results.cells))
    yield escape(amount(results) + (f"; {plural(len(parts), 'part')}: {', '.join(parts)}" if parts else ""))
    yield ""
    yield from _engine_table(results)
    yield ""
    for notice in at_most(NOTICES, notices(results), "below"):
        yield _line(notice)
    yield ""


def _whole(found: Sequence[Notice]) -> Iterator[str]:
    """All notices with all their lines."""
    for notice in found:
        yield f"- {MARKS[notice.level]} **{escape(notice.title, WIDTH)}**"
        yield from (f"  <br>{escape(line, LONGEST)}" for line in notice.lines)


def _engine_table(results: Results) -> Iterator[str]:
    yield "| Engine | Operations | Claims |"
    yield "|---|---:|---|"
    shown = results.engines if len(results.engines) <= ENGINES else results.engines[: ENGINES - 1]
    for engine in shown:
        yield f"| {escape(engine.label, 80)} | {engine.operations:,} | {_claims(engine, results)} |"
    if len(results.engines) > len(shown):
        yield f"| and {len(results.engines) - len(shown)} more | | |"


def _claims(engine: EngineResult, results: Results) -> str:
    if engine.status != "tested":
        return f"not available: {escape(engine.why or '', WIDTH)}"
    verdicts = Counter(claim.verdict for claim in results.claims if claim.setting.engine == engine.label)
    return (
        ", ".join(
            f"{SIGNS[verdict]} {verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if verdicts[verdict]
        )
        or "none"
    )


def _line(notice: Notice) -> str:
    first = next(iter(notice.lines), "")
    return f"- {MARKS[notice.level]} **{escape(notice.title, WIDTH)}**: {escape(first, WIDTH)}"
