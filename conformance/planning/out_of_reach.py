"""The cells that no plan reaches, each with its reason: what a rule forbids, and what the harness does not draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.planning.cells import BESIDE, FEATURE, PARTITION, TYPE, Cell

BEGINNINGS = frozenset({"Create", "CreateAs", "Replace", "ConvertFromParquet"})
REMOVES_ROWS = frozenset({"Delete", "Update", "Merge", "Overwrite"})
SHAPED = frozenset({"Optimize/where", "ZOrder/where", "Overwrite/dynamic", "AddColumn/parent"})
COMES_LATER = frozenset({"checkConstraints", "domainMetadata", "vacuumProtocolCheck"})
OF_COLUMNS = frozenset({"nested", "timestampNtz"})
OF_RULES = frozenset({"invariants", "generatedColumns", "identityColumns"})
CONTAINERS = frozenset({"array", "map", "struct", "variant"})
INCOMPARABLE = frozenset({"array", "map", "struct", "variant", "void", "char", "binary"})


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why some cells are out of reach."""

    words: str
    holds: Callable[
        [str, str, str], bool
    ]  # of the kind, the operation with its option, and the last word of a cell


def why_out_of_reach(cell: Cell) -> str | None:
    """Return why no plan covers a cell; None if there is no reason."""
    return next((reason.words for reason in REASONS if reason.holds(cell[0], cell[1], cell[-1])), None)


def _name(operation: str) -> str:
    return operation.partition("/")[0]


REASONS: tuple[_Reason, ...] = (
    _Reason(
        "an append-only table refuses what removes rows; the refusal is judged",
        lambda kind, operation, last: (
            kind in {FEATURE, BESIDE} and _name(operation) in REMOVES_ROWS and last == "appendOnly"
        ),
    ),
    _Reason(
        "a table that begins has no constraint and no feature that an operation enables",
        lambda kind, operation, last: (
            kind == FEATURE and _name(operation) in BEGINNINGS and last in COMES_LATER
        ),
    ),
    _Reason(
        "a converted folder has no partitions, no table properties, and columns that may be null",
        lambda kind, operation, last: (
            kind == FEATURE and operation == "ConvertFromParquet" and last not in OF_COLUMNS
        ),
    ),
    _Reason(
        "it needs partitions or a struct, so the table is not plain",
        lambda kind, operation, last: kind == FEATURE and operation in SHAPED and last == "plain",
    ),
    _Reason(
        "the columns of a query may be null, and the query alone fills them",
        lambda kind, operation, last: kind == FEATURE and _name(operation) == "CreateAs" and last in OF_RULES,
    ),
    _Reason(
        "a plain table has no column that is NOT NULL, to take it away from",
        lambda kind, operation, last: kind == FEATURE and operation == "SetNullable" and last == "plain",
    ),
    _Reason(
        "predicates compare no such values",
        lambda kind, operation, last: (
            kind == TYPE and operation.endswith("/where") and last.removeprefix(PARTITION) in INCOMPARABLE
        ),
    ),
    _Reason(
        "no constants of such types are written",
        lambda kind, operation, last: kind == TYPE and operation == "Update" and last in CONTAINERS,
    ),
    _Reason(
        "a column of type void holds nothing that could be assigned or compared",
        lambda kind, operation, last: (
            kind == TYPE and _name(operation) in {"Update", "Delete", "ZOrder", "Merge"} and last == "void"
        ),
    ),
)
