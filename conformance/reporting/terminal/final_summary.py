"""The last lines of a run: the verdict with its reasons, the counts, the findings and the path of the report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from conformance.reporting.claims import VERDICTS
from conformance.reporting.finding_groups import (
    KNOWN,
    clusters,
    finding_groups,
    in_order,
    length,
    says,
    weight,
)
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.text import here, one_line, plural, replay_command, seconds, shrink_command

REASONS = 8
ALONE = 1500  # characters of a reason that is the only one: it names the cause and what to do
UNSHRUNK = 6
HEADLINES = {
    0: "HOLDS: all of the core holds",
    1: "VIOLATED: a requirement does not hold",
    2: "NO VERDICT: the harness, or what was asked, is at fault",
    3: "INCONCLUSIVE: not enough was tested to say that the core holds",
    130: "STOPPED before its end; what was found until then is kept",
}


def closing_lines(results: Results, report: Path | None) -> list[str]:
    """The last lines of a run, or of a report over several."""
    lines = ["", f"{HEADLINES[results.outcome.exit]} (exit {results.outcome.exit})"]
    reasons = results.outcome.reasons
    width = 200 if len(reasons) > 1 else ALONE
    lines += [f"  - {one_line(reason, width)}" for reason in reasons[:REASONS]]
    if len(reasons) > REASONS:
        lines.append(f"  - and {len(reasons) - REASONS} more, in the report")
    lines.append("")
    for engine in results.engines:
        if engine.status == "tested":
            done = plural(engine.operations, "operation")
            lines.append(f"  {engine.label:<22} {done}, {seconds(engine.engine_seconds)} in the engine")
        else:
            lines.append(f"  {engine.label:<22} not available: {one_line(engine.why or '', 90)}")
    for suite in results.suites:
        cut = "" if suite.complete else ", cut"
        lines.append(
            f"  {suite.name:<22} {plural(suite.histories, 'history', 'histories')}, {plural(suite.steps, 'step')}{cut}"
        )
    lines += [
        f"  {f'{cells.engine} {cells.part}':<22} {cells.covered} of {cells.wanted} cells covered"
        for cells in results.cells
    ]
    lines.append(f"  {'claims':<22} {counts(results) or 'none'}")
    lines.append(f"  {'time':<22} {seconds(results.seconds)}")
    lines += _finding_lines(results)
    if report is not None:
        lines += ["", f"Report: {here(report)}"]
    return lines


def counts(results: Results) -> str:
    """How many claims have each verdict."""
    verdicts = Counter(claim.verdict for claim in results.claims)
    return ", ".join(f"{verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if verdicts[verdict])


def _finding_lines(results: Results) -> list[str]:
    lines: list[str] = []
    for group in finding_groups(results.findings):
        if group.kind.serious:
            lines += ["", f"{group.title}:"]
            for finding, others in clusters(group):
                lines += _finding(finding)
                lines += [f"    and {others} more that break it, in the report"] if others else []
        elif group.kind is KNOWN:
            lines += ["", f"{group.title} seen; `conformance explain CAUSE` tells each:"]
            lines += [_known(finding) for finding in group.findings]
        else:
            lines += ["", f"{group.title}:"]
            lines += [
                f"  {finding.event.engine} {finding.event.requirement}: {one_line(says(finding))}"
                for finding in group.findings
            ]
    return [*lines, *_left_unshrunk(results)]


def _finding(finding: FindingResult) -> list[str]:
    event = finding.event
    further = [requirement for requirement in finding.requirements if requirement != event.requirement]
    also = f"; breaks {', '.join(further)} too" if further else ""
    times = f"; {plural(finding.sightings, 'sighting')}" if finding.sightings > 1 else ""
    return [
        f"  {event.fingerprint} {event.engine} {event.requirement} ({event.strength}): {one_line(says(finding))}",
        f"    {one_line(event.detail)}",
        f"    {length(finding)}{times}{also}",
        f"    {replay_command(finding.folder)}",
    ]


def _known(finding: FindingResult) -> str:
    event = finding.event
    name = event.cause or f"{event.fingerprint} {event.requirement}"
    baseline = "" if event.cause else "in the baseline: "
    return f"  {name} ({event.engine}, {weight(finding)}): {baseline}{one_line(says(finding), 120)}"


def _left_unshrunk(results: Results) -> list[str]:
    """What the run had no time to make smaller, with the command that does."""
    left = [
        finding
        for finding in results.findings
        if finding.event.fresh and finding.event.state == "unexplained" and not finding.shrunk
    ]
    if not left:
        return []
    lines = ["", f"Left unshrunk, for want of time: {plural(len(left), 'finding')}. To go on:"]
    lines += [f"  {shrink_command(finding.folder)}" for finding in in_order(left)[:UNSHRUNK]]
    return [*lines, f"  and {len(left) - UNSHRUNK} more"] if len(left) > UNSHRUNK else lines
