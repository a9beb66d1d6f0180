"""Smaller expressions: fewer clauses, assignments and parts of predicates, plain values in place of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conformance.triage.reductions.base import of_each_operation, shorter
from conformance.triage.simple_values import simplest
from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.operations import Delete, Interleave, Merge, MergeClause, Operation, Read, Update

CONDITIONS = ("where", "condition")


def _fewer_clauses(operation: Operation) -> Iterator[Operation]:
    if isinstance(operation, Merge):
        for clauses in shorter(operation.clauses, 1):
            yield replace(operation, clauses=clauses)
        for number, clause in enumerate(operation.clauses):
            for simpler in _simpler_clauses(clause):
                clauses = (*operation.clauses[:number], simpler, *operation.clauses[number + 1 :])
                yield replace(operation, clauses=clauses)
    if isinstance(operation, Update):
        for assignments in shorter(operation.assignments, 1):
            yield replace(operation, assignments=assignments)
    if isinstance(operation, Read) and operation.columns is not None:
        yield replace(operation, columns=None)


def _simpler_clauses(clause: MergeClause) -> Iterator[MergeClause]:
    if clause.action == "update" and not clause.everything:
        yield replace(clause, action="delete", assignments=())
    if clause.action != "delete" and not clause.everything:
        yield replace(clause, everything=True, assignments=())
        for assignments in shorter(clause.assignments, 1):
            yield replace(clause, assignments=assignments)


def _simpler_expressions(operation: Operation) -> Iterator[Operation]:  # noqa: PLR0912 - one place after another
    """The operation with a smaller expression in one of its places."""
    if isinstance(operation, Interleave):
        for number, part in enumerate(operation.operations):
            for simpler in _simpler_expressions(part):
                operations = (*operation.operations[:number], simpler, *operation.operations[number + 1 :])
                yield replace(operation, operations=operations)
        return
    changed: Any = operation
    if isinstance(operation, Delete | Update | Read) or hasattr(operation, "where"):
        where = getattr(operation, "where", None)
        if where is not None:
            yield replace(changed, where=None)
            for smaller in smaller_forms(where):
                yield replace(changed, where=smaller)
    if hasattr(operation, "check"):
        for smaller in smaller_forms(operation.check):
            yield replace(changed, check=smaller)
    if isinstance(operation, Update):
        for assignments in _simpler_assignments(operation.assignments):
            yield replace(operation, assignments=assignments)
    if isinstance(operation, Merge):
        for smaller in smaller_forms(operation.on):
            yield replace(operation, on=smaller)
        for number, clause in enumerate(operation.clauses):
            for simpler_clause in _simpler_parts(clause):
                clauses = (*operation.clauses[:number], simpler_clause, *operation.clauses[number + 1 :])
                yield replace(operation, clauses=clauses)


def _simpler_parts(clause: MergeClause) -> Iterator[MergeClause]:
    if clause.condition is not None:
        yield replace(clause, condition=None)
        for smaller in smaller_forms(clause.condition):
            yield replace(clause, condition=smaller)
    for assignments in _simpler_assignments(clause.assignments):
        yield replace(clause, assignments=assignments)


def _simpler_assignments(
    assignments: tuple[tuple[str, Expression], ...],
) -> Iterator[tuple[tuple[str, Expression], ...]]:
    for number, (name, value) in enumerate(assignments):
        for smaller in smaller_forms(value):
            yield (*assignments[:number], (name, smaller), *assignments[number + 1 :])


def smaller_forms(expression: Expression) -> Iterator[Expression]:  # noqa: PLR0912 - one case a kind
    """Smaller expressions of the same type, the smallest first: a part alone, a part less, a smaller part."""
    match expression:
        case And(operands=operands) | Or(operands=operands):
            yield from operands
            if len(operands) > 2:
                for fewer in shorter(operands, 2):
                    yield replace(expression, operands=fewer)
            yield from _within(operands, lambda parts: replace(expression, operands=parts))
        case Not(operand=operand):
            yield operand
            yield from (Not(smaller) for smaller in smaller_forms(operand))
        case In(operand=operand, options=options):
            if len(options) == 1:
                yield Compare("=", operand, options[0])
            for fewer in shorter(options, 1):
                yield In(operand, fewer)
            yield from (In(smaller, options) for smaller in smaller_forms(operand))
        case Between(operand=operand, low=low, high=high):
            yield Compare(">=", operand, low)
            yield Compare("<=", operand, high)
            yield Compare("=", operand, low)
            yield from (Between(smaller, low, high) for smaller in smaller_forms(operand))
        case Compare(op=op, left=left, right=right):
            if isinstance(left, Literal) and not isinstance(right, Literal):
                yield Compare(_MIRRORED[op], right, left)
            if op not in {"=", "<=>"}:
                yield Compare("=", left, right)
            if op == "<=>":
                yield Compare("=", left, right)
            yield from (Compare(op, smaller, right) for smaller in smaller_forms(left))
            yield from (Compare(op, left, smaller) for smaller in smaller_forms(right))
        case IsNull(operand=operand):
            yield from (IsNull(smaller) for smaller in smaller_forms(operand))
        case IsNotNull(operand=operand):
            yield from (IsNotNull(smaller) for smaller in smaller_forms(operand))
        case Call(arguments=arguments, type=result):
            value = simplest(result)
            if value is not None:
                yield Literal(result, value)
            yield from arguments
            yield from _within(arguments, lambda parts: replace(expression, arguments=parts))
        case Column(path=path) if len(path) > 2:
            yield Column(path[:2])


_MIRRORED = {"=": "=", "!=": "!=", "<=>": "<=>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _within(
    parts: tuple[Expression, ...], rebuild: Callable[[tuple[Expression, ...]], Expression]
) -> Iterator[Expression]:
    for number, part in enumerate(parts):
        for smaller in smaller_forms(part):
            yield rebuild((*parts[:number], smaller, *parts[number + 1 :]))


fewer_clauses = of_each_operation(_fewer_clauses)
simpler_expressions = of_each_operation(_simpler_expressions)
