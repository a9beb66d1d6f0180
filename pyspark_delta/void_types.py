"""Columns of type void: no data file has them, at any depth, and every reader takes them for null.

Rows can't be written where void can't be left out: inside an array or a map, or where nothing else is left of a struct
or of the whole table. Such a schema is allowed as long as nobody writes rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructType

from pyspark_delta import sql_text
from pyspark_delta.exceptions import DeltaAnalysisError
from pyspark_delta.schema import path_text

__all__ = ["is_in_files", "refuse_void", "void_places", "without_void", "without_void_fields"]


def is_in_files(data_type: DataType) -> bool:
    """Whether data files can have a column of this type; false for void and for a struct of nothing but void.

    Arrays and maps of void count: this engine writes none, but reads what other writers made.
    """
    if isinstance(data_type, StructType):
        return any(is_in_files(field.dataType) for field in data_type.fields)
    if isinstance(data_type, ArrayType):
        return _is_part_in_files(data_type.elementType)
    if isinstance(data_type, MapType):
        return _is_part_in_files(data_type.keyType) and _is_part_in_files(data_type.valueType)
    return not isinstance(data_type, NullType)


def without_void_fields(data_type: DataType) -> DataType:
    """The type as this engine writes it: structs, outside of arrays and maps, have no field that is void."""
    if not isinstance(data_type, StructType):
        return data_type
    kept = StructType()
    for field in data_type.fields:
        if is_in_files(field.dataType):
            kept.add(field.name, without_void_fields(field.dataType), field.nullable, field.metadata)
    return kept


def without_void(reference: str, data_type: DataType) -> str:
    """An expression for a value as this engine writes it, of the type that `without_void_fields` gives."""
    if not isinstance(data_type, StructType) or without_void_fields(data_type) == data_type:
        return reference
    parts = [
        f"{sql_text.literal(field.name)}, "
        f"{without_void(f'{reference}.{sql_text.name(field.name)}', field.dataType)}"
        for field in data_type.fields
        if is_in_files(field.dataType)
    ]
    return f"if({reference} is null, null, named_struct({', '.join(parts)}))"


def void_places(schema: StructType) -> list[str]:
    """The paths of everything void in the schema, at any depth."""
    return [path_text(path) for path in _void_paths(schema, ())]


def refuse_void(schema: StructType, partition_columns: Iterable[str]) -> None:
    """Raise if rows of this schema can't be written because of void."""
    problems = list(_problems(schema, ()))
    partition = set(partition_columns)
    if not any(is_in_files(field.dataType) for field in schema.fields if field.name not in partition):
        problems.append("no column of the data files has another type than void")
    if problems:
        raise DeltaAnalysisError(
            f"rows can't be written to a table with void in these places: {'; '.join(problems)}",
            "Give them a type: cast the nulls in the data, or change the table's schema.",
        )


def _is_part_in_files(part: DataType) -> bool:
    return isinstance(part, NullType) or is_in_files(part)


def _problems(data_type: DataType, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(data_type, StructType):
        if path and not is_in_files(data_type):
            yield f"{path_text(path)} has no field of another type than void"
        for field in data_type.fields:
            yield from _problems(field.dataType, (*path, field.name))
    elif isinstance(data_type, ArrayType | MapType):
        for inner in _void_paths(data_type, path):
            yield f"{path_text(inner)} is void inside an array or a map"


def _void_paths(data_type: DataType, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(data_type, NullType):
        yield path
    elif isinstance(data_type, StructType):
        for field in data_type.fields:
            yield from _void_paths(field.dataType, (*path, field.name))
    elif isinstance(data_type, ArrayType):
        yield from _void_paths(data_type.elementType, (*path, "element"))
    elif isinstance(data_type, MapType):
        yield from _void_paths(data_type.keyType, (*path, "key"))
        yield from _void_paths(data_type.valueType, (*path, "value"))
