"""Merge structs whose source lacks fields, in a merge with schema evolution: the missing fields keep their values.

As in delta-spark 4.4.0, a source struct sets the fields that it has. A null source struct whose type lacks fields sets
the fields that it knows to null; the table's struct does not become null.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from delta_models.casts import assignment
from delta_models.schema import DataType, Struct
from delta_models.table.row_conversion import RowMismatch
from delta_models.values import Row, Value

Blend = Callable[[Value, Value], Value]  # of the table's value and the source's


@dataclass(frozen=True, slots=True)
class MergedStruct:
    """A column whose structs are merged: its place in the table, its place in the source, and the function."""

    place: int
    source: int
    blend: Blend


def find_merged_structs(table: Struct, source: Struct, zone: tzinfo) -> tuple[MergedStruct, ...]:
    """Return the columns of the table that have fewer fields in the source. Raises RowMismatch."""
    places = {field.name.casefold(): position for position, field in enumerate(source)}
    merged = []
    for position, field in enumerate(table):
        other = places.get(field.name.casefold())
        if other is not None and _lacks(field.type, source.fields[other].type):
            blend = _blend(field.type, source.fields[other].type, zone)
            merged.append(MergedStruct(position, other, blend))
    return tuple(merged)


def merge_structs(row: Row, old: Row | None, source: Row, columns: tuple[MergedStruct, ...]) -> Row:
    """Return a row with its structs merged; without an old row the missing fields are null."""
    parts = list(row)
    for column in columns:
        parts[column.place] = column.blend(None if old is None else old[column.place], source[column.source])
    return tuple(parts)


def _lacks(wanted: DataType, given: DataType) -> bool:
    """Whether a struct has fields, at any depth, that the given one lacks."""
    if not isinstance(wanted, Struct) or not isinstance(given, Struct):
        return False
    inside = {field.name.casefold(): field.type for field in given}
    return any(
        field.name.casefold() not in inside or _lacks(field.type, inside[field.name.casefold()])
        for field in wanted
    )


def _blend(wanted: DataType, given: DataType, zone: tzinfo) -> Blend:
    if not _lacks(wanted, given):
        try:
            cast = assignment.assigner(given, wanted, assignment.fields_by_name_or_null, zone)
        except assignment.NotAssignable as error:
            raise RowMismatch(str(error)) from error
        return lambda _, new: cast(new)
    assert isinstance(wanted, Struct)  # noqa: S101 - only structs lack fields
    assert isinstance(given, Struct)  # noqa: S101 - the same
    places = {field.name.casefold(): position for position, field in enumerate(given)}
    parts: list[tuple[int, Blend] | None] = []
    for field in wanted:
        position = places.get(field.name.casefold())
        parts.append(
            None if position is None else (position, _blend(field.type, given.fields[position].type, zone))
        )

    def blend(old: Value, new: Value) -> Value:
        if old is None and new is None:
            return None
        return tuple(
            before if part is None else part[1](before, None if new is None else new[part[0]])
            for before, part in zip(old or (None,) * len(parts), parts, strict=True)
        )

    return blend
