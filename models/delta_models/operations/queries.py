"""Operations that query a table, and operations that change the session of the queries."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.operations.time_travel import LATEST, When


@dataclass(frozen=True, slots=True)
class Read:
    """Read the rows that `where` picks from the table as of `at`.

    Without `columns` the result has all columns, in the order of the schema.
    """

    at: When = LATEST
    where: Expression | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReadChanges:
    """Read the change feed from one state to another, both included."""

    first: When
    last: When | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Read the table's history as the engine reports it."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Read the details of the table as of `at`: definition, properties, protocol, number of files."""

    at: When = LATEST


@dataclass(frozen=True, slots=True)
class ReadStream:
    """Read all that a streaming reader has received since its first query.

    The reader begins with the rows at its first query and then `follows` new ones. With *rows* the engine refuses it
    once a commit removes rows. With *inserts* it skips such commits. With *changes* it receives the change feed.
    """

    reader: str = "tail"
    follows: str = "rows"


@dataclass(frozen=True, slots=True)
class Reopen:
    """Open the table again, without caches, through another path to the same folder."""


@dataclass(frozen=True, slots=True)
class SwitchActor:
    """Perform the following steps in another slot of a shared history."""

    slot: str


@dataclass(frozen=True, slots=True)
class SetZone:
    """Change the session's time zone."""

    zone: str
