"""Columns of type void, which no data file has: section "Void Type"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delta_models.log.parquet.data_files import physical_name
from delta_models.log.parquet.layout import FileColumn
from delta_models.schema import VOID, Struct


def void_columns(schema: Struct, columns: Sequence[FileColumn], *, mapped: bool) -> Iterator[tuple[str, str]]:
    """The rule that a file breaks if it holds such a column, or such a field of a struct."""
    found = list(_stored(schema, columns, mapped=mapped))
    if found:
        yield "log.void-not-in-files", f"{', '.join(found)} of type void in the file"


def _stored(schema: Struct, columns: Sequence[FileColumn], *, mapped: bool) -> Iterator[str]:
    inside = {column.name: column for column in columns}
    for field in schema:
        there = inside.get(physical_name(field) if mapped else field.name)
        if there is not None and field.type == VOID:
            yield field.name
        elif there is not None and isinstance(field.type, Struct):
            yield from _stored(field.type, there.fields, mapped=mapped)
