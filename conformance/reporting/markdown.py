"""`report.md`: the results for a comment on a pull request."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.reporting import fault_summary
from conformance.reporting.atomic_write import write_whole
from conformance.reporting.claims import VERDICTS
from conformance.reporting.conflict_matrix import CELLS, HEAD, conflicts
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.terminal.final_summary import HEADLINES
from conformance.reporting.text import one_line, plural, replay_command, seconds
from conformance.reporting.view_models import MatrixCell, areas, tested_engines

SIGNS = {
    "holds": "✅", "violated": "❌", "differs": "🟧", "known-deviation": "🟪", "not-guaranteed": "⚪",
    "unsupported": "🚫", "not-enough-evidence": "⬜",
}  # fmt: skip
EXITS = {0: "✅", 1: "❌", 2: "🛠️", 3: "❔", 130: "⏹️"}
REASONS = 6


def write(results: Results, path: Path) -> None:
    """The report as a file."""
    write_whole(path, text(results))


def text(results: Results) -> str:
    """The report: verdict, engines, findings, then the matrix folded away."""
    first = results.runs[0]
    lines = [f"## {EXITS[results.outcome.exit]} {HEADLINES[results.outcome.exit]}", ""]
    lines += [f"- {escape(reason)}" for reason in results.outcome.reasons[:REASONS]]
    if len(results.outcome.reasons) > REASONS:
        lines.append(f"- and {len(results.outcome.reasons) - REASONS} more")
    steps = sum(suite.steps for suite in results.suites)
    histories = sum(suite.histories for suite in results.suites)
    amount = (
        f"{plural(steps, 'step')} in {plural(histories, 'history', 'histories')}, {seconds(results.seconds)}"
    )
    lines += [
        "",
        f"delta-conformance {first.harness}, profile {first.profile}, seed {first.seed}: {amount}.",
        "",
        *_engines(results),
        "",
        *_findings(results),
        *_matrix(results),
        *_faults(results),
        *_conflicts(results),
    ]
    return "\n".join(lines) + "\n"


def escape(said: str, width: int = 300) -> str:
    """Text on one line, with nothing in it that Markdown or HTML could act on; `@` and `#` call nobody."""
    marked = re.sub(r"([\\`*_{}\[\]()#+!|~$-])", r"\\\1", one_line(said, width))
    return html.escape(marked, quote=False).replace("@", "@\u2060")


def code(said: str, width: int = 300) -> str:
    """Text as it stands, between as many backticks as it needs, on one line and fit for a table."""
    flat = one_line(said, width).replace("|", "\\|")
    longest = max((len(each) for each in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if longest else ""
    return f"{fence}{gap}{flat}{gap}{fence}"


def _engines(results: Results) -> list[str]:
    lines = ["| Engine | Operations | " + " | ".join(VERDICTS) + " |", "|---|---:|" + "---:|" * len(VERDICTS)]
    for engine in results.engines:
        if engine.status != "tested":
            lines.append(
                f"| {escape(engine.label)} | not available: {escape(engine.why or '')} |"
                + " |" * len(VERDICTS)
            )
            continue
        counts = Counter(claim.verdict for claim in results.claims if claim.cell.engine == engine.label)
        cells = " | ".join(f"{counts[verdict]:,}" for verdict in VERDICTS)
        lines.append(f"| {escape(engine.label)} | {engine.operations:,} | {cells} |")
    return lines


def _findings(results: Results) -> list[str]:
    fresh = [finding for finding in results.findings if finding.event.fresh]
    known = [finding for finding in results.findings if finding.event.known]
    unpromised = [
        finding for finding in results.findings if not finding.event.fresh and not finding.event.known
    ]
    lines = []
    if fresh:
        lines += [f"### {plural(len(fresh), 'finding')}", ""]
        for each in fresh:
            lines += _finding(each)
    for title, which in (
        ("known deviation", known),
        ("difference in what an engine does not guarantee", unpromised),
    ):
        if which:
            lines += [f"<details><summary>{plural(len(which), title)}</summary>", ""]
            lines += [
                f"- {code(each.event.fingerprint)} {escape(each.event.engine)}, {code(each.event.requirement)}"
                for each in which
            ]
            lines += ["", "</details>", ""]
    return lines


def _finding(each: FindingResult) -> list[str]:
    event = each.event
    amount = f"{plural(event.steps, 'step')}, fingerprint {code(event.fingerprint)}"
    return [
        f"- **{code(event.requirement)}** ({event.strength}) on {escape(event.engine)}, {amount}",
        f"  <br>{escape(event.detail)}",
        f"  <br>{code(replay_command(each.folder))}",
        "",
    ]


def _matrix(results: Results) -> list[str]:
    engines = tested_engines(results)
    if not engines:
        return []
    lines = ["<details><summary>Requirements and engines</summary>", ""]
    lines += [
        "| Requirement | Class | " + " | ".join(map(escape, engines)) + " |",
        "|---|---|" + "---|" * len(engines),
    ]
    lines += [
        f"| {code(line.id)} | {line.strength} | "
        + " | ".join(_square(square) for square in line.squares)
        + " |"
        for area in areas(results)
        for line in area.lines
        if line.asked
    ]
    signs = ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
    return [*lines, "", f"{signs}; with checks and histories.", "", "</details>"]


def _faults(results: Results) -> list[str]:
    rows = [strike.cells for strike in fault_summary.strikes(results.struck)]
    return _folded(
        fault_summary.TITLE, fault_summary.HEAD, "|---|---|---|---:|---:|---:|---|", rows, fault_summary.CELLS
    )


def _conflicts(results: Results) -> list[str]:
    rows = [conflict.cells for conflict in conflicts(results.raced)]
    return _folded("Writers at once", HEAD, "|---|---|---|---|---|---:|---:|---|", rows, CELLS)


def _folded(
    title: str, head: Sequence[str], below: str, rows: Sequence[Sequence[str]], hint: str
) -> list[str]:
    """A table with its explanation, folded away; nothing where it would be empty."""
    if not rows:
        return []
    lines = ["| " + " | ".join(map(escape, row)) + " |" for row in rows]
    top = ["| " + " | ".join(head) + " |", below]
    return ["", f"<details><summary>{title}</summary>", "", *top, *lines, "", hint, "", "</details>"]


def _square(square: MatrixCell | None) -> str:
    if square is None:
        return ""
    weight = f" {square.weight.checks:,} in {square.weight.histories}" if square.weight.checks else ""
    return f"{SIGNS[square.verdict]}{weight}{' **core**' if square.core else ''}"
