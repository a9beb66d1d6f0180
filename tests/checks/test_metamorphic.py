"""The metamorphic rules are judged for every type.

The history changes the schema and the session's time zone, compacts files, and has files of two engines.
"""

from __future__ import annotations

import pytest

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, IsNull, Literal, Or
from delta_models.portability import is_strange
from delta_models.schema import BINARY, LONG, Array, DataType, Field, Map, struct
from delta_models.values import Rows, Value
from tests.adapters.extremes import EXTREMES
from tests.mutants.stage import play

MAPPED = (("delta.columnMapping.mode", "name"),)
OLD, NEW = Column(("v",)), Column(("w",))
COMPARED = EXTREMES | {BINARY: (b"", b"\x00", b"\xff\xfe")}
HELD: dict[DataType, tuple[Value, ...]] = {
    struct(("x", LONG)): ((1,), (None,)),
    Array(LONG): ((1, None), ()),
    Map(LONG, LONG): (((1, 2),), ()),
}


def story(data_type: DataType, values: tuple[Value, ...], wanted: Value) -> list[tuple[ops.Operation, str]]:
    """Return a history in which two engines write, change the definition and the zone, and filter by one value."""
    schema = struct(("id", LONG), ("v", data_type))
    rows = [(number, value) for number, value in enumerate((*values, None))]
    halves = [Rows(schema, tuple(half)) for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :])]

    def predicate(column: Column) -> Or | IsNull:
        if wanted is None:
            return IsNull(column)
        return Or((Compare("=", column, Literal(data_type, wanted)), IsNull(column)))

    return [
        (ops.Create(schema, (), MAPPED), "A"),
        (ops.Append(halves[0]), "A"),
        (ops.Append(halves[1]), "B"),
        (ops.Read(where=predicate(OLD)), "A"),
        (ops.AddColumn(Field("more", LONG), first=True), "A"),
        (ops.RenameColumn(("v",), "w"), "B"),
        (ops.SetZone("Asia/Kathmandu"), "A"),
        (ops.Read(where=predicate(NEW)), "B"),
        (ops.Optimize(), "B"),
        (ops.Read(ops.AtState(2), where=predicate(OLD)), "A"),
        (ops.Delete(predicate(NEW)), "A"),
    ]


@pytest.mark.parametrize("data_type", (*COMPARED, *HELD), ids=str)
def test_each_rule_is_judged_for_each_type(data_type: DataType, tmp_path):
    values = COMPARED.get(data_type) or HELD[data_type]
    plain = [value for value in values if not is_strange(data_type, value)]
    wanted = plain[len(plain) // 2] if data_type in COMPARED else None
    played = play(Reference(), tmp_path / "table", story(data_type, values, wanted), Reference())
    assert played.broken == set(), played.describe()
    assert played.faults == []
    evidence = played.evidence
    assert evidence["metamorphic.filter-picks"] >= 4
    assert evidence["metamorphic.delete-takes-what-filter-picks"] == 1
    assert evidence["metamorphic.definition-keeps-answer"] >= 2
    assert evidence["metamorphic.zone-keeps-answer"] >= 1
    assert evidence["metamorphic.upkeep-keeps-answer"] >= 1
