"""The committed small histories: an operation of each kind on a small table, to be cut at each storage event.

They cover changes of rows, upkeep, deletion vectors, streams, other ways to write, a table's definition, its layout and
its beginning. In some, a second fault strikes the writer that comes after the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

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
    Cluster,
    CompactLog,
    ConvertFromParquet,
    Create,
    CreateAs,
    DeadTableAt,
    Delete,
    DropColumn,
    DropConstraint,
    DropFeature,
    EnableFeature,
    FailAt,
    KillAt,
    LoseReplyAt,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Properties,
    Purge,
    ReadChanges,
    ReadStream,
    RenameColumn,
    ReorderColumn,
    Replace,
    Restore,
    SetDefault,
    SetNullable,
    SetProperties,
    TearAt,
    UnsetProperties,
    Update,
    Vacuum,
    WidenColumn,
    WriteStream,
    ZOrder,
)
from delta_models.schema import INTEGER, LONG, Field, Struct, struct
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


LAST = Append(rows(1000))
NAMED: Properties = (("delta.columnMapping.mode", "name"),)
DEFAULTS: Properties = (("delta.feature.allowColumnDefaults", "supported"),)
WIDE = struct(("id", LONG), ("part", LONG), ("more", LONG))
NARROW = struct(("id", LONG), ("part", INTEGER))
STRICT = Struct((replace(SCHEMA.fields[0], nullable=False), *SCHEMA.fields[1:]))
WIDE_LAST = Append(Rows(WIDE, ((1000, 0, 1),)), schema_mode="merge")
ID_LAST = Append(Rows(struct(("id", LONG)), ((1000,),)))  # whatever the other column is
ONE_PART = Compare("=", Column(("part",)), Literal(LONG, 0))
ONCE = Append(rows(20, 21), transaction=("job", 1))


def _flat_table(
    properties: Properties = (), *more: Operation, schema: Struct = SCHEMA, partitioned: bool = False
) -> tuple[Operation, ...]:
    def some(*ids: int) -> Append:
        return Append(Rows(schema, rows(*ids).rows))

    create = Create(schema, partition_by=("part",) if partitioned else (), properties=properties)
    return (create, some(1, 2), some(3, 4, 6), *more)


WRITES = (
    CrashScenario(Overwrite(rows(8, 12), where=ONE_PART), _flat_table(partitioned=True), SWEPT),
    CrashScenario(Overwrite(rows(8, 12), dynamic=True), _flat_table(partitioned=True), SWEPT),
    CrashScenario(ONCE, _flat_table(), (LAST, ONCE)),
    CrashScenario(Append(Rows(WIDE, ((20, 0, 1),)), schema_mode="merge"), _flat_table(), (WIDE_LAST,)),
    CrashScenario(Append(rows(20, 21, 22, 23), files=2), _flat_table(TOLD), (LAST, ReadChanges(AtState(1)))),
    CrashScenario(Overwrite(rows(7)), _flat_table(TOLD), (LAST, ReadChanges(AtState(1)))),
)
DEFINITION = (
    CrashScenario(DropColumn(("part",)), _flat_table(NAMED), ()),
    CrashScenario(RenameColumn(("part",), "other"), _flat_table(NAMED), ()),
    CrashScenario(ReorderColumn(("part",)), _flat_table()),
    CrashScenario(
        WidenColumn(("part",), LONG),
        _flat_table((("delta.enableTypeWidening", "true"),), schema=NARROW),
        (ID_LAST,),
    ),
    CrashScenario(SetNullable(("id",), nullable=True), _flat_table(schema=STRICT)),
    CrashScenario(DropConstraint("positive"), _flat_table((), AddConstraint("positive", where(">", 0)))),
    CrashScenario(
        UnsetProperties(("delta.logRetentionDuration",)),
        _flat_table((), SetProperties(FORTY_DAYS)),
    ),
    CrashScenario(EnableFeature("deletionVectors"), _flat_table()),
    CrashScenario(SetDefault("part", Literal(LONG, 7)), _flat_table(DEFAULTS)),
    CrashScenario(DropFeature("allowColumnDefaults"), _flat_table(DEFAULTS)),
    CrashScenario(DropFeature("checkConstraints"), _flat_table((), EnableFeature("checkConstraints"))),
)
FILLED = CreateAs(rows(1, 2), partition_by=("part",))
CONVERTED = ConvertFromParquet(rows(1, 2, 3, 4), files=2)
# Where no table was before, the next writer repeats the operation first: an append makes no table.
BEGINNINGS = (
    CrashScenario(FILLED, (), (FILLED, LAST)),
    CrashScenario(CreateAs(rows(8), replace=True), _flat_table(), SWEPT),
    CrashScenario(CONVERTED, (), (CONVERTED, LAST)),
    CrashScenario(Replace(WIDE), _flat_table(), (WIDE_LAST,)),
)
LAYOUT = (
    CrashScenario(ZOrder(("id",)), _flat_table(), SWEPT),
    CrashScenario(Cluster(("id",)), _flat_table()),
    CrashScenario(Purge(), _flat_table(HIDDEN, Delete(where("=", 3)))),
    CrashScenario(CompactLog(2), _flat_table()),
)
# The first fault has struck by the time that the operation meets the second.
AGAIN = (
    CrashScenario(Append(rows(20)), _flat_table((), DeadTableAt("commit"), Append(rows(20))), SWEPT),
    CrashScenario(Append(rows(20)), _flat_table((), LoseReplyAt("commit"), Append(rows(20))), SWEPT),
    CrashScenario(Overwrite(rows(7)), _flat_table((), FailAt("data", "ENOSPC"), Overwrite(rows(7))), SWEPT),
    CrashScenario(Vacuum(0.0), _flat_table((), DeadTableAt("commit"), Append(rows(20))), (LAST, Vacuum(0.0))),
    CrashScenario(Optimize(), _flat_table((), DeadTableAt("commit", "after"), Optimize(), LAST), SWEPT),
    CrashScenario(
        AddColumn(Field("more", LONG)),
        _flat_table((), DeadTableAt("commit"), AddColumn(Field("more", LONG))),
        (),
    ),
)
SCENARIOS: Mapping[str, tuple[CrashScenario, ...]] = {
    "changes": CHANGES,
    "upkeep": UPKEEP,
    "marked": MARKED,
    "other-writes": WRITES,
    "definition": DEFINITION,
    "beginnings": BEGINNINGS,
    "layout": LAYOUT,
    "again": AGAIN,
    "streams": STREAMS,
}
KILLED = "killed-"  # before the name of a group: its engines die, rather than their tables


def scenarios_of(name: str) -> tuple[CrashScenario, ...]:
    """A group by the name that a profile's plan has for it; none if the name is none of a group."""
    return SCENARIOS.get(name.removeprefix(KILLED), ())


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
