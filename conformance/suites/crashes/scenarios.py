"""The committed small histories: an operation of each kind on a small table, to be cut at each storage event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.fault_injection import file_roles
from conformance.fault_injection.storage_events import StorageRecord
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    AdvanceClock,
    Append,
    AtState,
    Checkpoint,
    CleanLog,
    Create,
    DeadTableAt,
    Delete,
    FailAt,
    KillAt,
    LoseReplyAt,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Properties,
    ReadChanges,
    ReadStream,
    Restore,
    SetProperties,
    TearAt,
    Update,
    Vacuum,
    WriteStream,
)
from delta_models.schema import LONG, Field, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("part", LONG))
HIDDEN: Properties = (("delta.enableDeletionVectors", "true"),)
EAGER: Properties = (("delta.checkpointInterval", "1"),)
TOLD: Properties = (("delta.enableChangeDataFeed", "true"),)


def rows(*ids: int) -> Rows:
    """Rows with these ids, spread over four partitions."""
    return Rows(SCHEMA, tuple((identity, identity % 4) for identity in ids))


def where(operator: str, number: int) -> Compare:
    """A condition on the id."""
    return Compare(operator, Column(("id",)), Literal(LONG, number))


@dataclass(frozen=True, slots=True)
class CrashScenario:
    """What comes before, the operation that meets the fault, and what is written then."""

    operation: Operation
    before: tuple[Operation, ...]
    afterwards: tuple[Operation, ...] = (Append(rows(1000)),)


def _table(properties: Properties = (), *more: Operation) -> tuple[Operation, ...]:
    return (
        Create(SCHEMA, partition_by=("part",), properties=properties),
        Append(rows(1, 2)),
        Append(rows(3, 4, 6)),
        *more,
    )


UPDATE = Update((("part", Literal(LONG, 9)),), where("=", 2))
MERGE = Merge(
    rows(2, 99),
    Compare("=", Column(("target", "id")), Column(("source", "id"))),
    (MergeClause("matched", "delete"), MergeClause("not-matched", "insert", everything=True)),
)
SWEPT = (Append(rows(1000)), Vacuum(), Vacuum(0.0))
AGED = (Append(rows(1000)), Vacuum(), AdvanceClock(8 * 24), Vacuum())

# Longer than files are kept once they are removed: delta-spark refuses to keep the log for less.
FORTY_DAYS: Properties = (("delta.logRetentionDuration", "interval 40 days"),)
BEGUN = Create(SCHEMA, partition_by=("part",))

CHANGES = (
    CrashScenario(Append(rows(20, 21)), _table(), SWEPT),
    CrashScenario(Overwrite(rows(7)), _table(), SWEPT),
    CrashScenario(Delete(where("<", 3)), _table()),
    CrashScenario(UPDATE, _table()),
    CrashScenario(MERGE, _table()),
    CrashScenario(Restore(AtState(1)), _table()),
    CrashScenario(BEGUN, (), (BEGUN, Append(rows(1000)))),
    CrashScenario(AddColumn(Field("more", LONG)), _table(), ()),
    CrashScenario(SetProperties(FORTY_DAYS), _table()),
    CrashScenario(AddConstraint("positive", where(">", 0)), _table()),
)
UPKEEP = (
    CrashScenario(Optimize(), _table(), AGED),
    CrashScenario(Checkpoint(), _table((), Delete(where("=", 3)))),
    CrashScenario(Vacuum(0.0), _table((), Overwrite(rows(1, 2)))),
    CrashScenario(Append(rows(20)), _table(EAGER), SWEPT),
    CrashScenario(CleanLog(), _table((), Checkpoint(), AdvanceClock(40 * 24))),
    CrashScenario(Append(rows(20)), _table(EAGER, AdvanceClock(40 * 24))),
    CrashScenario(Vacuum(), _table((), Overwrite(rows(1, 2)), AdvanceClock(8 * 24))),
)
TOLD_AFTERWARDS = (Append(rows(1000)), ReadChanges(AtState(1)))
MARKED = (
    CrashScenario(Delete(where("<", 3)), _table(HIDDEN)),
    CrashScenario(UPDATE, _table(HIDDEN)),
    CrashScenario(MERGE, _table(HIDDEN)),
    CrashScenario(Delete(where("<", 3)), _table(TOLD), TOLD_AFTERWARDS),
    CrashScenario(UPDATE, _table(TOLD), TOLD_AFTERWARDS),
    CrashScenario(MERGE, _table(TOLD), TOLD_AFTERWARDS),
)
FOLLOWED = ReadStream("changes", "changes")  # what every engine with a change feed can follow
TAILED = ReadStream("rows")
# Streams: readers that follow while the writer is cut, and writers that are cut and started again.
STREAMS = (
    CrashScenario(Append(rows(20, 21)), _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    CrashScenario(Optimize(), _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    CrashScenario(UPDATE, _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    CrashScenario(MERGE, _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    CrashScenario(Append(rows(20, 21)), _table((), TAILED), (TAILED, Append(rows(1000)), TAILED)),
    CrashScenario(Optimize(), _table((), TAILED), (TAILED, Append(rows(1000)), TAILED)),
    CrashScenario(WriteStream(rows(20, 21)), _table(), (WriteStream(rows(1000)), Append(rows(1001)))),
    CrashScenario(WriteStream(rows(20, 21)), _table(), (WriteStream(rows()), Append(rows(1001)))),
)


def faults_of(record: StorageRecord, *, kill: bool = False) -> Iterator[Operation]:
    """All that may happen to an operation: before and after each of its changes, and the replies and bytes it loses.

    An errno is tried once a role: which of several alike files fails says nothing; the replies to all commits are lost.
    """
    seen: set[str] = set()
    for event in (
        storage_event.event
        for storage_event in record.happened
        if storage_event.event.role != file_roles.LIST
    ):
        for moment in ("before", "after"):
            cut = KillAt if kill else DeadTableAt
            yield cut(event.role, moment, event.ordinal)
        if event.role == file_roles.COMMIT:
            yield from (LoseReplyAt(event.role, event.ordinal, errno) for errno in ("EIO", "EEXIST"))
        if event.role in seen:
            continue
        seen.add(event.role)
        if event.role != file_roles.COMMIT and not kill:
            yield from (FailAt(event.role, errno) for errno in ("EIO", "ENOSPC"))
        if kill and event.call.kind == "open":
            yield TearAt(event.role, 5)
