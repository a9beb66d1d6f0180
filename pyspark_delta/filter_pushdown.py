"""Translate the filters of a query that Spark is planning into a predicate on files.

The JVM side of `file_index` sends them as JSON arrays: `["and", ...]`, `["or", ...]`, `["not", x]`,
`["null", column]`, `["not null", column]`, `["in", column, ...]`, `["starts", column, text]`, or a comparison
`["<=", column, value]`. A column is an array of names. A value is null, or the text of Spark's internal number (days,
microseconds).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import orjson
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.partition_values import Internal
from pyspark_delta.predicates import (
    And,
    Comparison,
    In,
    IsNull,
    Not,
    Or,
    Path,
    Predicate,
    StartsWith,
    Unknown,
)
from pyspark_delta.schema import find

__all__ = ["predicate_of_filters"]

_NUMBERS = (DateType, TimestampType, TimestampNTZType, IntegralType)


def predicate_of_filters(text: str, schema: StructType) -> Predicate:
    """The predicate of the filters, over the schema's columns; filters without a counterpart keep every file."""
    return _predicate(orjson.loads(text), schema)


def _predicate(filter_json: list[Any], schema: StructType) -> Predicate:
    operator, *rest = filter_json
    if operator == "and":
        return And(tuple(_predicate(part, schema) for part in rest))
    if operator == "or":
        return Or(tuple(_predicate(part, schema) for part in rest))
    if operator == "not":
        return Not(_predicate(rest[0], schema))
    column: Path = tuple(rest[0])
    if operator == "null":
        return IsNull(column)
    if operator == "not null":
        return Not(IsNull(column))
    data_type = _type_of(column, schema)
    try:
        values = tuple(_value(text, data_type) for text in rest[1:])
    except (ValueError, ArithmeticError):
        return Unknown((column,))
    if operator == "in":
        return In(column, values)
    if operator == "starts":
        return StartsWith(column, values[0]) if isinstance(values[0], str) else Unknown((column,))
    return Comparison(operator, column, values[0])


def _type_of(column: Path, schema: StructType) -> DataType | None:
    inside: DataType = schema
    for name in column:
        field = find(inside, name) if isinstance(inside, StructType) else None
        if field is None:
            return None
        inside = field.dataType
    return inside


def _value(text: str | None, data_type: DataType | None) -> Internal | None:
    if text is None:
        return None
    if isinstance(data_type, StringType):
        return text
    if isinstance(data_type, BooleanType):
        return text == "true"
    if isinstance(data_type, _NUMBERS):
        return int(text)
    if isinstance(data_type, DecimalType):
        return Decimal(text)
    if isinstance(data_type, FloatType | DoubleType):
        return float(text.replace("Infinity", "inf"))
    raise ValueError(text)
