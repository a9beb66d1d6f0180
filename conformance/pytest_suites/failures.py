"""What a failed test says of findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.findings.storage import FindingError, load_finding
from conformance.findings.text import history_lines
from conformance.reporting.finding_groups import length
from conformance.reporting.results import FindingResult
from conformance.reporting.text import harmless, plural, replay_command

SHOWN = 3  # findings that a test shows whole
STEPS = 40  # lines of a history that a test shows


def finding_lines(findings: Sequence[FindingResult]) -> Iterator[str]:
    """What a person needs of findings: the fault, the smallest history, what triage tried, the line that replays."""
    for finding in findings[:SHOWN]:
        event = finding.event
        yield ""
        yield harmless(
            f"finding {event.fingerprint} ({event.state or 'new'}, {length(finding)}): {event.detail}"
        )
        yield from (f"  {line}" for line in _history(finding))
        if finding.why:
            yield harmless(f"  {finding.why}")
        yield f"  {replay_command(finding.folder)}"
    if len(findings) > SHOWN:
        yield ""
        yield f"and {plural(len(findings) - SHOWN, 'finding')} more, in the report"


def _history(finding: FindingResult) -> Iterator[str]:
    try:
        kept = load_finding(finding.folder)
    except FindingError as error:
        yield f"its history can't be shown: {error}"
        return
    lines = history_lines(kept.minimal or kept.history)
    yield from map(harmless, lines[:STEPS])
    if len(lines) > STEPS:
        yield f"and {plural(len(lines) - STEPS, 'step')} more"
