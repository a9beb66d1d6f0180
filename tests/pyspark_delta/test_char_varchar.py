"""CHAR and VARCHAR are recognised in a column's declared type, at any depth."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    CharType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from pyspark_delta.char_varchar import declared_type, too_long_condition


def column(data_type, text=None, name="c"):
    return StructField(name, data_type, True, {"__CHAR_VARCHAR_TYPE_STRING": text} if text else {})


@pytest.mark.parametrize(
    ("field", "expected"),
    (
        (column(StringType(), "char(3)"), CharType(3)),
        (column(StringType(), " VARCHAR(3) "), VarcharType(3)),
        (column(ArrayType(StringType()), "array<varchar(3)>"), ArrayType(VarcharType(3))),
        (
            column(MapType(StringType(), ArrayType(StringType(), False)), "map<char(2),array<varchar(3)>>"),
            MapType(CharType(2), ArrayType(VarcharType(3), False)),
        ),
        (
            column(
                StructType([column(StringType(), name="a:b"), column(IntegerType(), name="n")]),
                "struct<a:b:varchar(1),n:int>",
            ),
            StructType([column(VarcharType(1), name="a:b"), column(IntegerType(), name="n")]),
        ),
        (column(StringType()), None),
        (column(ArrayType(StringType()), "array<string>(3)"), None),
        (column(ArrayType(StringType()), "map<string,varchar(3)>"), None),
    ),
    ids=lambda value: str(value.metadata or value) if isinstance(value, StructField) else repr(value),
)
def test_the_declared_type_is_read_beside_the_one_that_readers_see(field, expected):
    assert declared_type(field) == expected


def test_a_declaration_inside_of_a_struct_counts_too():
    inside = StructType([column(StringType(), "varchar(2)", "x"), column(StringType(), None, "y")])
    assert declared_type(column(inside)) == inside
    assert too_long_condition("`c`", inside) == "(coalesce(char_length(rtrim(`c`.`x`)) > 2, false))"
    assert too_long_condition("`c`", StringType()) is None
