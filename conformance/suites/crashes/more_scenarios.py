"""The rest of the alphabet as committed small histories: other ways to write, a table's definition, layout, beginning;
and second faults, which strike the one who comes to mend what the first has left."""

from __future__ import annotations

from dataclasses import replace

from conformance.suites.crashes.scenarios import (
    FORTY_DAYS,
    HIDDEN,
    SCHEMA,
    SWEPT,
    TOLD,
    CrashScenario,
    rows,
    where,
)
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
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
    LoseReplyAt,
    Operation,
    Optimize,
    Overwrite,
    Properties,
    Purge,
    ReadChanges,
    RenameColumn,
    ReorderColumn,
    Replace,
    SetDefault,
    SetNullable,
    SetProperties,
    UnsetProperties,
    Vacuum,
    WidenColumn,
    ZOrder,
)
from delta_models.operations.time_travel import AtState
from delta_models.schema import INTEGER, LONG, Field, Struct, struct
from delta_models.values import Rows

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


def _table(
    properties: Properties = (), *more: Operation, schema: Struct = SCHEMA, partitioned: bool = False
) -> tuple[Operation, ...]:
    def some(*ids: int) -> Append:
        return Append(Rows(schema, rows(*ids).rows))

    create = Create(schema, partition_by=("part",) if partitioned else (), properties=properties)
    return (create, some(1, 2), some(3, 4, 6), *more)


WRITES = (
    CrashScenario(Overwrite(rows(8, 12), where=ONE_PART), _table(partitioned=True), SWEPT),
    CrashScenario(Overwrite(rows(8, 12), dynamic=True), _table(partitioned=True), SWEPT),
    CrashScenario(ONCE, _table(), (LAST, ONCE)),
    CrashScenario(Append(Rows(WIDE, ((20, 0, 1),)), schema_mode="merge"), _table(), (WIDE_LAST,)),
    CrashScenario(Append(rows(20, 21, 22, 23), files=2), _table(TOLD), (LAST, ReadChanges(AtState(1)))),
    CrashScenario(Overwrite(rows(7)), _table(TOLD), (LAST, ReadChanges(AtState(1)))),
)
DEFINITION = (
    CrashScenario(DropColumn(("part",)), _table(NAMED), ()),
    CrashScenario(RenameColumn(("part",), "other"), _table(NAMED), ()),
    CrashScenario(ReorderColumn(("part",)), _table()),
    CrashScenario(
        WidenColumn(("part",), LONG),
        _table((("delta.enableTypeWidening", "true"),), schema=NARROW),
        (ID_LAST,),
    ),
    CrashScenario(SetNullable(("id",), nullable=True), _table(schema=STRICT)),
    CrashScenario(DropConstraint("positive"), _table((), AddConstraint("positive", where(">", 0)))),
    CrashScenario(
        UnsetProperties(("delta.logRetentionDuration",)),
        _table((), SetProperties(FORTY_DAYS)),
    ),
    CrashScenario(EnableFeature("deletionVectors"), _table()),
    CrashScenario(SetDefault("part", Literal(LONG, 7)), _table(DEFAULTS)),
    CrashScenario(DropFeature("allowColumnDefaults"), _table(DEFAULTS)),
    CrashScenario(DropFeature("checkConstraints"), _table((), EnableFeature("checkConstraints"))),
)
FILLED = CreateAs(rows(1, 2), partition_by=("part",))
CONVERTED = ConvertFromParquet(rows(1, 2, 3, 4), files=2)
# Where nothing was there before, whoever goes on does the same again first: an append makes no table.
BEGINNINGS = (
    CrashScenario(FILLED, (), (FILLED, LAST)),
    CrashScenario(CreateAs(rows(8), replace=True), _table(), SWEPT),
    CrashScenario(CONVERTED, (), (CONVERTED, LAST)),
    CrashScenario(Replace(WIDE), _table(), (WIDE_LAST,)),
)
LAYOUT = (
    CrashScenario(ZOrder(("id",)), _table(), SWEPT),
    CrashScenario(Cluster(("id",)), _table()),
    CrashScenario(Purge(), _table(HIDDEN, Delete(where("=", 3)))),
    CrashScenario(CompactLog(2), _table()),
)
# The first fault has struck by the time that the operation meets the second.
AGAIN = (
    CrashScenario(Append(rows(20)), _table((), DeadTableAt("commit"), Append(rows(20))), SWEPT),
    CrashScenario(Append(rows(20)), _table((), LoseReplyAt("commit"), Append(rows(20))), SWEPT),
    CrashScenario(Overwrite(rows(7)), _table((), FailAt("data", "ENOSPC"), Overwrite(rows(7))), SWEPT),
    CrashScenario(Vacuum(0.0), _table((), DeadTableAt("commit"), Append(rows(20))), (LAST, Vacuum(0.0))),
    CrashScenario(Optimize(), _table((), DeadTableAt("commit", "after"), Optimize(), LAST), SWEPT),
    CrashScenario(
        AddColumn(Field("more", LONG)), _table((), DeadTableAt("commit"), AddColumn(Field("more", LONG))), ()
    ),
)
