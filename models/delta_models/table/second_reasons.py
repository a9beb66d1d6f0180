"""Whether rows that do not fit a table would break one of its rules as well: an engine may tell either reason."""

from __future__ import annotations

from collections.abc import Iterable

from delta_models.expressions import Expression, columns_of, compile_expression
from delta_models.functions import EvaluationError
from delta_models.table.generated_columns import generated_columns, metadata_rules
from delta_models.table.identity import identities
from delta_models.table.state import Table
from delta_models.values import Row, Rows


def breaks_rule_too(table: Table, incoming: Rows, *, by_name: bool) -> bool:
    """Whether a column that may not be null would be, or a rule does not hold whose columns have the right types."""
    sources = _sources(table, incoming, by_name=by_name)
    if incoming.rows and any(_is_left_null(table, incoming, *pair) for pair in enumerate(sources)):
        return True
    fitting = {
        position: source
        for position, source in enumerate(sources)
        if source is not None and incoming.schema.fields[source].type == table.schema.fields[position].type
    }
    rows = [
        tuple(row[fitting[position]] if position in fitting else None for position in range(len(sources)))
        for row in incoming.rows
    ]
    known = {table.schema.names[position].casefold() for position in fitting}
    rules = (*table.constraints, *metadata_rules(table.schema, table.properties, table.zone))
    return any(
        _is_broken(table, check, rows)
        for _, check in rules
        if {column.path[0].casefold() for column in columns_of(check)} <= known
    )


def _sources(table: Table, incoming: Rows, *, by_name: bool) -> list[int | None]:
    """For each column of the table the position of its values in the rows."""
    if by_name:
        places = {name.casefold(): place for place, name in enumerate(incoming.schema.names)}
        return [places.get(name.casefold()) for name in table.schema.names]
    return [place if place < len(incoming.schema) else None for place in range(len(table.schema))]


def _is_left_null(table: Table, incoming: Rows, position: int, source: int | None) -> bool:
    if table.schema.fields[position].nullable:
        return False
    if source is not None:
        return any(row[source] is None for row in incoming.rows)
    filled = {place for place, _ in generated_columns(table.schema, table.zone)}
    return position not in filled | {identity.position for identity in identities(table.schema)}


def _is_broken(table: Table, check: Expression, rows: Iterable[Row]) -> bool:
    holds = compile_expression(check, table.schema, table.zone)
    try:
        return any(holds(row) is not True for row in rows)
    except EvaluationError:
        return False
