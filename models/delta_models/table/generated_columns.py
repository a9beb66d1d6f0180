"""Rules that a table stores as SQL text: generated columns, defaults, invariants, constraints in properties."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from delta_models.expressions import Call, Expression, compile_expression, evaluate, type_of
from delta_models.operations import Properties
from delta_models.schema import Field, Struct
from delta_models.values import Row, Value, same_key

GENERATION = "delta.generationExpression"
DEFAULT = "CURRENT_DEFAULT"
INVARIANTS = "delta.invariants"
CONSTRAINT = "delta.constraints."

Rule = tuple[str, Expression]


def generated_columns(schema: Struct) -> tuple[tuple[int, Expression], ...]:
    """Return the generated columns: their positions and the expressions that compute them."""
    return _generated(schema) if _mentions(schema, GENERATION) else ()


def metadata_rules(schema: Struct, properties: Properties) -> tuple[Rule, ...]:
    """Return the invariants of columns and the constraints in the properties, by name."""
    if not _mentions(schema, INVARIANTS) and not any(key.startswith(CONSTRAINT) for key, _ in properties):
        return ()
    return _written_rules(schema, properties)


def metadata_default(field: Field, schema: Struct) -> Value:
    """Return the default in the column's metadata, for rows that do not name the column; null without one."""
    text = field.metadata.get(DEFAULT) if DEFAULT in field.metadata_json else None
    if text is None:
        return None
    blank = (None,) * len(schema)
    return evaluate(_cast(_parsed(str(text), schema), field, schema), schema, blank)


def generation_filler(
    schema: Struct, given: Collection[str]
) -> Callable[[Iterable[Row]], tuple[Row, ...]] | None:
    """Return a function that computes the generated columns that a write does not name; None if it names all."""
    folded = {name.casefold() for name in given}
    missing = [
        (position, compile_expression(expression, schema))
        for position, expression in generated_columns(schema)
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


def find_broken_generation(schema: Struct, rows: Iterable[Row]) -> str | None:
    """Return the name of a generated column whose value is not the computed one; None if all are right."""
    for position, expression in generated_columns(schema):
        value = compile_expression(expression, schema)
        field = schema.fields[position]
        if any(same_key(field.type, row[position]) != same_key(field.type, value(row)) for row in rows):
            return field.name
    return None


def _mentions(schema: Struct, key: str) -> bool:
    return any(key in field.metadata_json for field in schema.fields if field.metadata_json != "{}")


@lru_cache(maxsize=256)
def _generated(schema: Struct) -> tuple[tuple[int, Expression], ...]:
    columns = []
    for position, field in enumerate(schema.fields):
        text = field.metadata.get(GENERATION)
        if text is not None:
            columns.append((position, _cast(_parsed(str(text), schema), field, schema)))
    return tuple(columns)


@lru_cache(maxsize=256)
def _written_rules(schema: Struct, properties: Properties) -> tuple[Rule, ...]:
    rules = [(key.removeprefix(CONSTRAINT), text) for key, text in properties if key.startswith(CONSTRAINT)]
    for field in schema.fields:
        invariant = field.metadata.get(INVARIANTS)
        if invariant is not None:
            form = json.loads(str(invariant))
            rules.append((f"invariant of {field.name}", form["expression"]["expression"]))
    return tuple((name, _parsed(text, schema)) for name, text in rules)


def _parsed(text: str, schema: Struct) -> Expression:
    from delta_models.sql import parse_expression  # noqa: PLC0415 - the parser is slow to import, and few tables need it

    return parse_expression(text, schema)


def _cast(expression: Expression, field: Field, schema: Struct) -> Expression:
    """The expression as a value of the column's type."""
    return (
        expression if type_of(expression, schema) == field.type else Call("cast", (expression,), field.type)
    )
