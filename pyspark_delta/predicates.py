"""Predicates as far as files can be told apart by them: trees of plain values, with everything else as `Unknown`.

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

# What a predicate can become for the rows of a file, as bits: a set of outcomes.
TRUE, FALSE, NULL = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column against a value, as SQL compares; a null value makes the outcome null, except for `<=>`."""

    operator: Operator
    column: Path
    value: Internal | None


@dataclass(frozen=True, slots=True)
class In:
    """A column against several values, of which one may be null."""

    column: Path
    values: tuple[Internal | None, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a column is null."""

    column: Path


@dataclass(frozen=True, slots=True)
class StartsWith:
    """Whether a text begins with another."""

    column: Path
    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; null stays null."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of them at least."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """True, false or null, whatever the row."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that files can't be told apart by; it may depend on the columns named."""

    columns: tuple[Path, ...] = ()


Predicate: TypeAlias = Comparison | In | IsNull | StartsWith | Not | And | Or | Constant | Unknown


def all_of(parts: Iterable[Predicate]) -> Predicate:
    """The conjunction."""
    kept = tuple(parts)
    return kept[0] if len(kept) == 1 else And(kept) if kept else Constant(True)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """The parts of which all must be true."""
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
    """Whether some part of it says nothing about files."""
    if isinstance(predicate, Not):
        return has_unknown(predicate.part)
    if isinstance(predicate, And | Or):
        return any(has_unknown(part) for part in predicate.parts)
    return isinstance(predicate, Unknown)


def negated(outcomes: int) -> int:
    """The outcomes of NOT."""
    return (outcomes & NULL) | (TRUE if outcomes & FALSE else 0) | (FALSE if outcomes & TRUE else 0)


def both(left: int, right: int) -> int:
    """The outcomes of AND."""
    outcomes = FALSE if (left | right) & FALSE else 0
    if left & TRUE and right & TRUE:
        outcomes |= TRUE
    if (left & NULL and right & (TRUE | NULL)) or (right & NULL and left & (TRUE | NULL)):
        outcomes |= NULL
    return outcomes


def either(left: int, right: int) -> int:
    """The outcomes of OR."""
    return negated(both(negated(left), negated(right)))
