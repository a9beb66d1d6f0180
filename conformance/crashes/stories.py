"""The committed small histories: an operation of each kind on a small table, to be cut at each storage event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.turnstile import roles
from conformance.turnstile.events import Record
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
    Pour,
    Properties,
    ReadChanges,
    Restore,
    SetProperties,
    Tail,
    TearAt,
    Update,
    Vacuum,
)
from delta_models.schema import LONG, Field, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("part", LONG))
HIDDEN: Properties = (("delta.enableDeletionVectors", "true"),)
EAGER: Properties = (("delta.checkpointInterval", "1"),)
TOLD: Properties = (("delta.enableChangeDataFeed", "true"),)


def rows(*ids: int) -> Rows:
    """Rows with these ids, spread over four partitions."""
    return Rows(SCHEMA, tuple((each, each % 4) for each in ids))


def where(operator: str, number: int) -> Compare:
    """A condition on the id."""
    return Compare(operator, Column(("id",)), Literal(LONG, number))


@dataclass(frozen=True, slots=True)
class Story:
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
    Story(Append(rows(20, 21)), _table(), SWEPT),
    Story(Overwrite(rows(7)), _table(), SWEPT),
    Story(Delete(where("<", 3)), _table()),
    Story(UPDATE, _table()),
    Story(MERGE, _table()),
    Story(Restore(AtState(1)), _table()),
    Story(BEGUN, (), (BEGUN, Append(rows(1000)))),
    Story(AddColumn(Field("more", LONG)), _table(), ()),
    Story(SetProperties(FORTY_DAYS), _table()),
    Story(AddConstraint("positive", where(">", 0)), _table()),
)
UPKEEP = (
    Story(Optimize(), _table(), AGED),
    Story(Checkpoint(), _table((), Delete(where("=", 3)))),
    Story(Vacuum(0.0), _table((), Overwrite(rows(1, 2)))),
    Story(Append(rows(20)), _table(EAGER), SWEPT),
    Story(CleanLog(), _table((), Checkpoint(), AdvanceClock(40 * 24))),
    Story(Append(rows(20)), _table(EAGER, AdvanceClock(40 * 24))),
    Story(Vacuum(), _table((), Overwrite(rows(1, 2)), AdvanceClock(8 * 24))),
)
TOLD_AFTERWARDS = (Append(rows(1000)), ReadChanges(AtState(1)))
MARKED = (
    Story(Delete(where("<", 3)), _table(HIDDEN)),
    Story(UPDATE, _table(HIDDEN)),
    Story(MERGE, _table(HIDDEN)),
    Story(Delete(where("<", 3)), _table(TOLD), TOLD_AFTERWARDS),
    Story(UPDATE, _table(TOLD), TOLD_AFTERWARDS),
    Story(MERGE, _table(TOLD), TOLD_AFTERWARDS),
)
FOLLOWED = Tail("changes", "changes")  # what every engine with a change feed can follow
TAILED = Tail("rows")
# Streams: readers that follow while the writer is cut, and writers that are cut and started again.
STREAMS = (
    Story(Append(rows(20, 21)), _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    Story(Optimize(), _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    Story(UPDATE, _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    Story(MERGE, _table(TOLD, FOLLOWED), (FOLLOWED, Append(rows(1000)), FOLLOWED)),
    Story(Append(rows(20, 21)), _table((), TAILED), (TAILED, Append(rows(1000)), TAILED)),
    Story(Optimize(), _table((), TAILED), (TAILED, Append(rows(1000)), TAILED)),
    Story(Pour(rows(20, 21)), _table(), (Pour(rows(1000)), Append(rows(1001)))),
    Story(Pour(rows(20, 21)), _table(), (Pour(rows()), Append(rows(1001)))),
)


def faults_of(record: Record, *, kill: bool = False) -> Iterator[Operation]:
    """All that may happen to an operation: before and after each of its changes, and the replies and bytes it loses.

    An errno is tried once a role: which of several alike files fails says nothing; the replies to all commits are lost.
    """
    seen: set[str] = set()
    for event in (each.event for each in record.happened if each.event.role != roles.LOOK):
        for moment in ("before", "after"):
            cut = KillAt if kill else DeadTableAt
            yield cut(event.role, moment, event.ordinal)
        if event.role == roles.COMMIT:
            yield from (LoseReplyAt(event.role, event.ordinal, errno) for errno in ("EIO", "EEXIST"))
        if event.role in seen:
            continue
        seen.add(event.role)
        if event.role != roles.COMMIT and not kill:
            yield from (FailAt(event.role, errno) for errno in ("EIO", "ENOSPC"))
        if kill and event.question.kind == "open":
            yield TearAt(event.role, 5)
