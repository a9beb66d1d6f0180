"""`junit.xml`: a test case a claim, for CI servers.

A violation is a failure; so is a difference of an engine for which it fails the run. What says nothing, because the
evidence is too little or the engine does not do it, is skipped with its reason: never passed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.claims import VERDICTS, Claim
from conformance.reporting.exit_status import is_strict
from conformance.reporting.results import FindingResult, Results
from conformance.reporting.text import harmless, one_line, replay_command


def write(results: Results, path: Path) -> None:
    """The report as a file."""
    write_whole(path, text(results))


def text(results: Results) -> str:
    """The document: a suite an engine, a case a claim, and the harness' own faults as errors."""
    strict = frozenset(engine.label for engine in results.engines if is_strict(engine.compatible_with))
    found = {(finding.event.fingerprint, finding.event.engine): finding for finding in results.findings}
    suites = [
        _suite(engine.label, strict, found, results)
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
    found: dict[tuple[str, str], FindingResult],
    results: Results,
) -> ET.Element:
    cases = [_case(claim, strict, found) for claim in results.claims if claim.cell.engine == name]
    return _counted(name, cases, results)


def _case(claim: Claim, strict: frozenset[str], found: dict[tuple[str, str], FindingResult]) -> ET.Element:
    cell, weight = claim.cell, claim.weight
    setting = [cell.role]
    setting += [f"with {' and '.join(cell.with_engines)}"] if cell.with_engines else []
    setting += list(cell.features)
    setting += [f"{cell.processes} processes"] if cell.processes != "one" else []
    setting += [cell.storage] if cell.storage != "local" else []
    case = ET.Element(
        "testcase",
        name=_clean(f"{cell.requirement} [{', '.join(setting)}]"),
        classname=_clean(cell.engine),
        time="0",
    )
    explained = VERDICTS[claim.verdict]
    if claim.verdict == "violated" or (claim.verdict == "differs" and cell.engine in strict):
        findings = [found[key] for finding in claim.findings if (key := (finding, cell.engine)) in found]
        failure = ET.SubElement(
            case, "failure", type=claim.verdict, message=_clean(_message(findings) or explained)
        )
        failure.text = _clean(
            "\n".join(f"{finding.event.detail}\n{replay_command(finding.folder)}" for finding in findings)
        )
    elif claim.verdict in {"not-enough-evidence", "unsupported", "not-guaranteed"}:
        ET.SubElement(case, "skipped", message=_clean(f"{claim.verdict}: {claim.why or claim.shortfall}"))
    out = ET.SubElement(case, "system-out")
    out.text = _clean(
        f"{claim.verdict}: {weight.checks} checks in {weight.histories} histories"
        + ("".join(f"\nfinding {finding}" for finding in claim.findings))
    )
    return case


def _harness(results: Results) -> ET.Element:
    """What is wrong with the run itself, so that a server never shows green for a run that says nothing."""
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


def _message(findings: Sequence[FindingResult]) -> str:
    return "; ".join(one_line(finding.event.detail, 160) for finding in findings[:3])


def _clean(text: str) -> str:
    """Text that XML can hold: it has no way to write most control characters, nor lone surrogates."""
    return harmless(text, keep="\n\t")
