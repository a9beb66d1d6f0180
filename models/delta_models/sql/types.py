"""Convert SQL's types, such as `int`, `decimal(10, 2)` or `struct<a: int>`, to Delta types."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from delta_models.schema import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    DecimalType,
    Field,
    Map,
    Primitive,
    Struct,
)
from delta_models.sql.errors import NotUnderstood

_T = exp.DataType.Type
TIME = Primitive("time(6)")
_NAMED: dict[Any, DataType] = {
    _T.TINYINT: BYTE, _T.SMALLINT: SHORT, _T.INT: INTEGER, _T.BIGINT: LONG, _T.FLOAT: FLOAT, _T.DOUBLE: DOUBLE,
    _T.TEXT: STRING, _T.VARCHAR: STRING, _T.CHAR: STRING, _T.BINARY: BINARY, _T.VARBINARY: BINARY,
    _T.BOOLEAN: BOOLEAN, _T.DATE: DATE, _T.TIMESTAMP: TIMESTAMP, _T.TIMESTAMPTZ: TIMESTAMP,
    _T.TIMESTAMPLTZ: TIMESTAMP, _T.TIMESTAMPNTZ: TIMESTAMP_NTZ, _T.VARIANT: VARIANT, _T.NULL: VOID, _T.TIME: TIME,
}  # fmt: skip


def type_from(tree: exp.Expression) -> DataType:
    """Return the Delta type of a type in a syntax tree. Raises NotUnderstood."""
    kind, inner = tree.this, tree.expressions
    if kind in _NAMED:
        return _NAMED[kind]
    match kind:
        case _T.DECIMAL:
            precision, scale = ([int(parameter.name) for parameter in inner] + [10, 0][len(inner) :])[:2]
            return DecimalType(precision, scale)
        case _T.ARRAY | _T.LIST if len(inner) == 1:
            return Array(type_from(inner[0]))
        case _T.MAP if len(inner) == 2:
            return Map(type_from(inner[0]), type_from(inner[1]))
        case _T.STRUCT:
            return Struct(
                tuple(Field(parameter.name, type_from(parameter.args["kind"])) for parameter in inner)
            )
    raise NotUnderstood(f"the type {tree.sql('spark')}")
