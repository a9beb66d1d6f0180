"""Columns of type void, which no data file has: section "Void Type"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delta_models.log.parquet.data_files import physical_name
from delta_models.log.parquet.layout import FileColumn
from delta_models.requirements.base import Verdict
from delta_models.schema import VOID, Struct


def void_columns(schema: Struct, columns: Sequence[FileColumn], *, mapped: bool) -> Iterator[Verdict]:
    """Whether a file holds such a column, or such a field of a struct; nothing for a schema without one."""
    if _holds_void(schema):
        stored = list(_stored(schema, columns, mapped=mapped))
        wrong = f"{', '.join(stored)} of type void in the file" if stored else None
        yield "log.void-not-in-files", wrong


def _holds_void(schema: Struct) -> bool:
    return any(
        field.type == VOID or (isinstance(field.type, Struct) and _holds_void(field.type)) for field in schema
    )


def _stored(schema: Struct, columns: Sequence[FileColumn], *, mapped: bool) -> Iterator[str]:
    inside = {column.name: column for column in columns}
    for field in schema:
        there = inside.get(physical_name(field) if mapped else field.name)
        if there is not None and field.type == VOID:
            yield field.name
        elif there is not None and isinstance(field.type, Struct):
            yield from _stored(field.type, there.fields, mapped=mapped)
