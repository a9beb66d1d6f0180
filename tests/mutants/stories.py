"""Short histories in which the checks catch mutants."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Expression, IsNull, Literal, Or
from delta_models.schema import DOUBLE, LONG, STRING, Field, struct
from delta_models.values import Row, Rows

SCHEMA = struct(("id", LONG), ("name", STRING), ("price", DOUBLE))
STRICT = struct(Field("id", LONG, nullable=False), ("name", STRING), ("price", DOUBLE))
ID, NAME, PRICE = Column(("id",)), Column(("name",)), Column(("price",))
THREE: tuple[Row, ...] = ((1, "a", 1.5), (2, "b", None), (None, None, -0.0))
MORE: tuple[Row, ...] = ((4, "a", 4.0), (5, "c", 0.5))


def rows(*values: Row) -> Rows:
    return Rows(SCHEMA, values)


def number(value: int) -> Literal:
    return Literal(LONG, value)


def text(value: str) -> Literal:
    return Literal(STRING, value)


def compare(left: Expression, op: str, right: Expression) -> Compare:
    return Compare(op, left, right)


CREATE = ops.Create(SCHEMA)
PARTITIONED = ops.Create(SCHEMA, ("name",))
FILL = ops.Append(rows(*THREE))
FILL_MORE = ops.Append(rows(*MORE))
SMALL = compare(ID, "<=", number(2))
PLAIN = (CREATE, FILL)
TWICE = (CREATE, FILL, FILL_MORE)
IN_PARTITIONS = (PARTITIONED, FILL, FILL_MORE)

APPEND = PLAIN
APPEND_NOTHING = (*PLAIN, ops.Append(rows()))
APPEND_EMPTY_TEXT = (PARTITIONED, ops.Append(rows((1, "", 1.0), (2, "b", 2.0))))
CREATE_AGAIN = (*PLAIN, CREATE)
CREATE_IF_NOT_EXISTS = (*PLAIN, ops.Create(SCHEMA, if_not_exists=True))
CREATE_WITH_PROPERTIES = (ops.Create(SCHEMA, ("name",), (("delta.checkpointInterval", "3"),)), FILL)
OVERWRITE = (*PLAIN, ops.Overwrite(rows(*MORE)))
REPLACE_WHERE = (*TWICE, ops.Overwrite(rows((1, "z", 9.0)), where=compare(ID, "=", number(1))))
REPLACE_WRONGLY = (*PLAIN, ops.Overwrite(rows((7, "z", 9.0)), where=compare(ID, "=", number(1))))
DYNAMIC = (*IN_PARTITIONS, ops.Overwrite(rows((9, "a", 9.0)), dynamic=True))
CONTRADICTION = (
    *IN_PARTITIONS,
    ops.Overwrite(rows((9, "a", 9.0)), where=compare(ID, "=", number(9)), dynamic=True),
)
DELETE = (*TWICE, ops.Delete(SMALL))
DELETE_ALL = (*TWICE, ops.Delete())
DELETE_NOTHING = (*TWICE, ops.Delete(compare(ID, "=", number(77))))
DELETE_UNKNOWN_COLUMN = (*PLAIN, ops.Delete(compare(Column(("nobody",)), "=", number(1))))
UPDATE = (*TWICE, ops.Update((("price", Literal(DOUBLE, 8.0)),), SMALL))
UPDATE_NOTHING = (*TWICE, ops.Update((("price", Literal(DOUBLE, 8.0)),), compare(ID, "=", number(77))))
ON_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
UPDATE_ALL = ops.MergeClause("matched", "update", everything=True)
INSERT_ALL = ops.MergeClause("not-matched", "insert", everything=True)
DELETE_MATCHED = ops.MergeClause("matched", "delete")
MERGE = (*PLAIN, ops.Merge(rows((1, "new", 7.0), (8, "eight", 8.0)), ON_ID, (UPDATE_ALL, INSERT_ALL)))
MERGE_NOTHING = (*PLAIN, ops.Merge(rows((77, "new", 7.0)), ON_ID, (UPDATE_ALL,)))
MERGE_AMBIGUOUS = (*PLAIN, ops.Merge(rows((1, "x", 7.0), (1, "y", 8.0)), ON_ID, (UPDATE_ALL,)))
MERGE_DELETES_ONCE = (*PLAIN, ops.Merge(rows((1, "x", 7.0), (1, "y", 8.0)), ON_ID, (DELETE_MATCHED,)))
RESTORE = (*TWICE, ops.Restore(ops.AtState(1)))
OPTIMIZE = (*TWICE, ops.Optimize())
OPTIMIZE_BY_DATA = (*IN_PARTITIONS, ops.Optimize(SMALL))
VACUUM = (*OVERWRITE, ops.Vacuum(0.0))
VACUUM_GENTLY = (*OVERWRITE, ops.Vacuum(), ops.Read(ops.AtState(1)))
CHECKPOINT = (*TWICE, ops.Checkpoint())
CHECKPOINT_THEN_READ = (*TWICE, ops.Checkpoint(), ops.Reopen(), FILL)
SET = (*PLAIN, ops.SetProperties((("delta.checkpointInterval", "3"),)))
UNSET = (*CREATE_WITH_PROPERTIES, ops.UnsetProperties(("delta.checkpointInterval",)))
TRACK_LATER = (*UPDATE, ops.SetProperties((("delta.enableRowTracking", "true"),)), FILL, ops.Delete(SMALL))
RENAME = (
    ops.Create(SCHEMA, (), (("delta.columnMapping.mode", "name"),)),
    FILL,
    ops.RenameColumn(("name",), "title"),
)
LOOK = (*TWICE, ops.Read(where=SMALL))
REOPEN = (*TWICE, ops.Reopen())
TIME_TRAVEL = (*OVERWRITE, ops.Read(ops.AtState(1)))
FILTER = (*TWICE, ops.Read(where=Or((SMALL, IsNull(NAME)))))
FILTER_UNKNOWN = (*TWICE, ops.Read(where=SMALL))
LARGE = compare(PRICE, ">", Literal(DOUBLE, 3.0))
WITH_NAN = (CREATE, ops.Append(rows((1, "a", float("nan")), (2, "b", 4.0), (3, "c", 1.0))))
FILTER_NAN = (*WITH_NAN, ops.Read(where=LARGE))
DELETE_NAN = (*WITH_NAN, ops.Delete(LARGE))
NO_TABLE = (FILL,)
READ_NO_TABLE = (ops.Read(),)
MISFIT = (*PLAIN, ops.Append(Rows(struct(("id", STRING), ("name", STRING)), (("x", "y"),))))
NOT_NULL = (ops.Create(STRICT), ops.Append(Rows(STRICT, ((None, "a", 1.0),))))
APPEND_ONLY = (ops.Create(SCHEMA, (), (("delta.appendOnly", "true"),)), FILL, ops.Delete(SMALL))
DROP = (ops.Create(SCHEMA, name="managed", managed=True), FILL, ops.Drop())
DROP_EXTERNAL = (ops.Create(SCHEMA, name="external"), FILL, ops.Drop())
STALE = (*TWICE, ops.Delete(SMALL), ops.Read())
