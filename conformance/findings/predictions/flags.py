"""Booleans by which an older deltalake partitions: a filter that comes down to the column itself keeps nulls.

The optimizer turns `flag = TRUE` and `flag != FALSE` into the column, and `flag = FALSE` into its negation. Such a part
on partition columns alone is left to the skipping of files, which keeps a file whose flag is null. Comparisons that
stay as they are, such as `flag < TRUE`, are decided.
"""

from __future__ import annotations

from collections.abc import Collection

from conformance.findings.predictions.filters import parts_of
from conformance.findings.predictions.tables import (
    files_with_rows,
    projected,
    same_rows,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_models.expressions import And, Column, Compare, Expression, In, Literal, Not, Or, evaluate
from delta_models.requirements import Violation
from delta_models.schema import BOOLEAN, Struct
from delta_models.values import Row


def null_flags_kept(observation: Observation, violation: Violation) -> bool:
    """A filter picks what it must, and rows for which a part that comes down to flags alone is null."""
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        if snapshot is None or look.answer is None or read.where is None:
            continue
        schema, parts = snapshot.schema, parts_of(read.where)
        flags = {
            field.name for field in schema if field.type == BOOLEAN and field.name in snapshot.partition_by
        }
        rows = [row for _, rows in files_with_rows(observation, snapshot) for row in rows]
        narrow, right = projected(
            read, schema, [row for row in rows if evaluate(read.where, schema, row) is True]
        )
        _, kept = projected(
            read, schema, [row for row in rows if all(_keeps(part, flags, schema, row) for part in parts)]
        )
        if not same_rows(narrow, right, kept) and same_rows(narrow, kept, look.answer.rows):
            return True
    return False


def _keeps(part: Expression, flags: Collection[str], schema: Struct, row: Row) -> bool:
    truth = evaluate(part, schema, row)
    return truth is True or (truth is None and _is_of_flags(part, flags))


def _is_of_flags(part: Expression, flags: Collection[str]) -> bool:
    """Whether the optimizer leaves nothing of a part but flags and their negations."""
    match part:
        case And(operands=operands) | Or(operands=operands):
            return all(_is_of_flags(operand, flags) for operand in operands)
        case Not(operand=operand):
            return _is_of_flags(operand, flags)
        case Compare(op="=" | "!=", left=Column(path=(name,)), right=Literal()):
            return name in flags
        case In(operand=Column(path=(name,)), options=options):
            return name in flags and all(isinstance(option, Literal) for option in options)
        case Column(path=(name,)):
            return name in flags
    return False
