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
from conformance.reporting.conflict_matrix import CELLS, HEAD, conflict_rows
from conformance.reporting.finding_groups import clusters, finding_groups, length, says, weight
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.terminal.final_summary import HEADLINES
from conformance.reporting.text import one_line, plural, replay_command, seconds, shrink_command
from conformance.reporting.view_models import MatrixCell, areas, tested_engines

SIGNS = {
    "holds": "✅", "violated": "❌", "differs": "🟧", "known-deviation": "🟪", "not-guaranteed": "⚪",
    "unsupported": "🚫", "not-enough-evidence": "⬜",
}  # fmt: skip
EXITS = {0: "✅", 1: "❌", 2: "🛠️", 3: "❔", 130: "⏹️"}
REASONS = 6


def write(results: Results, path: Path) -> None:
    """Write the report to a file."""
    write_whole(path, text(results))


def text(results: Results) -> str:
    """The report: verdict, engines, findings, then the matrix folded away."""
    lines = [f"## {EXITS[results.outcome.exit]} {HEADLINES[results.outcome.exit]}", ""]
    lines += [f"- {escape(reason)}" for reason in results.outcome.reasons[:REASONS]]
    if len(results.outcome.reasons) > REASONS:
        lines.append(f"- and {len(results.outcome.reasons) - REASONS} more")
    lines += ["", f"{amount(results)}.", "", *body(results)]
    return "\n".join(lines) + "\n"


def amount(results: Results) -> str:
    """What was played: the harness, the profile, the seed, and how much."""
    first = results.runs[0]
    steps = sum(suite.steps for suite in results.suites)
    histories = sum(suite.histories for suite in results.suites)
    return (
        f"delta-conformance {first.harness}, profile {first.profile}, seed {first.seed}: {plural(steps, 'step')} in "
        f"{plural(histories, 'history', 'histories')}, {seconds(results.seconds)}"
    )


def body(results: Results) -> list[str]:
    """The lines below the verdict: engines, findings, the matrix, faults and races."""
    return [
        *_engines(results),
        "",
        *_findings(results),
        *_matrix(results),
        *_faults(results),
        *_conflicts(results),
    ]


def escape(said: str, width: int = 300) -> str:
    """Text on one line with nothing that Markdown or HTML acts on; `@` and `#` make no links."""
    marked = re.sub(r"([\\`*_{}\[\]()#+!|~$-])", r"\\\1", one_line(said, width))
    return html.escape(marked, quote=False).replace("@", "@\u2060")


def code(said: str, width: int = 300) -> str:
    """Text as it stands, between as many backticks as it needs, on one line and fit for a table."""
    flat = one_line(said, width).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
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
        counts = Counter(claim.verdict for claim in results.claims if claim.setting.engine == engine.label)
        cells = " | ".join(f"{counts[verdict]:,}" for verdict in VERDICTS)
        lines.append(f"| {escape(engine.label)} | {engine.operations:,} | {cells} |")
    return lines


def _findings(results: Results) -> list[str]:
    lines = []
    for group in finding_groups(results.findings):
        if group.kind.serious:
            lines += [f"### {group.title}", "", f"{group.kind.meaning}", ""]
            for finding, others in clusters(group):
                lines += _finding(finding, others)
            continue
        lines += [f"<details><summary>{group.title}</summary>", "", group.kind.meaning, ""]
        lines += [_folded_finding(finding) for finding in group.findings]
        lines += ["", "</details>", ""]
    return lines


def _finding(finding: FindingResult, others: int) -> list[str]:
    event = finding.event
    amount = f"{length(finding)}, {weight(finding)}, fingerprint {code(event.fingerprint)}"
    lines = [
        f"- **{code(event.requirement)}** ({event.strength}) on {escape(event.engine)}: {escape(says(finding))}",
        f"  <br>{escape(event.detail)}",
        f"  <br>{amount}",
        f"  <br>{code(replay_command(finding.folder))}",
    ]
    if event.state == "unexplained" and not finding.shrunk:
        lines.append(f"  <br>left unshrunk: {code(shrink_command(finding.folder))}")
    if others:
        lines.append(f"  <br>and {others} more that break it")
    return [*lines, ""]


def _folded_finding(finding: FindingResult) -> str:
    event = finding.event
    name = event.cause or event.requirement
    return f"- {code(name)} on {escape(event.engine)}, {weight(finding)}: {escape(says(finding))}"


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
        f"| {code(row.id)} | {row.strength} | " + " | ".join(_cell(cell) for cell in row.cells) + " |"
        for area in areas(results)
        for row in area.rows
        if row.checked
    ]
    signs = ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
    return [*lines, "", f"{signs}; with checks and histories.", "", "</details>"]


def _faults(results: Results) -> list[str]:
    rows = [row.cells for row in fault_summary.fault_rows(results.struck)]
    return _folded(
        fault_summary.TITLE, fault_summary.HEAD, "|---|---|---|---:|---:|---:|---|", rows, fault_summary.CELLS
    )


def _conflicts(results: Results) -> list[str]:
    rows = [row.cells for row in conflict_rows(results.raced)]
    return _folded("Writers at once", HEAD, "|---|---|---|---|---|---:|---:|---|", rows, CELLS)


def _folded(
    title: str, head: Sequence[str], below: str, rows: Sequence[Sequence[str]], hint: str
) -> list[str]:
    """A folded table with its explanation; nothing if it has no rows."""
    if not rows:
        return []
    lines = ["| " + " | ".join(map(escape, row)) + " |" for row in rows]
    top = ["| " + " | ".join(head) + " |", below]
    return ["", f"<details><summary>{title}</summary>", "", *top, *lines, "", hint, "", "</details>"]


def _cell(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    evidence = f" {cell.evidence.checks:,} in {cell.evidence.histories}" if cell.evidence.checks else ""
    return f"{SIGNS[cell.verdict]}{evidence}{' **core**' if cell.core else ''}"
