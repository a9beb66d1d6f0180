"""Cells: the pairs of things that a covering plan must bring together, and which of them a step covers.

A cell is a tuple of texts whose first says its kind:

    ("feature", "Merge/matched.delete", "deletionVectors")   an operation, or an option of it, on a table with a feature
    ("type", "Update", "decimal")                            the same with a column type that it concerns
    ("pair", "appendOnly", "deletionVectors")                two features of one table that an operation changes
    ("refusal", "Delete", "outcome.append-only-refused")     an operation that a rule of the model refuses
    ("beside", "Merge", "deletionVectors")         an operation of another engine on a shared table with a feature
    ("crash", "Append", "before")                            a crash before or after the commit of an operation
    ("race", "Append", "Delete", "first")                    two operations at once, in one of three orders

What a step covers follows from the model and the claims alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from conformance.generation.facets import facets_of
from delta_adapters.capabilities import options_of, type_names
from delta_models.expressions import Expression, columns_of
from delta_models.operations import (
    QUERIES,
    Append,
    ConvertFromParquet,
    Create,
    CreateAs,
    Delete,
    Interleave,
    Merge,
    Operation,
    Overwrite,
    Read,
    Reopen,
    Replace,
    SetZone,
    SwitchActor,
    Update,
)
from delta_models.outcomes import Rejected
from delta_models.schema import width_of
from delta_models.table import Expectation, Table
from delta_models.wire_names import name_of

Cell = tuple[str, ...]
FEATURE, TYPE, PAIR, REFUSAL, CRASH, RACE = "feature", "type", "pair", "refusal", "crash", "race"
BESIDE = "beside"
KINDS = (FEATURE, TYPE, PAIR, REFUSAL, CRASH, RACE, BESIDE)
ORDERS = ("first", "second", "between")  # who publishes first; "between": the gates take turns
MOMENTS = ("before", "after")
PARTITION = "partition "  # before the type of a column by which a table is partitioned
_BEGINNINGS = (Create, CreateAs, Replace, ConvertFromParquet)


def letters_of(operation: Operation) -> Iterator[str]:
    """Yield the name of an operation, then the name with each option that it uses."""
    name = name_of(operation)
    yield name
    yield from (f"{name}/{option}" for option in sorted(options_of(operation)))


def cells_of(before: Table, operation: Operation, expectation: Expectation) -> frozenset[Cell]:
    """Return the cells that an operation covers on a table, if an engine answers as the model expects."""
    ordinary = expectation.ordinary
    if isinstance(ordinary.outcome, Rejected):
        return frozenset({(REFUSAL, name_of(operation), ordinary.requirement)})
    if isinstance(operation, Reopen | SetZone | SwitchActor):
        return frozenset()
    letters = tuple(letters_of(operation))
    table = ordinary.table if isinstance(operation, _BEGINNINGS) else before
    facets = sorted(facets_of(table))
    cells: set[Cell] = {(FEATURE, letter, facet) for letter in letters for facet in facets}
    cells |= {(TYPE, letter, kind) for letter in letters for kind in _types_of(table, operation)}
    if not isinstance(operation, (*_BEGINNINGS, *QUERIES)):
        cells |= {(PAIR, *pair) for pair in combinations(facets, 2)}
    return frozenset(cells)


def words_of(cell: Cell) -> str:
    """Return what a cell brings together, for people."""
    match cell:
        case (kind, operation, moment) if kind == CRASH:
            return f"a crash {moment} the commit of {operation}"
        case (kind, first, second, order) if kind == RACE:
            return f"{first} beside {second}, {order}"
        case (kind, operation, facet) if kind == BESIDE:
            return f"{operation} of another engine with {facet}"
    return " with ".join(cell[1:])


def crash_cell(operation: Operation, moment: str) -> Cell:
    """Return the cell of a crash before or after the commit of an operation."""
    return (CRASH, name_of(operation), moment)


def race_cell(race: Interleave, order: str) -> Cell:
    """Return the cell of a race of two operations."""
    first, second = (name_of(operation) for operation in race.operations)
    return pair_cell(first, second, order)


def pair_cell(first: str, second: str, order: str) -> Cell:
    """Return the cell of two operations by name: the pair has no order of its own, the commits have."""
    if first <= second:
        return (RACE, first, second, order)
    return (RACE, second, first, {"first": "second", "second": "first"}.get(order, order))


def _types_of(table: Table, operation: Operation) -> frozenset[str]:
    """The types of the columns that an operation concerns: all, or those that it assigns or compares."""
    match operation:
        case Update(assignments=assignments, where=where):
            names: frozenset[str] | None = frozenset(name for name, _ in assignments) | _columns(where)
        case Delete(where=where) if where is not None:
            names = _columns(where)
        case Read(where=where) if where is not None:
            names = _columns(where)
        case _:
            names = None
    schema = table.schema
    if isinstance(operation, Append | Overwrite) and len(operation.rows.schema) > len(schema):
        schema = operation.rows.schema
    if isinstance(operation, Merge) and len(operation.source.schema) > len(schema):
        schema = operation.source.schema
    found: set[str] = set()
    for field in schema:
        if names is None or field.name in names:
            kinds = frozenset(type_names(field.type)) | ({"char"} if width_of(field) is not None else set())
            found |= {PARTITION + kind for kind in kinds} if field.name in table.partition_by else kinds
    return frozenset(found)


def _columns(where: Expression | None) -> frozenset[str]:
    return frozenset() if where is None else frozenset(column.path[0] for column in columns_of(where))
