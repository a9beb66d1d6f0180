"""Whether two runs can be compared, and which of their engines."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.reporting.summary_reader import EngineEntry, RunSummary


class UnlikeRuns(ValueError):
    """The claims of the runs can't be compared. The message says what differs."""


def common_engines(old: RunSummary, new: RunSummary) -> list[tuple[EngineEntry, EngineEntry]]:
    """The engines that both runs tested, by their names. Raises UnlikeRuns if the runs can't be compared."""
    _refuse_unlike(old, new)
    pairs = list(_pairs(old, new))
    if not pairs:
        raise UnlikeRuns(_no_common_engine(old, new))
    return pairs


def tested_engines(run: RunSummary) -> list[EngineEntry]:
    """The engines that ran and were judged."""
    judged = {claim.engine for claim in run.claims if claim.checks}
    return [engine for engine in run.engines if engine.status == "tested" and engine.label in judged]


def _refuse_unlike(old: RunSummary, new: RunSummary) -> None:
    for run in (old, new):
        if run.incomplete:
            raise UnlikeRuns(f"{run.path}: the run was cut, so it is no measure: {run.incomplete[0]}")
        if run.verdict == "interrupted":
            raise UnlikeRuns(f"{run.path}: the run was stopped by hand, so it is no measure. Run it again.")
        if run.verdict == "harness-fault":
            raise UnlikeRuns(
                f"{run.path}: the harness was at fault in that run (exit {run.exit}): it claims nothing of any engine."
            )
        if not any(claim.checks for claim in run.claims):
            raise UnlikeRuns(f"{run.path}: the run has no evidence: it checked nothing on any engine.")
    if old.storage != new.storage:
        raise UnlikeRuns(
            f"the storage is {old.storage} in {old.path} and {new.storage} in {new.path}: claims hold for one storage."
        )
    suites = [sorted(suite.name for suite in run.suites if suite.histories) for run in (old, new)]
    if not set(suites[0]) & set(suites[1]):
        raise UnlikeRuns(
            f"no suite in common: {old.path} played {', '.join(suites[0])}, {new.path} played {', '.join(suites[1])}."
        )


def _pairs(old: RunSummary, new: RunSummary) -> Iterator[tuple[EngineEntry, EngineEntry]]:
    """The engines that both tested. Of several versions of one engine, equal ones make a pair, and a last one each."""
    for name in dict.fromkeys(engine.name for engine in tested_engines(old)):
        before = [engine for engine in tested_engines(old) if engine.name == name]
        after = [engine for engine in tested_engines(new) if engine.name == name]
        equal = [(one, other) for one in before for other in after if one.label == other.label]
        yield from equal
        left = [engine for engine in before if engine.label not in {one.label for one, _ in equal}]
        right = [engine for engine in after if engine.label not in {one.label for one, _ in equal}]
        if len(left) == len(right) == 1:
            yield left[0], right[0]
        elif left and right:
            labels = [", ".join(engine.label for engine in engines) for engines in (left, right)]
            raise UnlikeRuns(
                f"{name} stands for several versions: {labels[0]} in {old.path}, {labels[1]} in {new.path}. "
                "Compare runs with one version of it each."
            )


def _no_common_engine(old: RunSummary, new: RunSummary) -> str:
    tested = [", ".join(engine.label for engine in tested_engines(run)) or "none" for run in (old, new)]
    return (
        f"no engine in common: {old.path} tested {tested[0]}, {new.path} tested {tested[1]}. "
        "Engines are compared by their names, whatever their versions."
    )
