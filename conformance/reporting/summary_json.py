"""`summary.json`: the results for machines. Its members may grow, not change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.reporting.atomic_write import write_whole
from conformance.reporting.claims import Claim
from conformance.reporting.results import EngineResult, FindingResult, Results, SuiteResult

FORMAT = 1
NAME = "summary.json"


class SummaryError(ValueError):
    """A file is no summary of a run that this version can read. The message says why."""


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
    """The summary as a file."""
    write_whole(path, json.dumps(summary(results), indent=1) + "\n")


def fingerprints(path: Path) -> frozenset[str]:
    """The findings of an earlier run, from its `summary.json`: a baseline."""
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
        return frozenset(str(each["fingerprint"]) for each in form["findings"])
    except (KeyError, TypeError) as error:
        message = f"the baseline {path} has findings without a fingerprint"
        raise SummaryError(message) from error


def _engine(each: EngineResult) -> dict[str, Any]:
    return {
        "name": each.name, "version": each.version, "status": each.status, "why": each.why,
        "operations": each.operations, "engine_seconds": each.engine_seconds, "lost": each.lost,
    }  # fmt: skip


def _suite(each: SuiteResult) -> dict[str, Any]:
    return {
        "name": each.name, "histories": each.histories, "steps": each.steps, "crash_points": each.crash_points,
        "schedules": each.schedules, "seconds": each.seconds, "complete": each.complete,
    }  # fmt: skip


def _claim(each: Claim) -> dict[str, Any]:
    return {
        "requirement": each.cell.requirement,
        "class": each.strength,
        "engine": each.cell.engine,
        "role": each.cell.role,
        "with": list(each.cell.with_engines),
        "features": list(each.cell.features),
        "storage": each.cell.storage,
        "processes": each.cell.processes,
        "verdict": each.verdict,
        "core": each.core,
        "evidence": {
            "checks": each.weight.checks,
            "histories": each.weight.histories,
            "operations": each.weight.operations,
            "crash_points": each.weight.crash_points,
            "schedules": each.weight.schedules,
        },
        "floor": {"checks": each.floor.checks, "histories": each.floor.histories},
        "findings": list(each.findings),
    }


def _finding(each: FindingResult) -> dict[str, Any]:
    event = each.event
    return {
        "fingerprint": event.fingerprint, "requirement": event.requirement, "class": event.strength,
        "engine": event.engine, "role": event.role, "suite": event.suite, "known": event.known,
        "promised": event.promised,
        "deviation": event.deviation, "steps": event.steps, "times": each.times, "detail": event.detail,
        "folder": event.folder or f"findings/{event.fingerprint}",
    }  # fmt: skip
