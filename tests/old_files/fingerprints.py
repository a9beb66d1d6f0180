"""The fingerprints that a breach would have in each step of a history, on one small table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from conformance.findings import key_of
from conformance.histories import History
from conformance.observations.observation import FaultContext, Observation, RaceObservation
from delta_models.operations import STORAGE_FAULTS, Interleave, Read
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.table import ModelHistory
from tests.mutants.tampered import observe


def observation(folder: Path) -> Observation:
    """A step on a small table."""
    return observe("contents.cluster", folder, broken=True)


def fingerprints(history: History, on: Observation) -> Iterator[str]:
    """One for each step: a storage fault strikes the observed operation, a race takes its place."""
    for step in history.steps:
        operation = step.operation
        observed = replace(on, operation=operation)
        read = None
        if isinstance(operation, STORAGE_FAULTS):
            observed = replace(on, fault_context=FaultContext(operation))
        elif isinstance(operation, Interleave):
            outcomes = tuple(Committed() for _ in operation.operations)
            race = RaceObservation(ModelHistory(), operation.operations, operation.owners, outcomes, "same")
            observed = replace(observed, race=race)
        elif isinstance(operation, Read):
            read = operation
        yield key_of(observed, Violation("read.rows", "", read=read)).fingerprint
