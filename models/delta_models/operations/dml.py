"""What writes rows, and what changes them."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.values import Rows

Assignments = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Append:
    """More rows, in about `files` files. `schema_mode` is none, merge or overwrite."""

    rows: Rows
    files: int = 1
    schema_mode: str = "none"
    by_name: bool = True
    transaction: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Rows in place of the whole table, of the rows that `where` picks, or of the partitions that they touch."""

    rows: Rows
    where: Expression | None = None
    dynamic: bool = False
    files: int = 1
    schema_mode: str = "none"
    by_name: bool = True
    transaction: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class WriteStream:
    """Rows have arrived at the source of a stream that writes into the table, and the stream is run until all that has
    arrived is written. Without rows: it is only run again."""

    rows: Rows
    stream: str = "pour"


@dataclass(frozen=True, slots=True)
class Delete:
    """The rows that `where` picks go; without it all."""

    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """The rows that `where` picks take new values, computed from the old row."""

    assignments: Assignments
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN clause.

    `when` is matched, not-matched or not-matched-by-source; `action` is update, delete or insert.
    `everything` stands for `*`: every target column takes the source column of its name; `assignments` are
    then empty.
    """

    when: str
    action: str
    assignments: Assignments = ()
    condition: Expression | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Source rows joined to the table by `on`; for each row the first clause that applies acts."""

    source: Rows
    on: Expression
    clauses: tuple[MergeClause, ...]
    schema_evolution: bool = False
