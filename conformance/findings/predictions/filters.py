"""How deltalake applies a filter: what becomes of comparisons with null, and what is left to the skipping of files.

The optimizer splits a filter into parts that must all hold. A part without columns, such as the null that a comparison
with null becomes, and a part on partition columns alone are not evaluated on rows. Only files are skipped by them, and
a file is kept unless the part is certainly false.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

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
    all_of,
    any_of,
    columns_of,
    evaluate,
    negate,
)
from delta_models.schema import BOOLEAN, Struct
from delta_models.values import Row

UNKNOWN = Literal(BOOLEAN, None)
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way in which versions of the optimizer and of the file skipping decide.

    `nulls_are_dropped`: a part that is a null is taken for true. `partitions_are_kept`: a part on partition columns is
    left to the skipping of files, which can't compare columns, and `lists_are_decided` or not. `null_is_kept`: a file
    with a null in such a comparison is kept too. `repeats_are_simplified`: a column compared with itself becomes a
    test for null.
    """

    nulls_are_dropped: bool
    partitions_are_kept: bool
    lists_are_decided: bool = True
    null_is_kept: bool = True
    repeats_are_simplified: bool = True

    def picks(self, where: Expression, schema: Struct, partition_by: tuple[str, ...], row: Row) -> bool:
        """Whether a row is answered."""
        simplified = _simplified(where, negated=False, repeats=self.repeats_are_simplified)
        return all(self._keeps(part, schema, partition_by, row) for part in _parts(simplified))

    def _keeps(self, part: Expression, schema: Struct, partition_by: tuple[str, ...], row: Row) -> bool:
        if part == UNKNOWN:
            return self.nulls_are_dropped
        names = {column.path[0] for column in columns_of(part)}
        if names and names <= set(partition_by) and self.partitions_are_kept:
            return self._skipping(part, schema, row) is not False
        return evaluate(part, schema, row) is True

    def _skipping(self, part: Expression, schema: Struct, row: Row) -> bool | None:
        """What the skipping of files says of a file with this row's partition values; None: it can't decide."""
        match part:
            case And(operands=operands):
                return all_of(self._skipping(operand, schema, row) for operand in operands)
            case Or(operands=operands):
                return any_of(self._skipping(operand, schema, row) for operand in operands)
            case Not(operand=operand):
                return negate(self._skipping(operand, schema, row))
            case Compare(left=Column(), right=Column()):
                known = self.null_is_kept or evaluate(part, schema, row) is not None
                return None if known else False
            case In() if not self.lists_are_decided:
                return None
        truth = evaluate(part, schema, row)
        if truth is None and part != UNKNOWN and not _has_unknown(part):
            return False  # a null partition value is no match
        return None if truth is None else bool(truth)


def parts_of(where: Expression) -> tuple[Expression, ...]:
    """The parts of a predicate that must all hold, as the optimizer splits it."""
    return _parts(_simplified(where, negated=False, repeats=True))


def readings(*, nulls: bool, partitions: bool) -> Iterator[Reading]:
    """The ways to apply a filter if nulls are taken for true, and if comparisons of partition columns are not made."""
    for lists, null_is_kept, repeats in product((True, False), repeat=3):
        for kept in (True, False) if nulls and not partitions else (partitions,):
            yield Reading(nulls, kept, lists, null_is_kept, repeats)


def _has_unknown(part: Expression) -> bool:
    if part == UNKNOWN or (isinstance(part, Literal) and part.value is None):
        return True
    children = [getattr(part, name) for name in part.__dataclass_fields__]
    flat = [child for value in children for child in (value if isinstance(value, tuple) else (value,))]
    return any(
        hasattr(child, "__dataclass_fields__") and _has_unknown(child) for child in flat if child != part
    )


def _parts(expression: Expression) -> tuple[Expression, ...]:
    """The parts of which all must hold."""
    if isinstance(expression, And):
        return tuple(part for operand in expression.operands for part in _parts(operand))
    return (expression,)


def _simplified(expression: Expression, *, negated: bool, repeats: bool) -> Expression:
    """What the optimizer makes of a predicate: negations moved inwards, comparisons with null become null."""
    match expression:
        case Not(operand=operand):
            return _simplified(operand, negated=not negated, repeats=repeats)
        case And(operands=operands) | Or(operands=operands):
            parts = tuple(_simplified(operand, negated=negated, repeats=repeats) for operand in operands)
            return _joined(parts, every=isinstance(expression, And) is not negated)
        case Between(operand=operand, low=low, high=high):
            both = And((Compare(">=", operand, low), Compare("<=", operand, high)))
            return _simplified(both, negated=negated, repeats=repeats)
        case Compare(op=op, left=left, right=right) if op != "<=>":
            return _comparison(OPPOSITE[op] if negated else op, left, right, repeats=repeats)
        case In(operand=operand, options=options) if any(map(_is_null, options)):
            others = tuple(option for option in options if not _is_null(option))
            part = In(operand, others)
            listed = (Not(part) if negated else part, UNKNOWN) if others else (UNKNOWN,)
            return _joined(listed, every=negated)
        case In(operand=operand) if _is_null(operand):
            return UNKNOWN
        case IsNull(operand=operand):
            return IsNotNull(operand) if negated else expression
        case IsNotNull(operand=operand):
            return IsNull(operand) if negated else expression
        case Literal(value=None):
            return UNKNOWN
    return Not(expression) if negated else expression


def _comparison(op: str, left: Expression, right: Expression, *, repeats: bool) -> Expression:
    if _is_null(left) or _is_null(right):
        return UNKNOWN
    if repeats and left == right and isinstance(left, Column):
        if op in {"=", "<=", ">="}:
            return Or((IsNotNull(left), UNKNOWN))
        return And((IsNull(left), UNKNOWN))
    return Compare(op, left, right)


def _joined(parts: tuple[Expression, ...], *, every: bool) -> Expression:
    if all(part == UNKNOWN for part in parts):
        return UNKNOWN
    return And(parts) if every else Or(parts)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None
