"""Rules that a table stores as SQL text: generated columns, defaults, invariants, constraints in properties.

The text means what it means in the session that writes: its time zone says which day a moment belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, tzinfo
from functools import lru_cache

from delta_models.expressions import Call, Expression, compile_expression, type_of
from delta_models.operations import Properties
from delta_models.schema import Field, Struct
from delta_models.values import Row, Value, same_key

GENERATION = "delta.generationExpression"
DEFAULT = "CURRENT_DEFAULT"
INVARIANTS = "delta.invariants"
CONSTRAINT = "delta.constraints."

Rule = tuple[str, Expression]


def generated_columns(schema: Struct, zone: tzinfo = UTC) -> tuple[tuple[int, Expression], ...]:
    """Return the generated columns: their positions and the expressions that compute them."""
    return _generated(schema, zone) if _mentions(schema, GENERATION) else ()


def metadata_rules(schema: Struct, properties: Properties, zone: tzinfo = UTC) -> tuple[Rule, ...]:
    """Return the invariants of columns and the constraints in the properties, by name."""
    if not _mentions(schema, INVARIANTS) and not any(key.startswith(CONSTRAINT) for key, _ in properties):
        return ()
    return _written_rules(schema, properties, zone)


def metadata_default(field: Field, schema: Struct, zone: tzinfo = UTC) -> Value:
    """Return the default in the column's metadata, for rows that do not name the column; null without one."""
    text = field.metadata.get(DEFAULT) if DEFAULT in field.metadata_json else None
    if text is None:
        return None
    blank = (None,) * len(schema)
    return compile_expression(_cast(_parsed(str(text), schema, zone), field, schema), schema, zone)(blank)


def generation_filler(
    schema: Struct, given: Collection[str], zone: tzinfo = UTC
) -> Callable[[Iterable[Row]], tuple[Row, ...]] | None:
    """Return a function that computes the generated columns that a write does not name; None if it names all."""
    folded = {name.casefold() for name in given}
    missing = [
        (position, compile_expression(expression, schema, zone))
        for position, expression in generated_columns(schema, zone)
        if schema.fields[position].name.casefold() not in folded
    ]
    if not missing:
        return None

    def fill(rows: Iterable[Row]) -> tuple[Row, ...]:
        filled = []
        for row in rows:
            parts = list(row)
            for position, value in missing:
                parts[position] = value(row)
            filled.append(tuple(parts))
        return tuple(filled)

    return fill


def find_broken_generation(schema: Struct, rows: Iterable[Row], zone: tzinfo = UTC) -> str | None:
    """Return the name of a generated column whose value is not the computed one; None if all are right."""
    broken_column = generation_test(schema, zone)
    return next(filter(None, map(broken_column, rows)), None)


def generation_test(schema: Struct, zone: tzinfo) -> Callable[[Row], str | None]:
    """Return a function that names the first generated column of a row whose value is not the computed one."""
    computed = [
        (position, schema.fields[position], compile_expression(expression, schema, zone))
        for position, expression in generated_columns(schema, zone)
    ]

    def broken_column(row: Row) -> str | None:
        for position, field, value in computed:
            if same_key(field.type, row[position]) != same_key(field.type, value(row)):
                return field.name
        return None

    return broken_column


def _mentions(schema: Struct, key: str) -> bool:
    return any(key in field.metadata_json for field in schema.fields if field.metadata_json != "{}")


@lru_cache(maxsize=256)
def _generated(schema: Struct, zone: tzinfo) -> tuple[tuple[int, Expression], ...]:
    columns = []
    for position, field in enumerate(schema.fields):
        text = field.metadata.get(GENERATION)
        if text is not None:
            columns.append((position, _cast(_parsed(str(text), schema, zone), field, schema)))
    return tuple(columns)


@lru_cache(maxsize=256)
def _written_rules(schema: Struct, properties: Properties, zone: tzinfo) -> tuple[Rule, ...]:
    rules = [(key.removeprefix(CONSTRAINT), text) for key, text in properties if key.startswith(CONSTRAINT)]
    for field in schema.fields:
        invariant = field.metadata.get(INVARIANTS)
        if invariant is not None:
            form = json.loads(str(invariant))
            rules.append((f"invariant of {field.name}", form["expression"]["expression"]))
    return tuple((name, _parsed(text, schema, zone)) for name, text in rules)


def _parsed(text: str, schema: Struct, zone: tzinfo) -> Expression:
    from delta_models.sql import parse_expression  # noqa: PLC0415 - the parser is slow to import, and few tables need it

    return parse_expression(text, schema, zone)


def _cast(expression: Expression, field: Field, schema: Struct) -> Expression:
    """The expression as a value of the column's type."""
    return (
        expression if type_of(expression, schema) == field.type else Call("cast", (expression,), field.type)
    )
