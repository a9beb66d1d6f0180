"""The table's schema: its JSON, the names of columns in files, and the rules for names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson
from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructField, StructType

from pyspark_delta.exceptions import CorruptLog, DeltaAnalysisError

__all__ = [
    "MAPPING_ID",
    "MAPPING_MODE",
    "PHYSICAL_NAME",
    "check_names",
    "column_mapping_mode",
    "field_id",
    "find",
    "from_json",
    "leaves",
    "path_text",
    "physical_name",
    "physical_path",
    "physical_schema",
    "to_json",
    "walk",
]

MAPPING_MODE = "delta.columnMapping.mode"
MAPPING_ID = "delta.columnMapping.id"
PHYSICAL_NAME = "delta.columnMapping.physicalName"

_FORBIDDEN = " ,;{}()\n\t="


def from_json(schema_string: str) -> StructType:
    """The schema as Spark's type, with the metadata of its fields."""
    try:
        schema = StructType.fromJson(orjson.loads(schema_string))
    except Exception as problem:  # PySpark raises many kinds of errors for a bad text
        raise CorruptLog(
            f"the schema of the table can't be read ({problem}): {schema_string[:200]}"
        ) from problem
    return schema


def to_json(schema: StructType) -> str:
    """The schema's text for the log; fields keep their order and metadata."""
    return str(schema.json())


def column_mapping_mode(configuration: Mapping[str, str]) -> str:
    """The mode of column mapping in these properties: `none`, `name` or `id`."""
    return configuration.get(MAPPING_MODE, "none").lower()


def physical_name(field: StructField) -> str:
    """The column's name in files, statistics and partition values."""
    return str((field.metadata or {}).get(PHYSICAL_NAME, field.name))


def field_id(field: StructField) -> int | None:
    """The id that column mapping gave the column."""
    number = (field.metadata or {}).get(MAPPING_ID)
    return None if number is None else int(number)


def physical_schema(schema: StructType) -> StructType:
    """The same schema with the names that files use, at every depth."""
    renamed = _physical(schema)
    assert isinstance(renamed, StructType)  # noqa: S101 - a struct stays one
    return renamed


def physical_path(schema: StructType, path: Iterable[str]) -> tuple[str, ...] | None:
    """The names in files of the column at a path; None if there is no such column."""
    names: list[str] = []
    inside: DataType = schema
    for name in path:
        field = find(inside, name) if isinstance(inside, StructType) else None
        if field is None:
            return None
        names.append(physical_name(field))
        inside = field.dataType
    return tuple(names)


def find(schema: StructType, name: str) -> StructField | None:
    """The field with this name, ignoring case; None if there is none."""
    exact: list[StructField] = [field for field in schema.fields if field.name == name]
    if exact:
        return exact[0]
    folded = name.lower()
    return next((field for field in schema.fields if field.name.lower() == folded), None)


def leaves(schema: StructType, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], StructField]]:
    """The columns that can have statistics, in order. Structs are entered; an array or a map is one column."""
    for field in schema.fields:
        path = (*prefix, field.name)
        if isinstance(field.dataType, StructType):
            yield from leaves(field.dataType, path)
        else:
            yield path, field


def walk(data_type: DataType, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], StructField]]:
    """Every field at every depth, parents first; elements, keys and values are steps of their own."""
    if isinstance(data_type, StructType):
        for field in data_type.fields:
            path = (*prefix, field.name)
            yield path, field
            yield from walk(field.dataType, path)
    elif isinstance(data_type, ArrayType):
        yield from walk(data_type.elementType, (*prefix, "element"))
    elif isinstance(data_type, MapType):
        yield from walk(data_type.keyType, (*prefix, "key"))
        yield from walk(data_type.valueType, (*prefix, "value"))


def path_text(path: Iterable[str]) -> str:
    """A column's path as SQL writes it."""
    return ".".join(part if part.isidentifier() else "`" + part.replace("`", "``") + "`" for part in path)


def check_names(schema: StructType, partition_columns: Iterable[str] = (), *, mapped: bool = False) -> None:
    """Raise if the schema has names that no Delta table can have, such as duplicates."""
    problems: list[str] = []
    _check_struct(schema, (), mapped, problems)
    columns = list(partition_columns)
    for name in columns:
        field = next((field for field in schema.fields if field.name == name), None)
        if field is None:
            problems.append(f"partition column {path_text([name])} is not a column of the table")
        elif (
            isinstance(field.dataType, StructType | ArrayType | MapType | NullType)
            or field.dataType.typeName() == "variant"
        ):
            problems.append(f"partition column {path_text([name])} has type {field.dataType.simpleString()}")
    if len(set(columns)) < len(columns):
        problems.append("a partition column is named twice")
    if columns and len(columns) == len(schema.fields):
        problems.append("every column is a partition column, so that there is nothing to write into files")
    if problems:
        raise DeltaAnalysisError(
            "the schema can't be that of a table: " + "; ".join(problems),
            "Rename or leave out the columns named.",
        )


def _check_struct(data_type: DataType, prefix: tuple[str, ...], mapped: bool, problems: list[str]) -> None:
    if isinstance(data_type, ArrayType):
        _check_struct(data_type.elementType, (*prefix, "element"), mapped, problems)
    elif isinstance(data_type, MapType):
        _check_struct(data_type.keyType, (*prefix, "key"), mapped, problems)
        _check_struct(data_type.valueType, (*prefix, "value"), mapped, problems)
    elif isinstance(data_type, StructType):
        taken: set[str] = set()
        for field in data_type.fields:
            path = (*prefix, field.name)
            if field.name.lower() in taken:
                problems.append(
                    f"column {path_text(path)} appears twice (names differ in more than their case)"
                )
            taken.add(field.name.lower())
            if not field.name:
                problems.append("a column has no name")
            elif not mapped and any(character in _FORBIDDEN for character in field.name):
                problems.append(f"the name {path_text(path)} has a character of {_FORBIDDEN!r}")
            _check_struct(field.dataType, path, mapped, problems)


def _physical(data_type: DataType) -> DataType:
    if isinstance(data_type, StructType):
        return StructType(
            [
                StructField(
                    physical_name(field), _physical(field.dataType), field.nullable, _copied(field.metadata)
                )
                for field in data_type.fields
            ]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(_physical(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, MapType):
        return MapType(
            _physical(data_type.keyType), _physical(data_type.valueType), data_type.valueContainsNull
        )
    return data_type


def _copied(metadata: dict[str, Any] | None) -> dict[str, Any]:
    return dict(metadata or {})
