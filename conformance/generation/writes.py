"""Draws writes beyond the plain ones: by position, once only, of a part of the table, and with another schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.generation.choices import Choices
from conformance.generation.draw_context import FILES, DrawContext
from conformance.generation.merges import draw_merge
from conformance.generation.predicates import draw_predicate
from conformance.generation.rows import draw_rows
from conformance.generation.table_shapes import TableShape
from conformance.generation.values.complex import plain_values
from delta_models.expressions import Literal, compile_expression
from delta_models.operations import Append, Operation, Overwrite, Update
from delta_models.schema import DATE, LONG, STRING, Array, DataType, Field, Map, Struct
from delta_models.table.row_conversion import value_converter
from delta_models.values import Rows

EXTRA = (Field("extra", LONG), Field("added", STRING), Field("more", DATE), Field("Neu", LONG))
APPLICATIONS = ("nightly", "stream-1")
GIVEN = (0, 1, 2, 10, -1, 1_000_000)  # values for identity columns


def append_once(context: DrawContext) -> Operation:
    """Append rows under a transaction id, which now and then has been used before."""
    choices = context.choices
    application = choices.pick(APPLICATIONS)
    last = dict(context.table.transactions).get(application)
    number = 0 if last is None else last + 1
    if last is not None and choices.one_in(3):
        number = max(0, last - choices.below(2))
    return Append(draw_rows(choices, context.shape), transaction=(application, number))


def overwrite_once(context: DrawContext) -> Operation:
    """Overwrite the table under a transaction id, as `append_once` appends."""
    append = append_once(context)
    assert isinstance(append, Append)  # noqa: S101 - it draws nothing else
    return Overwrite(append.rows, transaction=append.transaction)


def overwrite_more(context: DrawContext) -> Operation:
    """Overwrite with several files, or with a column that the table lacks, so that the schema may grow."""
    files = context.choices.pick((2, 3))
    if context.choices.one_in(2):
        return Overwrite(draw_rows(context.choices, context.shape), files=files)
    return Overwrite(draw_wider_rows(context), files=context.choices.weighted(FILES), schema_mode="merge")


def append_by_position(context: DrawContext) -> Operation:
    """Append rows by the position of their columns; now and then the columns have other names."""
    rows = draw_rows(context.choices, context.shape)
    fields = rows.schema.fields
    if context.choices.one_in(2):
        fields = tuple(
            replace(field, name=f"c{index}", metadata_json="{}") for index, field in enumerate(fields)
        )
    return Append(Rows(Struct(fields), rows.rows), by_name=False)


def overwrite_by_position(context: DrawContext) -> Operation:
    """Overwrite the table by the position of the columns, as `append_by_position` appends."""
    append = append_by_position(context)
    assert isinstance(append, Append)  # noqa: S101 - it draws nothing else
    return Overwrite(append.rows, by_name=False)


def append_turned(context: DrawContext) -> Operation:
    """Append rows whose structs have their fields in the opposite order, by name."""
    rows = draw_rows(context.choices, context.shape)
    turned = Struct(tuple(replace(field, type=_turned(field.type)) for field in rows.schema.fields))
    turn = value_converter(rows.schema, turned)
    return Append(
        Rows(turned, tuple(map(turn, rows.rows))),
        files=context.choices.weighted(FILES),
        schema_mode="merge" if context.choices.one_in(3) else "none",
    )


def append_more(context: DrawContext) -> Operation:
    """Append rows with a column that the table lacks; the schema may grow."""
    return Append(draw_wider_rows(context), files=context.choices.weighted(FILES), schema_mode="merge")


def merge_more(context: DrawContext) -> Operation:
    """Merge a source with a column that the table lacks; the schema may grow."""
    choices = context.choices
    merge = draw_merge(choices, context.table, context.shape)
    if merge is None:
        return append_more(context)
    source = _with_one_more(choices, context.shape, merge.source)
    return replace(merge, source=source, schema_evolution=True)


def append_less(context: DrawContext) -> Operation:
    """Append rows that lack a column."""
    shape = context.shape
    generated = set(range(len(shape.schema))) - set(shape.assignable())
    possible = [
        position
        for position, field in enumerate(shape.schema.fields)
        if position not in generated and field.nullable
    ]
    gone = generated | set(context.choices.some(possible, 1))
    if len(gone) >= len(shape.schema):
        gone = generated
    return Append(_without(draw_rows(context.choices, shape), gone))


def overwrite_some(context: DrawContext) -> Operation:
    """Overwrite the rows that a predicate picks, or the partitions that the new rows touch."""
    choices, shape = context.choices, context.shape
    rows = draw_rows(choices, shape)
    if shape.partition_by and choices.one_in(2):
        return Overwrite(rows, dynamic=True)
    where = draw_predicate(
        choices,
        shape,
        context.table,
        context.partition_positions() if shape.partition_by and choices.below(3) else None,
    )
    if choices.below(4):
        picks = compile_expression(where, shape.schema)
        rows = Rows(rows.schema, tuple(row for row in context.table.stored(rows.rows) if picks(row) is True))
    return Overwrite(rows, where=where)


def overwrite_schema(context: DrawContext) -> Operation:
    """Overwrite the table and its schema."""
    if context.choices.one_in(2):
        return Overwrite(draw_wider_rows(context), schema_mode="overwrite")
    shape = context.shape
    possible = [
        position for position, name in enumerate(shape.schema.names) if name not in shape.partition_by
    ]
    gone = set(context.choices.some(possible, 1)) if len(possible) > 1 else set()
    return Overwrite(_without(draw_rows(context.choices, shape), gone), schema_mode="overwrite")


def append_given(context: DrawContext) -> Operation:
    """Append rows with values for an identity column."""
    rows = draw_rows(context.choices, context.shape)
    if not context.identity_columns:
        return Append(rows)
    schema = Struct((*rows.schema.fields, Field(context.identity_columns[0].name, LONG)))
    return Append(Rows(schema, tuple((*row, context.choices.pick(GIVEN)) for row in rows.rows)))


def update_given(context: DrawContext) -> Operation:
    """Update an identity column to another value."""
    if not context.identity_columns:
        return append_given(context)
    value = Literal(LONG, context.choices.pick(GIVEN))
    return Update(((context.identity_columns[0].name, value),), context.draw_condition())


def draw_wider_rows(context: DrawContext) -> Rows:
    """Draw rows with one more column, if any is left that the table lacks."""
    return _with_one_more(context.choices, context.shape, draw_rows(context.choices, context.shape))


def _with_one_more(choices: Choices, shape: TableShape, rows: Rows) -> Rows:
    known = {name.casefold() for name in shape.schema.names}
    new = [field for field in EXTRA if field.name.casefold() not in known]
    if not new:
        return rows
    field = choices.pick(new)
    values = (*plain_values(field.type)[:3], None)
    fields = (*_nullable(shape).fields, field)
    return Rows(Struct(fields), tuple((*row, choices.pick(values)) for row in rows.rows))


def _turned(data_type: DataType) -> DataType:
    match data_type:
        case Struct(fields=fields):
            return Struct(tuple(replace(field, type=_turned(field.type)) for field in reversed(fields)))
        case Array():
            return replace(data_type, element=_turned(data_type.element))
        case Map():
            return replace(data_type, key=_turned(data_type.key), value=_turned(data_type.value))
    return data_type


def _nullable(shape: TableShape) -> Struct:
    return Struct(tuple(replace(field, nullable=True) for field in shape.schema.fields))


def _without(rows: Rows, gone: set[int]) -> Rows:
    kept = [position for position in range(len(rows.schema)) if position not in gone]
    schema = Struct(tuple(rows.schema.fields[position] for position in kept))
    return Rows(schema, tuple(tuple(row[position] for position in kept) for row in rows.rows))


WRITE_OPERATIONS: Mapping[str, Callable[[DrawContext], Operation]] = {
    "AppendOnce": append_once,
    "AppendByPosition": append_by_position,
    "OverwriteByPosition": overwrite_by_position,
    "AppendTurned": append_turned,
    "AppendMore": append_more,
    "AppendLess": append_less,
    "MergeMore": merge_more,
    "OverwriteSome": overwrite_some,
    "OverwriteOnce": overwrite_once,
    "OverwriteMore": overwrite_more,
    "OverwriteSchema": overwrite_schema,
    "AppendGiven": append_given,
    "UpdateGiven": update_given,
}
