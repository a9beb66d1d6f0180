"""Predicates for choosing files: trees of plain values, with `Unknown` for everything that says nothing about files.

Values are those of `partition_values.internal`: days, microseconds, numbers, text, bytes. Columns are paths of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyspark_delta.partition_values import Internal

__all__ = [
    "FALSE",
    "NULL",
    "TRUE",
    "And",
    "Comparison",
    "Constant",
    "In",
    "IsNull",
    "Not",
    "Or",
    "Path",
    "Predicate",
    "StartsWith",
    "Unknown",
    "all_of",
    "columns",
    "conjuncts",
    "negated",
]

Path: TypeAlias = tuple[str, ...]
Operator: TypeAlias = Literal["=", "<=>", "<", "<=", ">", ">="]

# The outcomes that a predicate can have for the rows of a file, as bits.
TRUE, FALSE, NULL = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares a column with a value as SQL does. With a null value the outcome is null, except for `<=>`."""

    operator: Operator
    column: Path
    value: Internal | None


@dataclass(frozen=True, slots=True)
class In:
    """Compares a column with several values; one of them may be null."""

    column: Path
    values: tuple[Internal | None, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a column is null."""

    column: Path


@dataclass(frozen=True, slots=True)
class StartsWith:
    """Whether a text begins with a prefix."""

    column: Path
    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """The negation; null stays null."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """True, false or null for every row."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition that says nothing about files; it may depend on the named columns."""

    columns: tuple[Path, ...] = ()


Predicate: TypeAlias = Comparison | In | IsNull | StartsWith | Not | And | Or | Constant | Unknown


def all_of(parts: Iterable[Predicate]) -> Predicate:
    """The conjunction of the parts."""
    kept = tuple(parts)
    return kept[0] if len(kept) == 1 else And(kept) if kept else Constant(True)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """The parts of a conjunction; any other predicate is its own only part."""
    if isinstance(predicate, And):
        return tuple(conjunct for part in predicate.parts for conjunct in conjuncts(part))
    return (predicate,)


def columns(predicate: Predicate) -> Iterator[Path]:
    """The columns that the predicate names."""
    if isinstance(predicate, Comparison | In | IsNull | StartsWith):
        yield predicate.column
    elif isinstance(predicate, Not):
        yield from columns(predicate.part)
    elif isinstance(predicate, And | Or):
        for part in predicate.parts:
            yield from columns(part)
    elif isinstance(predicate, Unknown):
        yield from predicate.columns


def has_unknown(predicate: Predicate) -> bool:
    """Whether some part of the predicate is `Unknown`."""
    if isinstance(predicate, Not):
        return has_unknown(predicate.part)
    if isinstance(predicate, And | Or):
        return any(has_unknown(part) for part in predicate.parts)
    return isinstance(predicate, Unknown)


def negated(outcomes: int) -> int:
    """The outcomes of NOT for a set of outcomes."""
    return (outcomes & NULL) | (TRUE if outcomes & FALSE else 0) | (FALSE if outcomes & TRUE else 0)


def both(left: int, right: int) -> int:
    """The outcomes of AND for two sets of outcomes."""
    outcomes = FALSE if (left | right) & FALSE else 0
    if left & TRUE and right & TRUE:
        outcomes |= TRUE
    if (left & NULL and right & (TRUE | NULL)) or (right & NULL and left & (TRUE | NULL)):
        outcomes |= NULL
    return outcomes


def either(left: int, right: int) -> int:
    """The outcomes of OR for two sets of outcomes."""
    return negated(both(negated(left), negated(right)))
