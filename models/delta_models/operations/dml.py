"""Operations that write, change and delete rows."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.values import Rows

Assignments = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Append:
    """Add rows, in about `files` files. `schema_mode` is none, merge or overwrite."""

    rows: Rows
    files: int = 1
    schema_mode: str = "none"
    by_name: bool = True
    transaction: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Replace rows: all, those that `where` picks, or with `dynamic` the partitions that the new rows touch."""

    rows: Rows
    where: Expression | None = None
    dynamic: bool = False
    files: int = 1
    schema_mode: str = "none"
    by_name: bool = True
    transaction: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class WriteStream:
    """Add rows to the source of a stream that writes into the table, and run the stream until it has written them.

    Without rows, only run the stream again.
    """

    rows: Rows
    stream: str = "pour"


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the rows that `where` picks; without it all rows."""

    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Give new values, computed from the old row, to the rows that `where` picks."""

    assignments: Assignments
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN clause of a merge.

    `when` is matched, not-matched or not-matched-by-source; `action` is update, delete or insert. `everything` means
    `*`: every target column takes the source column of its name, and `assignments` are empty.
    """

    when: str
    action: str
    assignments: Assignments = ()
    condition: Expression | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Join source rows to the table by `on`. For each row the first clause that applies acts."""

    source: Rows
    on: Expression
    clauses: tuple[MergeClause, ...]
    schema_evolution: bool = False
