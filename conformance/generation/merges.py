"""Draws merges: sources whose keys hit the table, and clauses for rows that match and rows that do not."""

from __future__ import annotations

from conformance.generation.choices import Choices
from conformance.generation.predicates import draw_predicate
from conformance.generation.rows import draw_row, draw_value
from conformance.generation.table_shapes import TableShape, profile_of
from conformance.generation.values.complex import has_literals
from delta_models.expressions import (
    And,
    Between,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)  # fmt: skip
from delta_models.operations import Assignments, Merge, MergeClause
from delta_models.schema import BOOLEAN, DOUBLE
from delta_models.table import Table
from delta_models.values import Row, Rows, sql_key

SOURCE_SIZES = ((2, 4), (1, 3), (3, 3), (5, 1))
DUPLICATES_ONE_IN = 10
NULL_KEYS_ONE_IN = 10
MATCHED = (("update", 6), ("delete", 3), ("nothing", 2))


def draw_merge(choices: Choices, table: Table, shape: TableShape) -> Merge | None:
    """Draw a merge; None if no column can be its key."""
    keys = _keys(choices, shape)
    if not keys:
        return None
    condition: tuple[Expression, ...] = tuple(
        Compare("=", Column(("source", name)), Column(("target", name)))
        for name in (shape.schema.names[key] for key in keys)
    )
    on = condition[0] if len(condition) == 1 else And(condition)
    source = Rows(shape.schema, tuple(_source(choices, table, shape, keys)))
    rich = profile_of(shape).rich_merges_one_in
    clauses = (
        _rich_clauses(choices, table, shape) if rich and choices.one_in(rich) else _clauses(choices, shape)
    )
    return Merge(source, on, clauses)


def _keys(choices: Choices, shape: TableShape) -> tuple[int, ...]:
    doubtful = shape.portable and shape.strange
    comparable = shape.comparable()
    usable = [
        position
        for position, field in enumerate(shape.schema.fields)
        if not (doubtful and field.type == DOUBLE) and (comparable is None or position in comparable)
    ]
    selective = [position for position in usable if shape.schema.fields[position].type != BOOLEAN] or usable
    if not usable:
        return ()
    first = choices.pick(selective)
    second = choices.pick(usable) if choices.one_in(4) else first
    return tuple(dict.fromkeys((first, second)))


def _source(choices: Choices, table: Table, shape: TableShape, keys: tuple[int, ...]) -> list[Row]:
    """Draw rows whose keys are mostly in the table. Seldom do two rows have one key."""
    duplicates = choices.one_in(DUPLICATES_ONE_IN)
    rows: list[Row] = []
    keys_drawn = set()
    for _ in range(choices.weighted(SOURCE_SIZES)):
        row = list(draw_row(choices, shape))
        present = table.rows[choices.below(len(table.rows))] if table.rows and choices.below(4) else None
        for position in keys:
            if present is not None:
                row[position] = present[position]
            else:
                row[position] = draw_value(choices, shape, position, nulls=False)
            if choices.one_in(NULL_KEYS_ONE_IN):
                row[position] = None
        key = tuple(
            None if row[position] is None else sql_key(shape.schema.fields[position].type, row[position])
            for position in keys
        )
        if duplicates or None in key or key not in keys_drawn:
            rows.append(tuple(row))
        keys_drawn.add(key)
    return rows


def _clauses(choices: Choices, shape: TableShape) -> tuple[MergeClause, ...]:
    clauses = []
    action = choices.weighted(MATCHED)
    if action == "update":
        clauses.append(_update(choices, shape))
    elif action == "delete":
        clauses.append(MergeClause("matched", "delete"))
    if not clauses or not choices.one_in(3):
        clauses.append(_insert(choices, shape))
    return tuple(clauses)


def _rich_clauses(choices: Choices, table: Table, shape: TableShape) -> tuple[MergeClause, ...]:
    """Draw several clauses of a kind. All but the last have a condition, as SQL demands."""
    clauses = [
        _with_condition(choices, table, shape, _update(choices, shape), choices.pick(("target", "source"))),
        MergeClause("matched", "delete") if choices.one_in(3) else _update(choices, shape),
    ]
    if choices.one_in(2):
        clauses.append(_with_condition(choices, table, shape, _insert(choices, shape), "source"))
    if choices.one_in(2):
        by_source = MergeClause("not-matched-by-source", "delete")
        if choices.one_in(2):
            by_source = MergeClause("not-matched-by-source", "update", _literals(choices, shape))
        clauses.append(_with_condition(choices, table, shape, by_source, "target"))
    return tuple(clauses)


def _update(choices: Choices, shape: TableShape) -> MergeClause:
    if choices.one_in(2):
        return MergeClause("matched", "update", everything=True)
    names = choices.some(
        [shape.schema.names[position] for position in shape.assignable()], 1 + choices.below(2)
    )
    return MergeClause("matched", "update", tuple((name, _value(choices, shape, name)) for name in names))


def _insert(choices: Choices, shape: TableShape) -> MergeClause:
    if choices.below(3):
        return MergeClause("not-matched", "insert", everything=True)
    names = (shape.schema.names[position] for position in shape.assignable())
    return MergeClause("not-matched", "insert", tuple((name, Column(("source", name))) for name in names))


def _value(choices: Choices, shape: TableShape, name: str) -> Expression:
    if choices.below(3) or not has_literals(shape.schema[name].type):
        return Column(("source", name))
    return Literal(shape.schema[name].type, draw_value(choices, shape, shape.schema.index(name)))


def _literals(choices: Choices, shape: TableShape) -> Assignments:
    positions = shape.literal()
    position = positions[choices.below(len(positions))]
    field = shape.schema.fields[position]
    return ((field.name, Literal(field.type, draw_value(choices, shape, position))),)


def _with_condition(
    choices: Choices, table: Table, shape: TableShape, clause: MergeClause, side: str
) -> MergeClause:
    condition = _on_side(draw_predicate(choices, shape, table), side)
    return MergeClause(clause.when, clause.action, clause.assignments, condition, clause.everything)


def _on_side(expression: Expression, side: str) -> Expression:
    """Return a predicate on the table as one on a side of the merge."""
    match expression:
        case Column(path=path):
            return Column((side, *path))
        case Compare(op=op, left=left, right=right):
            return Compare(op, _on_side(left, side), _on_side(right, side))
        case IsNull(operand=operand):
            return IsNull(_on_side(operand, side))
        case IsNotNull(operand=operand):
            return IsNotNull(_on_side(operand, side))
        case In(operand=operand, options=options):
            return In(_on_side(operand, side), options)
        case Between(operand=operand, low=low, high=high):
            return Between(_on_side(operand, side), low, high)
        case And(operands=operands):
            return And(tuple(_on_side(argument, side) for argument in operands))
        case Or(operands=operands):
            return Or(tuple(_on_side(argument, side) for argument in operands))
        case Not(operand=operand):
            return Not(_on_side(operand, side))
    return expression
