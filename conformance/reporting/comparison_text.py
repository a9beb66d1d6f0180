"""A comparison of two runs for a terminal, at most a screen in the normal case, and for a comment in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.reporting.comparison import CHANGES, Change, Comparison, EngineComparison, FindingChange
from conformance.reporting.comparison_view import (
    commands,
    counts,
    evidence_lines,
    headline,
    history_of,
    run_line,
    title,
)
from conformance.reporting.markdown import code, escape
from conformance.reporting.text import harmless, one_line

WHOLE: dict[Change, int] = {
    "regressed": 4,
    "inconclusive": 2,
}  # findings that the terminal shows with their histories
LISTED = 4  # the others, in a line each
STEPS = 8  # of a history
WIDTH = 110


def terminal_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison for a terminal: the most severe first, and what is no news as counts."""
    yield headline(comparison)
    yield from (f"  - {one_line(gap, WIDTH * 2)}" for gap in comparison.gaps)
    yield f"  OLD {run_line(comparison.old)}"
    yield f"  NEW {run_line(comparison.new)}"
    yield from (f"  {one_line(note, WIDTH * 2)}" for note in comparison.notes)
    for engine in comparison.engines:
        yield ""
        yield f"{_labels(engine)}: {counts(engine)}"
        yield from (f"  {line}" for line in evidence_lines(engine))
        for change in CHANGES:
            yield from _group(engine, change)


def markdown_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison for a comment on a pull request: all findings with their histories, folded where they are old."""
    yield f"## {escape(headline(comparison))}"
    yield ""
    yield from (f"- {escape(gap)}" for gap in comparison.gaps)
    yield f"- OLD {escape(run_line(comparison.old))}"
    yield f"- NEW {escape(run_line(comparison.new))}"
    yield from (f"- {escape(note)}" for note in comparison.notes)
    for engine in comparison.engines:
        yield ""
        yield f"### {escape(_labels(engine))}"
        yield ""
        yield f"{escape(counts(engine))}"
        yield from (f"\n{escape(line)}" for line in evidence_lines(engine))
        for change, meaning in CHANGES.items():
            if found := engine.of(change):
                yield from _markdown_group(engine, change, meaning, found)


def _labels(engine: EngineComparison) -> str:
    return engine.after if engine.before == engine.after else f"{engine.before} -> {engine.after}"


def _group(engine: EngineComparison, change: Change) -> Iterator[str]:
    """The findings that changed in one way, the first of them whole if that is news."""
    found = engine.of(change)
    if not found:
        return
    yield f"  {change}: {CHANGES[change]}"
    whole = WHOLE.get(change, 0)
    for finding in found[:whole]:
        yield from _whole(engine, finding)
    rest = found[whole:]
    yield from (f"    {one_line(title(finding.finding), WIDTH)}" for finding in rest[:LISTED])
    if len(rest) > LISTED:
        yield f"    and {len(rest) - LISTED} more: --format markdown shows all"
    if change != "still failing" and not whole:
        yield from (f"      {command}" for command in commands(engine, rest[0])[-1:])


def _whole(engine: EngineComparison, change: FindingChange) -> Iterator[str]:
    finding = change.finding
    yield f"    {one_line(title(finding), WIDTH)}"
    yield f"      {one_line(finding.detail, WIDTH * 2)}"
    if change.why:
        yield f"      {change.why}"
    history = history_of(finding)
    if history.problem:
        yield f"      {one_line(history.problem, WIDTH)}"
    yield from (f"      {one_line(line, WIDTH)}" for line in _ends(history.lines))
    yield from (f"      {command}" for command in commands(engine, change))


def _ends(lines: tuple[str, ...]) -> Iterator[str]:
    """The lines, or if they are many the first of them and the last."""
    if len(lines) <= STEPS:
        yield from lines
        return
    half = STEPS // 2
    yield from lines[:half]
    yield f"     ... {len(lines) - 2 * half} more"
    yield from lines[-half:]


def _markdown_group(
    engine: EngineComparison, change: Change, meaning: str, found: tuple[FindingChange, ...]
) -> Iterator[str]:
    news = change in WHOLE
    yield ""
    if news:
        yield f"**{change}** ({len(found)}): {escape(meaning)}"
    else:
        yield f"<details><summary>{change} ({len(found)}): {escape(meaning)}</summary>"
    yield ""
    for finding in found:
        yield from _markdown_finding(engine, finding)
    if not news:
        yield ""
        yield "</details>"


def _markdown_finding(engine: EngineComparison, change: FindingChange) -> Iterator[str]:
    yield f"- {escape(title(change.finding))}"
    yield f"  <br>{escape(change.finding.detail)}"
    if change.why:
        yield f"  <br>{escape(change.why)}"
    yield from (f"  <br>{code(command)}" for command in commands(engine, change))
    history = history_of(change.finding)
    if history.problem:
        yield f"  <br>{escape(history.problem)}"
        return
    fence = "~" * 4
    yield ""
    yield f"  {fence}text"
    yield from (f"  {_fenced(line)}" for line in history.lines)
    yield f"  {fence}"
    yield ""


def _fenced(line: str) -> str:
    """A line inside a fence, which none of its characters can end."""
    return harmless(line, keep="").replace("~~~", "~ ~ ~")
