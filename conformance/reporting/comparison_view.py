"""What all forms of a comparison show: its headline, its counts, and each finding with its history and commands."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.findings.text import history_lines
from conformance.histories import History
from conformance.reporting.comparison import (
    CHANGES,
    INCONCLUSIVE,
    NOTHING_REGRESSED,
    REGRESSED,
    Comparison,
    EngineComparison,
    FindingChange,
)
from conformance.reporting.summary_reader import FindingEntry, RunSummary
from conformance.reporting.text import here, plural, replay_command
from delta_adapters.registry import KNOWN
from delta_models.codec import CodecError

HEADLINES = {
    NOTHING_REGRESSED: "NOTHING REGRESSED",
    REGRESSED: "REGRESSED",
    INCONCLUSIVE: "INCONCLUSIVE: nothing is known to have regressed, and not all could be compared",
}


@dataclass(frozen=True, slots=True)
class HistoryView:
    """The history of a finding as lines, and whether it is minimal. Without lines `problem` says why."""

    lines: tuple[str, ...]
    minimal: bool = False
    problem: str = ""


def headline(comparison: Comparison) -> str:
    """The answer in a line."""
    regressed = sum(len(engine.of("regressed")) for engine in comparison.engines)
    counted = f": {plural(regressed, 'finding')} that OLD did not have" if regressed else ""
    return f"{HEADLINES[comparison.exit]}{counted} (exit {comparison.exit})"


def run_line(run: RunSummary) -> str:
    """Where a run's summary lies, and what was played."""
    seed = f"seed {run.seed}" if run.runs == 1 else plural(run.runs, "run")
    steps = plural(sum(suite.steps for suite in run.suites), "step")
    return f"{here(run.path)} (profile {run.profile}, {seed}, {steps})"


def counts(engine: EngineComparison) -> str:
    """How many findings of an engine changed in which way."""
    number = Counter(finding.change for finding in engine.findings)
    return ", ".join(f"{number[change]} {change}" for change in CHANGES if number[change]) or "no findings"


def evidence_lines(engine: EngineComparison) -> list[str]:
    """The requirements that only one of the runs tested enough, those of the core first."""
    lines = []
    for gained, words in ((False, "no longer tested enough"), (True, "newly tested enough")):
        changes = [change for change in engine.evidence if change.gained == gained]
        changes.sort(key=lambda change: not change.core)
        if changes:
            core = sum(change.core for change in changes)
            of_core = f" ({core} of the core)" if core else ""
            shown = ", ".join(change.requirement for change in changes[:3])
            more = ", ..." if len(changes) > 3 else ""
            lines.append(f"{words}: {plural(len(changes), 'requirement')}{of_core}: {shown}{more}")
    return lines


def title(finding: FindingEntry) -> str:
    """A finding in a line: what identifies it, what it violates, and how long its minimal history is."""
    name = " ".join(filter(None, (finding.fingerprint, finding.cause)))
    others = len(finding.requirements) - 1
    requirement = f"{finding.requirement}{f' and {others} more' if others else ''}"
    minimal = finding.minimal_steps
    length = "not shrunk" if minimal is None else plural(minimal, "step")
    return f"{name} {requirement} ({finding.strength}), {length}"


def history_of(finding: FindingEntry) -> HistoryView:
    """The smallest history that the finding's folder holds."""
    for name, minimal in (("minimal.json", True), ("history.json", False)):
        path = finding.folder / name
        try:
            history = History.from_json(json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, CodecError) as error:
            return HistoryView((), problem=f"{here(path)} can't be read: {error}")
        return HistoryView(tuple(history_lines(history)), minimal)
    return HistoryView((), problem=f"no history in {here(finding.folder)}")


def commands(comparison: EngineComparison, change: FindingChange) -> list[str]:
    """The commands that show the finding again and, if the runs do not decide, on the version of the other run."""
    if not change.finding.folder.is_dir():
        return []
    replay = replay_command(change.finding.folder)
    own, other = comparison.after, comparison.before
    if change.after is None:
        own, other = other, own
    undecided = change.change in {"inconclusive", "not seen again", "newly tested"}
    if undecided and own != other and _can_be_named(other):
        return [replay, f"{replay} --engine {shlex.quote(other)}"]
    return [replay]


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison for other programs. Its members may grow, not change."""
    return {
        "format": 1,
        "exit": comparison.exit,
        "headline": headline(comparison),
        "old": _run_json(comparison.old),
        "new": _run_json(comparison.new),
        "gaps": list(comparison.gaps),
        "notes": list(comparison.notes),
        "engines": [_engine_json(engine) for engine in comparison.engines],
    }


def _can_be_named(engine: str) -> bool:
    """Whether the command line starts an engine of this label: a known one, of a version that can be fetched."""
    name, _, version = engine.partition("@")
    return bool(version) and name in KNOWN and bool(KNOWN[name].elsewhere)


def _run_json(run: RunSummary) -> dict[str, Any]:
    return {
        "summary": str(run.path), "harness": run.harness, "profile": run.profile, "seed": run.seed, "runs": run.runs,
        "engines": [engine.label for engine in run.engines], "verdict": run.verdict, "exit": run.exit,
    }  # fmt: skip


def _engine_json(engine: EngineComparison) -> dict[str, Any]:
    return {
        "name": engine.name,
        "old": engine.before,
        "new": engine.after,
        "findings": [_change_json(engine, change) for change in engine.findings],
        "evidence": [
            {
                "requirement": change.requirement, "core": change.core, "old": change.before, "new": change.after,
                "change": "newly tested" if change.gained else "no longer tested",
            }
            for change in engine.evidence
        ],
    }  # fmt: skip


def _change_json(engine: EngineComparison, change: FindingChange) -> dict[str, Any]:
    finding, history = change.finding, history_of(change.finding)
    return {
        "change": change.change,
        "why": change.why,
        "open": change.open,
        "cause": finding.cause,
        "requirement": finding.requirement,
        "requirements": list(finding.requirements),
        "class": finding.strength,
        "detail": finding.detail,
        "old": _finding_json(change.before),
        "new": _finding_json(change.after),
        "history": list(history.lines),
        "minimal": history.minimal,
        "commands": commands(engine, change),
    }


def _finding_json(finding: FindingEntry | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {
        "fingerprint": finding.fingerprint, "state": finding.state, "known": finding.known, "times": finding.times,
        "histories": finding.histories, "steps": finding.steps, "minimal_steps": finding.minimal_steps,
        "folder": str(Path(finding.folder)),
    }  # fmt: skip
