"""The values that describe one executed step: all that a check may inspect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

from conformance.observations.recovery_state import RecoveryState
from delta_models.concurrency import SERIALIZABLE
from delta_models.log import Commit, LogReader, Snapshot
from delta_models.operations import Operation
from delta_models.outcomes import Outcome
from delta_models.table import (
    AllowedOutcome,
    ChangesExpectation,
    Expectation,
    ModelHistory,
    StreamExpectation,
    Table,
)
from delta_models.values import Rows


@dataclass(frozen=True, slots=True)
class ReadObservation:
    """One read or other query that the engine under test answered, and what the model says that it should answer.

    `kind` is latest, state, filter or reopen for a read, and changes, history, detail or follow for another query.
    `expected` is None where the model allows a refusal as well. `malformed` says why an answer has not the columns of
    the schema (`answer` is then None). If it is here `again`, it was judged before and is only to be compared with.

    `changes` is what the change feed must hold by the model, `told` an answer column by column, `followed` what a
    stream reader must have received.
    """

    kind: str
    operation: Operation
    expected: Rows | None
    answer: Rows | None
    refused: Outcome | None = None
    version: int | None = None
    malformed: str | None = None
    again: bool = False
    changes: ChangesExpectation | None = None
    told: Mapping[str, Sequence[Any]] | None = None
    followed: StreamExpectation | None = None


@dataclass(frozen=True, slots=True)
class OrphanedFile:
    """A file that a fault left in the table so many hours ago, and that a vacuum removes; whether it is still there."""

    path: str
    hours: int
    there: bool


@dataclass(frozen=True, slots=True)
class FaultContext:
    """What a storage fault did to the step, or what faults before it have left to it.

    `fault` struck this step's operation. `gone` are the earlier commits that are no longer as they were. `found` is the
    state that the table is in, if it can be read at all. `lying` counts, by role, the files that the fault left there
    and that no commit names.

    A step is the `next_write` if it is the first write after a fault. `left_in_log` are the violations, by requirement
    and place, that clean-ups of the log have left which a fault cut short. `left_over` are the files that faults had
    left in the table before the step.
    """

    fault: Operation | None = None
    gone: tuple[str, ...] = ()
    found: RecoveryState | None = None
    lying: Mapping[str, int] = field(default_factory=dict)
    next_write: bool = False
    left_in_log: frozenset[tuple[str, str]] = frozenset()
    left_over: tuple[OrphanedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceObservation:
    """Operations that were executed at once from one state: what each writer executed, and what it answered.

    `owners` are the operations' writers. `seen` are the rows that readers among them got, by their place in the race.
    `published` are the operations that had published their commit when that reader had its answer, while all writers
    stood still. `failures` say why the race did not go as scheduled, if it did not. `isolation` is the level that the
    table asks for, as far as all writers promise it. `timeline` is which operation passed which gate, in order.
    `authors` are the writers that gave the new versions their names.
    """

    model_history: ModelHistory
    operations: tuple[Operation, ...]
    owners: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    overlap: str
    seen: Mapping[int, Rows] = field(default_factory=dict)
    published: Mapping[int, frozenset[int]] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    isolation: str = SERIALIZABLE
    timeline: tuple[tuple[int, str], ...] = ()
    authors: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """One step of one engine at one table.

    `before` and `after` are our own reading of the log around the step (None: no table), and `commits` the versions
    that the step added. `branch` is the allowed outcome that the operation reached, None if it reached none. `model` is
    the table as the model has it afterwards. `versions` maps steps to the versions that they led to.

    `wrote` is False for an engine that only read a shared table after another one's step: outcome and log are judged
    once, in the writer's observation. Only histories with faults have a `fault_context`, only those with several
    writers at once a `race`. After a vacuum `retained` are the steps whose states must still be there, `recent` those
    so young that nothing they wrote may be gone.
    """

    engine: str
    step: int
    operation: Operation
    folder: Path
    expectation: Expectation
    outcome: Outcome
    branch: AllowedOutcome | None
    model: Table
    reader: LogReader
    before: Snapshot | None
    after: Snapshot | None
    commits: tuple[Commit, ...] = ()
    looks: tuple[ReadObservation, ...] = ()
    log_error: Exception | None = None
    versions: dict[int, int] = field(default_factory=dict)
    wrote: bool = True
    retained: tuple[int, ...] = ()
    recent: tuple[int, ...] = ()
    fault_context: FaultContext | None = None
    race: RaceObservation | None = None
    zones: tuple[tzinfo, ...] = (UTC,)
