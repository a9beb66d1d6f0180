"""`junit.xml`: a test case for each claim, for CI servers.

What fails the run is a failure: a violation, whether it is new, unexplained or unstable, and a difference on an engine
that promises to behave like delta-spark. Skipped, with the cause, is any other difference, what is known, what has too
little evidence, and what the engine does not support or guarantee. None of that counts as passed.

A case is named by its engine and its claim, without versions and seeds, so that a server follows it from run to run.
Its time is its share of the time that the engine worked.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.claims import VERDICTS, Claim
from conformance.reporting.exit_status import REFERENCE, is_strict, uncounted
from conformance.reporting.finding_groups import in_order, length, says
from conformance.reporting.results import EngineResult, FindingResult, Results
from conformance.reporting.text import harmless, one_line, replay_command
from delta_adapters.engine_id import EngineId

HARNESS = "harness"


def write(results: Results, path: Path) -> None:
    """Write the report to a file."""
    write_whole(path, text(results))


def text(results: Results) -> str:
    """The document: a suite for each engine, a case for each claim, and faults of the harness as errors."""
    names = stable_names(results.engines)
    suites = [_suite(engine, names, results) for engine in results.engines]
    suites.append(_counted(HARNESS, list(_harness(results)), {}, results))
    root = ET.Element("testsuites", name="delta-conformance")
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", f"{results.seconds:.3f}")
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def stable_names(engines: Sequence[EngineResult]) -> Mapping[str, str]:
    """The name of each engine without its version. Further versions of one engine are numbered: `delta-rs (2)`."""
    seen: Counter[str] = Counter()
    names = {}
    for engine in engines:
        seen[engine.name] += 1
        number = seen[engine.name]
        names[engine.label] = engine.name if number == 1 else f"{engine.name} ({number})"
    return names


def _suite(engine: EngineResult, names: Mapping[str, str], results: Results) -> ET.Element:
    name = names[engine.label]
    strict = is_strict(engine.compatible_with)
    findings = {
        found.event.fingerprint: found for found in results.findings if found.event.engine == engine.label
    }
    claims = [claim for claim in results.claims if claim.setting.engine == engine.label]
    cases = [_start(engine, name)]
    cases += [_case(claim, name, names, findings, strict=strict) for claim in claims]
    events = [finding.event for finding in findings.values()]
    alone = {event.requirement: event.fingerprint for event in uncounted(results.claims, events)}
    for requirement in alone:
        case = _named(f"{requirement} [in a minimal history]", name)
        _fail(
            case, "violated", [found for found in findings.values() if found.event.requirement == requirement]
        )
        cases.append(case)
    run = results.runs[0]
    properties = {
        "engine": engine.label, "build": engine.build, "profile": run.profile, "seed": str(run.seed),
        "harness": run.harness,
    }  # fmt: skip
    return _counted(name, cases, properties, results)


def _start(engine: EngineResult, name: str) -> ET.Element:
    """Whether the engine starts and passes the smoke test, and goes on to the end."""
    case = _named("the engine runs", name, engine.start_seconds)
    if engine.why is not None:
        kind = "unavailable" if engine.status != "tested" else "given-up"
        cure = f" To mend it: {engine.cure}" if engine.cure else ""
        ET.SubElement(case, "error", type=kind, message=_clean(f"{engine.why}{cure}"))
    return case


def _case(
    claim: Claim, name: str, names: Mapping[str, str], findings: Mapping[str, FindingResult], *, strict: bool
) -> ET.Element:
    evidence = claim.evidence
    case = _named(_claim_name(claim, names), name, claim.seconds)
    kept = [findings[fingerprint] for fingerprint in claim.findings if fingerprint in findings]
    fresh = [finding for finding in kept if finding.event.fresh]
    if claim.verdict == "violated" or (claim.verdict == "differs" and strict):
        _fail(case, claim.verdict, fresh)
    elif claim.verdict != "holds":
        ET.SubElement(case, "skipped", message=_clean(_why_skipped(claim, kept, fresh)))
    out = ET.SubElement(case, "system-out")
    out.text = _clean(
        f"{claim.verdict}: {evidence.checks} checks in {evidence.histories} histories"
        + ("".join(f"\nfinding {finding}" for finding in claim.findings))
    )
    return case


def _claim_name(claim: Claim, names: Mapping[str, str]) -> str:
    setting = claim.setting
    partners = [names.get(engine, EngineId.parse(engine).name) for engine in setting.with_engines]
    words = [setting.role]
    words += [f"with {' and '.join(partners)}"] if partners else []
    words += list(setting.features)
    words += [f"{setting.processes} processes"] if setting.processes != "one" else []
    words += [setting.storage] if setting.storage != "local" else []
    return f"{setting.requirement} [{', '.join(words)}]"


def _why_skipped(claim: Claim, kept: Sequence[FindingResult], fresh: Sequence[FindingResult]) -> str:
    """The cause for which a claim neither passes nor fails."""
    if claim.verdict == "known-deviation":
        return "; ".join(map(_known, kept)) or VERDICTS[claim.verdict]
    if claim.verdict == "differs":
        return f"differs, which fails only engines that promise to be compatible with {REFERENCE}: {_message(fresh)}"
    return f"{claim.verdict}: {claim.why or claim.shortfall}"


def _fail(case: ET.Element, verdict: str, findings: Sequence[FindingResult]) -> None:
    message = _message(findings) or VERDICTS["differs" if verdict == "differs" else "violated"]
    failure = ET.SubElement(case, "failure", type=verdict, message=_clean(message))
    failure.text = _clean("\n".join(_failure(finding) for finding in in_order(findings)))


def _harness(results: Results) -> Iterator[ET.Element]:
    """The faults of the run itself, so that a server never shows green for a run without a verdict."""
    for message, faults in _by_message(results).items():
        case = _named(one_line(message, 120), HARNESS)
        error = ET.SubElement(case, "error", type="harness-fault", message=_clean(message))
        error.text = _clean("\n".join(faults))
        yield case
    run = _named("the run is conclusive", HARNESS)
    if results.outcome.exit not in {0, 1}:
        ET.SubElement(
            run, "error", type=results.outcome.verdict, message=_clean("; ".join(results.outcome.reasons[:4]))
        )
    yield run


def _by_message(results: Results) -> dict[str, list[str]]:
    faults: dict[str, list[str]] = {}
    for fault in results.faults:
        faults.setdefault(fault.message, []).append(fault.detail)
    return faults


def _named(name: str, engine: str, seconds: float = 0.0) -> ET.Element:
    return ET.Element("testcase", name=_clean(name), classname=_clean(engine), time=f"{seconds:.3f}")


def _counted(
    name: str, cases: Sequence[ET.Element], properties: Mapping[str, str], results: Results
) -> ET.Element:
    suite = ET.Element("testsuite", name=_clean(name), tests=str(len(cases)))
    for kind, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(plural, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    suite.set("timestamp", results.runs[0].started[:19])
    suite.set("hostname", "localhost")
    if properties:
        listed = ET.SubElement(suite, "properties")
        for key, value in properties.items():
            ET.SubElement(listed, "property", name=key, value=_clean(value))
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
