"""The last lines of a run: the verdict with its reasons, the counts, the findings and the path of the report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from conformance.reporting.claims import VERDICTS
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.text import here, one_line, plural, replay_command, seconds

REASONS = 8
ALONE = 1500  # characters of a reason that is the only one: it names the cause and what to do
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
    fresh = [finding for finding in results.findings if finding.event.fresh]
    unpromised = [
        finding.event
        for finding in results.findings
        if not finding.event.promised and not finding.event.known
    ]
    known = [finding.event for finding in results.findings if finding.event.known]
    lines = []
    if fresh:
        lines += ["", f"{plural(len(fresh), 'finding')}:"]
        for finding in fresh:
            lines += _finding(finding)
    if known:
        lines += [
            "",
            f"{plural(len(known), 'known deviation')} seen; `conformance explain FINGERPRINT` tells each:",
        ]
        lines += [f"  {finding.fingerprint} {finding.engine} {finding.requirement}" for finding in known]
    if unpromised:
        lines += ["", f"{plural(len(unpromised), 'difference')} in what an engine does not guarantee:"]
        lines += [f"  {finding.fingerprint} {finding.engine} {finding.requirement}" for finding in unpromised]
    return lines


def _finding(finding: FindingResult) -> list[str]:
    event = finding.event
    return [
        f"  {event.fingerprint} {event.engine} {event.requirement} ({event.strength}), {plural(event.steps, 'step')}",
        f"    {one_line(event.detail)}",
        f"    {replay_command(finding.folder)}",
    ]
