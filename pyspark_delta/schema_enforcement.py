"""Check and convert data for a table's schema: columns by name, ANSI assignment, at every depth.

`differences` compares two schemas, `merged` widens the table's, `conform` gives a frame the table's columns in order.
Rules about row values (NOT NULL, CHECK, invariants, lengths) are in `constraints`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    FractionalType,
    IntegralType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta import sql_text
from pyspark_delta.exceptions import SchemaMismatch
from pyspark_delta.schema import path_text
from pyspark_delta.void_types import is_in_files

__all__ = [
    "Mode",
    "as_nullable",
    "assignable",
    "conform",
    "differences",
    "merged",
    "restructured",
    "same_type",
]

Mode = Literal["strict", "merge"]


def conform(frame: DataFrame, schema: StructType, mode: Mode = "strict") -> DataFrame:
    """The frame with the schema's columns in order, matched by name ignoring case, assigned as ANSI SQL does.

    Columns that the frame lacks become null. If anything does not fit, SchemaMismatch lists all differences.
    """
    have = frame.schema
    if mode == "merge":
        schema = merged(schema, have)
    mismatches = differences(schema, have)
    if mismatches:
        raise SchemaMismatch("the data does not fit the schema of the table:", differences=mismatches)
    if _same_shape(have, schema):
        return frame
    safe = _Casts(ansi=frame.sparkSession.conf.get("spark.sql.ansi.enabled") == "true")
    by_name = {field.name.lower(): field for field in have.fields}
    columns = []
    for field in schema.fields:
        source = by_name.get(field.name.lower())
        value = (
            f"cast(null as {sql_text.type_text(field.dataType)})"
            if source is None
            else safe.assign(
                sql_text.name(source.name), source.dataType, field.dataType, path_text([field.name])
            )
        )
        columns.append(f"{value} as {sql_text.name(field.name)}")
    return frame.selectExpr(*columns)


def differences(schema: StructType, have: StructType) -> list[str]:
    """All reasons why data of the schema `have` does not fit, one sentence each."""
    return list(_struct_differences(schema, have, (), at_top=True))


def merged(schema: StructType, have: StructType) -> StructType:
    """The table's schema with the columns that only the data has, at the end of the struct to which they belong."""
    return _merged_struct(schema, have)


def as_nullable(data_type: DataType) -> DataType:
    """The type with null allowed everywhere."""
    if isinstance(data_type, StructType):
        return StructType(
            [
                StructField(f.name, as_nullable(f.dataType), True, dict(f.metadata or {}))
                for f in data_type.fields
            ]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(as_nullable(data_type.elementType), True)
    if isinstance(data_type, MapType):
        return MapType(as_nullable(data_type.keyType), as_nullable(data_type.valueType), True)
    return data_type


def same_type(left: DataType, right: DataType) -> bool:
    """Whether two types are equal apart from nullability and metadata."""
    if isinstance(left, StructType) and isinstance(right, StructType):
        return _same_shape(left, right)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return same_type(left.elementType, right.elementType)
    if isinstance(left, MapType) and isinstance(right, MapType):
        return same_type(left.keyType, right.keyType) and same_type(left.valueType, right.valueType)
    return bool(left == right)


def assignable(have: DataType, want: DataType) -> bool:
    """Whether ANSI SQL allows a value of one atomic type in a column of the other."""
    if have == want or isinstance(have, NullType):
        return True
    if isinstance(want, StringType):
        return (
            not isinstance(have, StructType | ArrayType | MapType | BinaryType)
            and have.typeName() != "variant"
        )
    if isinstance(have, NumericType) and isinstance(want, NumericType):
        return True
    moments = (DateType, TimestampType, TimestampNTZType)
    return isinstance(have, moments) and isinstance(want, moments)


def restructured(reference: str, have: DataType, want: DataType) -> str:
    """An expression that renames a value's fields by position; fields that `have` lacks are void."""
    return _renamed(reference, have, want, 0)


def _same_shape(left: StructType, right: StructType) -> bool:
    return len(left.fields) == len(right.fields) and all(
        left_field.name == right_field.name and same_type(left_field.dataType, right_field.dataType)
        for left_field, right_field in zip(left.fields, right.fields, strict=True)
    )


def _struct_differences(
    want: StructType, have: StructType, prefix: tuple[str, ...], *, at_top: bool = False
) -> Iterator[str]:
    sources: dict[str, StructField] = {}
    for field in have.fields:
        folded = field.name.lower()
        if folded in sources:
            yield (
                f"{path_text((*prefix, field.name))} comes twice in the data (as {sources[folded].name} and "
                f"{field.name}), and names are the same whatever their case"
            )
        sources[folded] = field
    targets = {field.name.lower() for field in want.fields}
    for field in have.fields:
        if field.name.lower() not in targets:
            yield (
                f"{path_text((*prefix, field.name))} ({field.dataType.simpleString()}) is in the data and not in the "
                "table; merge_schema would add it"
            )
    for field in want.fields:
        source = sources.get(field.name.lower())
        place = (*prefix, field.name)
        if source is not None:
            yield from _type_differences(field.dataType, source.dataType, place)
        elif not field.nullable:
            yield f"{path_text(place)} is NOT NULL in the table and missing in the data"
    if at_top and not sources:
        yield "the data has no columns"


def _type_differences(want: DataType, have: DataType, place: tuple[str, ...]) -> Iterator[str]:
    if isinstance(want, StructType) and isinstance(have, StructType):
        yield from _struct_differences(want, have, place)
    elif isinstance(want, ArrayType) and isinstance(have, ArrayType):
        yield from _type_differences(want.elementType, have.elementType, (*place, "element"))
    elif isinstance(want, MapType) and isinstance(have, MapType):
        yield from _type_differences(want.keyType, have.keyType, (*place, "key"))
        yield from _type_differences(want.valueType, have.valueType, (*place, "value"))
    elif not isinstance(have, NullType) and (_is_nested(want) or not assignable(have, want)):
        yield (
            f"{path_text(place)} is {want.simpleString()} in the table and {have.simpleString()} in the data, "
            "which ANSI SQL does not store there without a cast"
        )


def _is_nested(data_type: DataType) -> bool:
    return isinstance(data_type, StructType | ArrayType | MapType)


def _merged_struct(want: StructType, have: StructType) -> StructType:
    sources = {field.name.lower(): field for field in have.fields}
    fields = []
    for field in want.fields:
        source = sources.pop(field.name.lower(), None)
        kind = field.dataType if source is None else _merged_type(field.dataType, source.dataType)
        fields.append(StructField(field.name, kind, field.nullable, dict(field.metadata or {})))
    fields.extend(
        StructField(field.name, as_nullable(field.dataType), True, dict(field.metadata or {}))
        for field in have.fields
        if field.name.lower() in sources
    )
    return StructType(fields)


def _merged_type(want: DataType, have: DataType) -> DataType:
    if isinstance(want, NullType):
        return as_nullable(have)
    if isinstance(want, StructType) and isinstance(have, StructType):
        return _merged_struct(want, have)
    if isinstance(want, ArrayType) and isinstance(have, ArrayType):
        return ArrayType(_merged_type(want.elementType, have.elementType), want.containsNull)
    if isinstance(want, MapType) and isinstance(have, MapType):
        return MapType(
            _merged_type(want.keyType, have.keyType),
            _merged_type(want.valueType, have.valueType),
            want.valueContainsNull,
        )
    return want


@dataclass(frozen=True, slots=True)
class _Casts:
    """Builds the cast expressions. If the session's CAST would wrap or give null, the expression raises instead."""

    ansi: bool

    def assign(self, reference: str, have: DataType, want: DataType, place: str, depth: int = 0) -> str:
        if same_type(have, want):
            return reference
        if isinstance(want, StructType) and isinstance(have, StructType):
            return self._struct(reference, have, want, place, depth)
        if isinstance(want, ArrayType) and isinstance(have, ArrayType):
            element = f"x{depth}"
            assigned = self.assign(element, have.elementType, want.elementType, place, depth + 1)
            return f"transform({reference}, {element} -> {assigned})"
        if isinstance(want, MapType) and isinstance(have, MapType):
            return self._map(reference, have, want, place, depth)
        return self._atom(reference, have, want, place)

    def _struct(self, reference: str, have: StructType, want: StructType, place: str, depth: int) -> str:
        sources = {field.name.lower(): field for field in have.fields}
        parts = []
        for field in want.fields:
            source = sources.get(field.name.lower())
            value = (
                f"cast(null as {sql_text.type_text(field.dataType)})"
                if source is None
                else self.assign(
                    f"{reference}.{sql_text.name(source.name)}",
                    source.dataType,
                    field.dataType,
                    f"{place}.{field.name}",
                    depth,
                )
            )
            parts.append(f"{sql_text.literal(field.name)}, {value}")
        return f"if({reference} is null, null, named_struct({', '.join(parts)}))"

    def _map(self, reference: str, have: MapType, want: MapType, place: str, depth: int) -> str:
        key, value = f"k{depth}", f"v{depth}"
        assigned = reference
        if not same_type(have.valueType, want.valueType):
            inner = self.assign(value, have.valueType, want.valueType, place, depth + 1)
            assigned = f"transform_values({assigned}, ({key}, {value}) -> {inner})"
        if not same_type(have.keyType, want.keyType):
            inner = self.assign(key, have.keyType, want.keyType, place, depth + 1)
            assigned = f"transform_keys({assigned}, ({key}, {value}) -> {inner})"
        return assigned

    def _atom(self, reference: str, have: DataType, want: DataType, place: str) -> str:
        target = sql_text.type_text(want)
        cast = f"cast({reference} as {target})"
        if self.ansi or not _can_overflow(have, want):
            return cast
        tried = f"try_cast({reference} as {target})"
        message = sql_text.literal(f"a value of {place} does not fit into {target}: ")
        failure = f"raise_error(concat({message}, cast({reference} as string)))"
        return f"if({reference} is not null and {tried} is null, cast({failure} as {target}), {cast})"


def _can_overflow(have: DataType, want: DataType) -> bool:
    if not isinstance(have, NumericType) or not isinstance(want, NumericType):
        return False
    widths = {
        "byte": 1,
        "tinyint": 1,
        "short": 2,
        "smallint": 2,
        "integer": 4,
        "int": 4,
        "long": 8,
        "bigint": 8,
    }
    if isinstance(have, IntegralType) and isinstance(want, IntegralType):
        return widths.get(want.typeName(), 0) < widths.get(have.typeName(), 8)
    return not (isinstance(want, FractionalType) and want.typeName() in {"double", "float"})


def _renamed(reference: str, have: DataType, want: DataType, depth: int) -> str:
    if have == want:
        return reference
    if isinstance(want, NullType):
        return "null"
    if isinstance(want, StructType) and isinstance(have, StructType):
        known = iter(have.fields)
        parts = []
        for field in want.fields:
            if not is_in_files(field.dataType):
                null = f"cast(null as {sql_text.type_text(field.dataType)})"
                parts.append(f"{sql_text.literal(field.name)}, {null}")
                continue
            source = next(known)
            value = _renamed(
                f"{reference}.{sql_text.name(source.name)}", source.dataType, field.dataType, depth
            )
            parts.append(f"{sql_text.literal(field.name)}, {value}")
        return f"if({reference} is null, null, named_struct({', '.join(parts)}))"
    if isinstance(want, ArrayType) and isinstance(have, ArrayType):
        element = f"x{depth}"
        inner = _renamed(element, have.elementType, want.elementType, depth + 1)
        return f"transform({reference}, {element} -> {inner})"
    if isinstance(want, MapType) and isinstance(have, MapType):
        key, value = f"k{depth}", f"v{depth}"
        values = _renamed(value, have.valueType, want.valueType, depth + 1)
        keys = _renamed(key, have.keyType, want.keyType, depth + 1)
        renamed = (
            reference if values == value else f"transform_values({reference}, ({key}, {value}) -> {values})"
        )
        return renamed if keys == key else f"transform_keys({renamed}, ({key}, {value}) -> {keys})"
    return f"cast({reference} as {sql_text.type_text(want)})"
