"""The fingerprints that a breach would have in each step of a history, on one small table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from conformance.findings import key_of
from conformance.history import History
from conformance.observation import Observation, Race, Trouble
from delta_models.operations import STORAGE_FAULTS, Interleave, Read
from delta_models.outcomes import Committed
from delta_models.requirements import Breach
from delta_models.table import World
from tests.liars.tampered import observe


def observation(folder: Path) -> Observation:
    """A step on a small table."""
    return observe("contents.cluster", folder, lie=True)


def fingerprints(history: History, on: Observation) -> Iterator[str]:
    """One for each step: a storage fault strikes the observed operation, a race takes its place."""
    for step in history.steps:
        operation = step.operation
        observed = replace(on, operation=operation)
        read = None
        if isinstance(operation, STORAGE_FAULTS):
            observed = replace(on, trouble=Trouble(operation))
        elif isinstance(operation, Interleave):
            outcomes = tuple(Committed() for _ in operation.operations)
            race = Race(World(), operation.operations, operation.owners, outcomes, "same")
            observed = replace(observed, race=race)
        elif isinstance(operation, Read):
            read = operation
        yield key_of(observed, Breach("read.rows", "", read=read)).fingerprint
