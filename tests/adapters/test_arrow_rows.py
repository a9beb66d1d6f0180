import math

import pyarrow as pa
import pytest

from delta_adapters.arrow_rows import arrow_schema, as_held, to_arrow
from delta_models import variants
from delta_models.log.parquet import arrow_to_rows
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    Field,
    Map,
    Primitive,
    Struct,
    struct,
)
from delta_models.values import Rows, same_key
from tests.adapters.extremes import EXTREMES

NESTED = struct(("day", DATE), ("at", TIMESTAMP), ("text", STRING))
VALUES = {
    **EXTREMES,
    STRING: (*EXTREMES[STRING], "\x00"),
    BINARY: (b"", b"\x00\xff", b"abc"),
    NESTED: ((0, -1, "a"), (None, None, None), (2_932_896, 1, "")),
    Array(NESTED): ((), ((0, -1, "a"), None), (None,)),
    VOID: (),
    VARIANT: tuple(map(variants.encode, (None, 1, "a", {"a": [True, None]}))),
    Array(VARIANT): ((), (variants.encode({}), None)),
    Array(Array(LONG)): ((), ((), None, (1, None))),
    Map(STRING, TIMESTAMP_NTZ): ((), (("a", 5), ("b", None))),
    Map(DATE, Struct((Field("x", BOOLEAN),))): (((0, (True,)), (1, None)),),
}


@pytest.mark.parametrize("data_type", tuple(VALUES), ids=str)
def test_values_come_back_from_arrow_as_they_went_in(data_type):
    values = (*VALUES[data_type], None)
    schema = struct(("value", data_type))
    rows = Rows(schema, tuple((value,) for value in values))
    back = arrow_to_rows(to_arrow(rows), schema)
    assert [same_key(schema, row) for row in back.rows] == [same_key(schema, row) for row in rows.rows]


def test_negative_zero_keeps_its_sign():
    schema = struct(("value", next(extreme for extreme in EXTREMES if str(extreme) == "double")))
    column = to_arrow(Rows(schema, ((-0.0,), (0.0,))))["value"].to_pylist()
    assert [math.copysign(1, value) for value in column] == [-1, 1]


def test_no_rows_have_a_schema_all_the_same():
    schema = Struct((Field("id", LONG, nullable=False), Field("at", TIMESTAMP)))
    table = to_arrow(Rows(schema, ()))
    assert table.num_rows == 0
    assert table.schema == pa.schema(
        [pa.field("id", pa.int64(), False), pa.field("at", pa.timestamp("us", "UTC"))]
    )


def test_a_type_that_arrow_lacks_is_refused():
    with pytest.raises(TypeError, match="interval year"):
        arrow_schema(struct(("v", Primitive("interval year"))))


def test_columns_that_hold_a_null_are_declared_as_they_are_at_any_depth():
    inner = Struct((Field("x", LONG, nullable=False), Field("y", LONG, nullable=False)))
    fields = (
        Field("id", LONG, nullable=False),
        Field("kept", LONG, nullable=False),
        Field("some", Array(inner, contains_null=False), nullable=False),
        Field("by", Map(STRING, LONG, value_contains_null=False)),
    )
    rows = Rows(Struct(fields), ((1, 1, ((1, None),), (("a", None),)), (None, 2, ((2, 3),), None)))
    held = as_held(rows)
    assert held.rows == rows.rows
    assert [field.nullable for field in held.schema] == [True, False, False, True]
    some = held.schema.fields[2].type
    assert not some.contains_null
    assert [field.nullable for field in some.element.fields] == [False, True]
    assert held.schema.fields[3].type.value_contains_null
    assert arrow_schema(held.schema).field("kept").nullable is False


def test_the_metadata_of_columns_goes_along_if_it_is_wanted():
    field = Field("c", LONG).with_metadata({"delta.generationExpression": "a + 1", "number": 2})
    assert arrow_schema(Struct((field,))).field("c").metadata is None
    told = to_arrow(Rows(Struct((field, Field("d", LONG))), ()), with_metadata=True).schema
    assert told.field("c").metadata == {b"delta.generationExpression": b"a + 1", b"number": b"2"}
    assert told.field("d").metadata is None
