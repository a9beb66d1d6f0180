"""`summary.json`: the results for machines. Its members may grow, not change."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.claims import Claim
from conformance.reporting.results import EngineResult, FindingResult, Results, SuiteResult
from conformance.reporting.summary_reader import FORMAT, IDENTIFIED, NAME, SummaryError

__all__ = ["FORMAT", "NAME", "SummaryError", "baseline", "summary", "write"]


def summary(results: Results) -> dict[str, Any]:
    """The results as the object that `summary.json` holds."""
    first = results.runs[0]
    return {
        "format": FORMAT,
        "harness": first.harness,
        "command": list(first.command),
        "seed": first.seed,
        "profile": first.profile,
        "storage": first.storage,
        "started": first.started,
        "machine": first.machine,
        "python": first.python,
        "runs": len(results.runs),
        "seconds": round(results.seconds, 3),
        "verdict": results.outcome.verdict,
        "exit": results.outcome.exit,
        "reasons": list(results.outcome.reasons),
        "incomplete": list(results.problems),
        "engines": [_engine(engine) for engine in results.engines],
        "suites": [_suite(suite) for suite in results.suites],
        "claims": [_claim(claim) for claim in results.claims],
        "findings": [_finding(finding) for finding in results.findings],
    }


def write(results: Results, path: Path) -> None:
    """Write the summary to a file."""
    write_whole(path, json.dumps(summary(results), indent=1) + "\n")


def baseline(path: Path) -> frozenset[str]:
    """The fingerprints of what an earlier run found, by its `summary.json`. Raises SummaryError.

    A fingerprint is that of a cause or of a minimal history, so seeds, machines and versions may differ. What the run
    left unexplained or unstable has neither, so it is no part of a baseline.
    """
    try:
        form = json.loads(path.read_text("utf-8"))
    except OSError as error:
        message = f"can't read the baseline {path}: {error.strerror}"
        raise SummaryError(message) from error
    except ValueError as error:
        message = f"the baseline {path} is no JSON: give the {NAME} of an earlier run"
        raise SummaryError(message) from error
    if (
        not isinstance(form, dict)
        or form.get("format") != FORMAT
        or not isinstance(form.get("findings"), list)
    ):
        message = f"the baseline {path} is no {NAME} of format {FORMAT}: give that of an earlier run"
        raise SummaryError(message)
    try:
        findings = [(str(finding["fingerprint"]), finding.get("state")) for finding in form["findings"]]
    except (KeyError, TypeError, AttributeError) as error:
        message = f"the baseline {path} has findings without a fingerprint"
        raise SummaryError(message) from error
    if any(not state for _, state in findings):
        command = shlex.join(map(str, form.get("command", ()))) or "conformance run"
        message = (
            f"the baseline {path} holds no causes and no minimal histories: an older version of the harness made it "
            f"({form.get('harness')}). Make it again: {command}"
        )
        raise SummaryError(message)
    return frozenset(fingerprint for fingerprint, state in findings if state in IDENTIFIED)


def _engine(engine: EngineResult) -> dict[str, Any]:
    return {
        "name": engine.name, "version": engine.version, "status": engine.status, "why": engine.why,
        "operations": engine.operations, "engine_seconds": engine.engine_seconds, "lost": engine.lost,
        "build": engine.build,
    }  # fmt: skip


def _suite(suite: SuiteResult) -> dict[str, Any]:
    return {
        "name": suite.name, "histories": suite.histories, "steps": suite.steps, "crash_points": suite.crash_points,
        "schedules": suite.schedules, "seconds": suite.seconds, "complete": suite.complete,
    }  # fmt: skip


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "requirement": claim.setting.requirement,
        "class": claim.strength,
        "engine": claim.setting.engine,
        "role": claim.setting.role,
        "with": list(claim.setting.with_engines),
        "features": list(claim.setting.features),
        "storage": claim.setting.storage,
        "processes": claim.setting.processes,
        "verdict": claim.verdict,
        "core": claim.core,
        "evidence": {
            "checks": claim.evidence.checks,
            "histories": claim.evidence.histories,
            "operations": claim.evidence.operations,
            "crash_points": claim.evidence.crash_points,
            "schedules": claim.evidence.schedules,
        },
        "floor": {"checks": claim.threshold.checks, "histories": claim.threshold.histories},
        "findings": list(claim.findings),
    }


def _finding(finding: FindingResult) -> dict[str, Any]:
    event = finding.event
    return {
        "fingerprint": event.fingerprint, "requirement": event.requirement, "class": event.strength,
        "engine": event.engine, "role": event.role, "suite": event.suite, "known": event.known,
        "promised": event.promised,
        "deviation": event.cause, "steps": event.steps, "times": finding.times,
        "histories": finding.histories, "detail": event.detail,
        "folder": event.folder or f"findings/{event.fingerprint}",
        "state": event.state, "cause": event.cause, "requirements": list(finding.requirements),
        "sightings": finding.sightings, "minimal_steps": finding.minimal_steps, "reproduced": finding.reproduced,
    }  # fmt: skip
