"""What was seen of one engine's copy in one step: all that a check may look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    """One read by the engine under test, and what the model says it should have returned.

    `expected` is None where the model allows a refusal as well. `kind` tells looks apart: latest, state,
    filter, reopen. `malformed` says why an answer could not be taken as rows of the schema asked for
    (`answer` is then None). `again`: judged before, and here only to be compared with. `changes` is what the model says
    that the change feed must tell, `told` what the engine tells of the table, column by column, `followed` what a
    reader that follows the table must have got.
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
    """A file that a fault left in the table, so many hours ago, and that a vacuum removes; is it still there?"""

    path: str
    hours: int
    there: bool


@dataclass(frozen=True, slots=True)
class FaultContext:
    """What a storage fault did to the step, or one before it left to it.

    `fault` struck this step's operation; `gone` are the earlier commits that are no longer as they were, `found` is the
    state that the table is in, if it can be read at all, and `lying` counts the files that the fault left there and
    no commit names, by role. `next_write` is the first write after a fault; `cleaned`: the log's clean-up may have been
    cut. `left_over` are the files that faults left in the table and that were there before the step.
    """

    fault: Operation | None = None
    gone: tuple[str, ...] = ()
    found: RecoveryState | None = None
    lying: Mapping[str, int] = field(default_factory=dict)
    next_write: bool = False
    cleaned: bool = False
    left_over: tuple[OrphanedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceObservation:
    """Operations at once, beginning from one state: what was asked of each writer, and what came back.

    `owners` are the operations' writers. `seen` are the rows that readers among them got, by their place, and
    `published` which of the others had published their commit by the time that the reader had its answer, while all
    writers stood still. `failures` are why it did not go in the order scheduled, if it did not. `isolation` is the
    level that the table asks for, as far as all who wrote promise it. `timeline` is which operation was let through
    which gate.
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


@dataclass(frozen=True, slots=True)
class Observation:
    """One step of one copy.

    `before` and `after` are our own reading of the log around the step (None: no table); `commits` are the
    versions that the step added; `branch` is the allowed alternative that fits what happened, None if none
    does; `model` is the table as the model has it afterwards. `wrote` is False for an engine that only read a
    shared table after another one's step: outcome and log are judged once, in the writer's
    observation. `fault_context` is
    what only histories with faults have, `race` what only those with several writers at once.
    After a vacuum `retained` are the steps whose states must still be there, `recent` those so young that
    nothing they wrote may be gone.
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
