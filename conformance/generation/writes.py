"""Writes beyond the plain ones: by position, once only, into a part of the table, and with another schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.generation.choices import Choices
from conformance.generation.draw_context import FILES, DrawContext
from conformance.generation.drawn_predicates import draw_where
from conformance.generation.merges import draw_merge
from conformance.generation.rows import draw_rows
from conformance.generation.table_shapes import TableShape
from conformance.generation.values.complex import plain_values
from delta_models.expressions import compiled
from delta_models.operations import Append, Operation, Overwrite
from delta_models.schema import DATE, LONG, STRING, Field, Struct
from delta_models.values import Rows

EXTRA = (Field("extra", LONG), Field("added", STRING), Field("more", DATE), Field("Neu", LONG))
APPLICATIONS = ("nightly", "stream-1")


def append_once(place: DrawContext) -> Operation:
    """Rows under a transaction id, which now and then has been seen before."""
    dice = place.dice
    application = dice.pick(APPLICATIONS)
    seen = dict(place.table.transactions).get(application)
    number = 0 if seen is None else seen + 1
    if seen is not None and dice.one_in(3):
        number = max(0, seen - dice.below(2))
    return Append(draw_rows(dice, place.shape), transaction=(application, number))


def append_by_position(place: DrawContext) -> Operation:
    """Rows whose columns go by their place; their names say nothing."""
    rows = draw_rows(place.dice, place.shape)
    fields = rows.schema.fields
    if place.dice.one_in(2):
        fields = tuple(replace(field, name=f"c{at}", metadata_json="{}") for at, field in enumerate(fields))
    return Append(Rows(Struct(fields), rows.rows), by_name=False)


def append_more(place: DrawContext) -> Operation:
    """Rows with a column that the table lacks, and leave for its schema to grow."""
    return Append(wider(place), files=place.dice.weighted(FILES), schema_mode="merge")


def merge_more(place: DrawContext) -> Operation:
    """A merge whose source has a column that the table lacks, and leave for its schema to grow."""
    dice = place.dice
    merge = draw_merge(dice, place.table, place.shape)
    if merge is None:
        return append_more(place)
    source = _with_one_more(dice, place.shape, merge.source)
    return replace(merge, source=source, schema_evolution=True)


def append_less(place: DrawContext) -> Operation:
    """Rows that lack a column."""
    shape = place.shape
    made = set(range(len(shape.schema))) - set(shape.assignable())
    possible = [at for at, field in enumerate(shape.schema.fields) if at not in made and field.nullable]
    gone = made | set(place.dice.some(possible, 1))
    if len(gone) >= len(shape.schema):
        gone = made
    return Append(_without(draw_rows(place.dice, shape), gone))


def overwrite_some(place: DrawContext) -> Operation:
    """Rows in place of those that a predicate picks, or of the partitions that they touch."""
    dice, shape = place.dice, place.shape
    rows = draw_rows(dice, shape)
    if shape.partition_by and dice.one_in(2):
        return Overwrite(rows, dynamic=True)
    where = draw_where(
        dice, shape, place.table, place.partitions() if shape.partition_by and dice.below(3) else None
    )
    if dice.below(4):
        picks = compiled(where, shape.schema)
        rows = Rows(rows.schema, tuple(row for row in place.table.stored(rows.rows) if picks(row) is True))
    return Overwrite(rows, where=where)


def overwrite_schema(place: DrawContext) -> Operation:
    """Rows in place of the whole table, and their columns in place of its own."""
    if place.dice.one_in(2):
        return Overwrite(wider(place), schema_mode="overwrite")
    shape = place.shape
    possible = [at for at, name in enumerate(shape.schema.names) if name not in shape.partition_by]
    gone = set(place.dice.some(possible, 1)) if len(possible) > 1 else set()
    return Overwrite(_without(draw_rows(place.dice, shape), gone), schema_mode="overwrite")


def wider(place: DrawContext) -> Rows:
    """Rows with one more column, which the table lacks or has already."""
    return _with_one_more(place.dice, place.shape, draw_rows(place.dice, place.shape))


def _with_one_more(dice: Choices, shape: TableShape, rows: Rows) -> Rows:
    known = {name.casefold() for name in shape.schema.names}
    new = [each for each in EXTRA if each.name.casefold() not in known]
    if not new:
        return rows
    field = dice.pick(new)
    values = (*plain_values(field.type)[:3], None)
    fields = (*_nullable(shape).fields, field)
    return Rows(Struct(fields), tuple((*row, dice.pick(values)) for row in rows.rows))


def _nullable(shape: TableShape) -> Struct:
    return Struct(tuple(replace(field, nullable=True) for field in shape.schema.fields))


def _without(rows: Rows, gone: set[int]) -> Rows:
    kept = [at for at in range(len(rows.schema)) if at not in gone]
    schema = Struct(tuple(rows.schema.fields[at] for at in kept))
    return Rows(schema, tuple(tuple(row[at] for at in kept) for row in rows.rows))


WRITES: Mapping[str, Callable[[DrawContext], Operation]] = {
    "AppendOnce": append_once,
    "AppendByPosition": append_by_position,
    "AppendMore": append_more,
    "AppendLess": append_less,
    "MergeMore": merge_more,
    "OverwriteSome": overwrite_some,
    "OverwriteSchema": overwrite_schema,
}
