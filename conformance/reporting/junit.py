"""`junit.xml`: a test case for each claim, for CI servers.

A violation is a failure, whether it is new, unexplained or unstable. A difference is a failure if it fails the run. A
claim whose findings are all known is skipped with their causes. One with too little evidence, or about something that
the engine does not support, is skipped with its reason. None of them counts as passed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.claims import VERDICTS, Claim
from conformance.reporting.exit_status import is_strict
from conformance.reporting.finding_groups import in_order, length, says
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.text import harmless, one_line, replay_command


def write(results: Results, path: Path) -> None:
    """Write the report to a file."""
    write_whole(path, text(results))


def text(results: Results) -> str:
    """The document: a suite for each engine, a case for each claim, and faults of the harness as errors."""
    strict = frozenset(engine.label for engine in results.engines if is_strict(engine.compatible_with))
    findings = {(finding.event.fingerprint, finding.event.engine): finding for finding in results.findings}
    suites = [
        _suite(engine.label, strict, findings, results)
        for engine in results.engines
        if engine.status == "tested"
    ]
    suites += [_harness(results)]
    root = ET.Element("testsuites", name="delta-conformance")
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", f"{results.seconds:.3f}")
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(
    name: str,
    strict: frozenset[str],
    findings: dict[tuple[str, str], FindingResult],
    results: Results,
) -> ET.Element:
    cases = [_case(claim, strict, findings) for claim in results.claims if claim.setting.engine == name]
    return _counted(name, cases, results)


def _case(claim: Claim, strict: frozenset[str], findings: dict[tuple[str, str], FindingResult]) -> ET.Element:
    setting, evidence = claim.setting, claim.evidence
    words = [setting.role]
    words += [f"with {' and '.join(setting.with_engines)}"] if setting.with_engines else []
    words += list(setting.features)
    words += [f"{setting.processes} processes"] if setting.processes != "one" else []
    words += [setting.storage] if setting.storage != "local" else []
    case = ET.Element(
        "testcase",
        name=_clean(f"{setting.requirement} [{', '.join(words)}]"),
        classname=_clean(setting.engine),
        time="0",
    )
    explained = VERDICTS[claim.verdict]
    if claim.verdict == "violated" or (claim.verdict == "differs" and setting.engine in strict):
        kept = [
            findings[key]
            for name in claim.findings
            if (key := (name, setting.engine)) in findings and findings[key].event.fresh
        ]
        failure = ET.SubElement(
            case, "failure", type=claim.verdict, message=_clean(_message(kept) or explained)
        )
        failure.text = _clean("\n".join(_failure(finding) for finding in in_order(kept)))
    elif claim.verdict == "known-deviation":
        kept = [findings[key] for name in claim.findings if (key := (name, setting.engine)) in findings]
        ET.SubElement(case, "skipped", message=_clean("; ".join(map(_known, kept)) or explained))
    elif claim.verdict in {"not-enough-evidence", "unsupported", "not-guaranteed"}:
        ET.SubElement(case, "skipped", message=_clean(f"{claim.verdict}: {claim.why or claim.shortfall}"))
    out = ET.SubElement(case, "system-out")
    out.text = _clean(
        f"{claim.verdict}: {evidence.checks} checks in {evidence.histories} histories"
        + ("".join(f"\nfinding {finding}" for finding in claim.findings))
    )
    return case


def _harness(results: Results) -> ET.Element:
    """The faults of the run itself, so that a server never shows green for a run without a verdict."""
    cases = []
    for fault in results.faults:
        case = ET.Element(
            "testcase", name=_clean(one_line(fault.message, 120)), classname="harness", time="0"
        )
        error = ET.SubElement(case, "error", type="harness-fault", message=_clean(fault.message))
        error.text = _clean(fault.detail)
        cases.append(case)
    run = ET.Element("testcase", name="the run is conclusive", classname="harness", time="0")
    if results.outcome.exit not in {0, 1}:
        ET.SubElement(
            run, "error", type=results.outcome.verdict, message=_clean("; ".join(results.outcome.reasons[:4]))
        )
    return _counted("harness", [*cases, run], results)


def _counted(name: str, cases: list[ET.Element], results: Results) -> ET.Element:
    suite = ET.Element("testsuite", name=_clean(name), tests=str(len(cases)))
    for kind, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(plural, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("time", f"{results.seconds:.3f}")
    suite.set("timestamp", results.runs[0].started[:19])
    suite.set("hostname", "localhost")
    suite.extend(cases)
    return suite


def _failure(finding: FindingResult) -> str:
    """What a person needs to look at a finding."""
    event = finding.event
    kind = event.state or "new"
    return f"{kind} ({length(finding)}): {event.detail}\n{replay_command(finding.folder)}"


def _known(finding: FindingResult) -> str:
    """By what a finding is known."""
    cause = finding.event.cause
    return f"known: {cause}: {says(finding)}" if cause else f"known, in the baseline: {says(finding)}"


def _message(findings: Sequence[FindingResult]) -> str:
    return "; ".join(one_line(finding.event.detail, 160) for finding in in_order(findings)[:3])


def _clean(text: str) -> str:
    """Escape what XML can't hold: most control characters and lone surrogates."""
    return harmless(text, keep="\n\t")
