"""The schema after a merge with schema evolution, and values that fit it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import DataType, StructField, StructType

from pyspark_delta.commands.assignments import parse_name
from pyspark_delta.commands.merge_clauses import BY_SOURCE, Clause
from pyspark_delta.schema import find
from pyspark_delta.schema_enforcement import merged

__all__ = ["grown_schema", "overlaid"]


def grown_schema(
    schema: StructType, source: StructType, clauses: Sequence[Clause], alias: str | None
) -> StructType:
    """The table's schema with the source's columns and fields that clauses assign; `*` assigns all."""
    paths: set[tuple[str, ...]] = set()
    for clause in clauses:
        if clause.when == BY_SOURCE or clause.action == "delete":
            continue
        if clause.assigned is None:
            return merged(schema, source)
        paths |= {_without_alias(parse_name(name.lower()), schema, alias) for name in clause.assigned}
    return merged(schema, _only_fields(source, paths))


def overlaid(value: Column, source_type: DataType, kept: Column, wanted: DataType) -> Column:
    """A struct of the source laid over that of a row: fields that the source lacks keep their values.

    If the source's struct is null, the result is null only if the source has all fields, or the row's struct is null.
    """
    if source_type == wanted or not (isinstance(source_type, StructType) and isinstance(wanted, StructType)):
        return value
    parts = []
    for field in wanted.fields:
        source = find(source_type, field.name)
        old = kept.getField(field.name)
        new = (
            old
            if source is None
            else overlaid(value.getField(source.name), source.dataType, old, field.dataType)
        )
        parts.append(new.alias(field.name))
    stays = value.isNotNull()
    if _lacks_fields(source_type, wanted):
        stays |= kept.isNotNull()
    return F.when(stays, F.struct(*parts))


def _lacks_fields(source_type: DataType, wanted: DataType) -> bool:
    """Whether the source's struct lacks a field of the wanted one, at any depth."""
    if not (isinstance(source_type, StructType) and isinstance(wanted, StructType)):
        return False
    known = ((find(source_type, field.name), field) for field in wanted.fields)
    return any(source is None or _lacks_fields(source.dataType, field.dataType) for source, field in known)


def _without_alias(path: tuple[str, ...], schema: StructType, alias: str | None) -> tuple[str, ...]:
    """A path without the alias of the table."""
    is_alias = alias is not None and len(path) > 1 and path[0] == alias.lower()
    return path[1:] if is_alias and find(schema, path[0]) is None else path


def _only_fields(struct: StructType, paths: set[tuple[str, ...]]) -> StructType:
    """The schema's fields that a path names, or that contain such a field."""
    kept = []
    for field in struct.fields:
        below = {path[1:] for path in paths if path[0] == field.name.lower()}
        if () in below:
            kept.append(field)
        elif below and isinstance(field.dataType, StructType):
            kept.append(
                StructField(field.name, _only_fields(field.dataType, below), field.nullable, field.metadata)
            )
    return StructType(kept)
