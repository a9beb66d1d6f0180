"""Comparing the schema of data with that of a table reports all differences at once; merging widens the table's."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from pyspark_delta.schema_enforcement import assignable, differences, merged


def struct(*fields: StructField) -> StructType:
    return StructType(list(fields))


def field(name: str, data_type: DataType, *, nullable: bool = True) -> StructField:
    return StructField(name, data_type, nullable)


def test_names_match_whatever_their_case_and_order():
    table = struct(
        field("Id", LongType()), field("s", struct(field("A", LongType()), field("b", LongType())))
    )
    data = struct(field("S", struct(field("B", LongType()), field("a", LongType()))), field("iD", LongType()))
    assert differences(table, data) == []


def test_every_difference_is_reported_at_once():
    table = struct(
        field("id", LongType(), nullable=False),
        field("day", DateType()),
        field("s", struct(field("x", LongType()), field("y", struct(field("z", BooleanType()))))),
        field("l", ArrayType(struct(field("e", LongType())))),
        field("m", MapType(StringType(), LongType())),
    )
    inner = struct(field("z", LongType()))
    data = struct(
        field("day", LongType()),
        field("extra", StringType()),
        field("s", struct(field("x", StringType()), field("more", LongType()), field("y", inner))),
        field("l", ArrayType(struct(field("e", DateType())))),
        field("m", LongType()),
    )
    text = "\n".join(differences(table, data))
    assert len(differences(table, data)) == 8, text
    nested = ("s.x is bigint", "s.more", "s.y.z", "l.element.e")
    for difference in ("id is NOT NULL", "day is date", "extra (string)", "m is map", *nested):
        assert difference in text


def test_a_name_that_comes_twice_ignoring_case_is_refused():
    twice = struct(field("a", LongType()), field("A", LongType()))
    assert "twice" in differences(struct(field("a", LongType())), twice)[0]


@pytest.mark.parametrize(
    ("have", "want", "allowed"),
    (
        (LongType(), IntegerType(), True),
        (DoubleType(), DecimalType(5, 2), True),
        (IntegerType(), StringType(), True),
        (DateType(), TimestampType(), True),
        (NullType(), DateType(), True),
        (StringType(), IntegerType(), False),
        (BooleanType(), IntegerType(), False),
        (LongType(), TimestampType(), False),
        (BinaryType(), StringType(), False),
        (StringType(), BinaryType(), False),
        (LongType(), BooleanType(), False),
    ),
)
def test_ansi_assignment_allows_what_loses_nothing_by_its_type(have: DataType, want: DataType, allowed: bool):
    assert assignable(have, want) is allowed


def test_a_merge_adds_columns_at_the_end_of_where_they_belong_and_as_nullable():
    table = struct(field("a", IntegerType(), nullable=False), field("s", struct(field("x", LongType()))))
    data = struct(
        field("new", LongType(), nullable=False),
        field(
            "S", struct(field("y", struct(field("z", LongType(), nullable=False))), field("X", LongType()))
        ),
        field("A", LongType()),
    )
    wanted = struct(
        field("a", IntegerType(), nullable=False),
        field("s", struct(field("x", LongType()), field("y", struct(field("z", LongType()))))),
        field("new", LongType()),
    )
    assert merged(table, data) == wanted


def test_a_merge_that_adds_nothing_leaves_the_schema_as_it_is():
    table = struct(
        field("a", IntegerType()), field("m", MapType(StringType(), ArrayType(LongType(), False), False))
    )
    assert merged(table, struct(field("M", MapType(StringType(), ArrayType(IntegerType()))))) == table


def test_a_void_column_takes_the_type_of_the_data():
    assert merged(struct(field("v", NullType())), struct(field("v", LongType()))) == struct(
        field("v", LongType())
    )
