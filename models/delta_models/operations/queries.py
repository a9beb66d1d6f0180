"""What asks, and who asks from where."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.operations.time_travel import LATEST, When


@dataclass(frozen=True, slots=True)
class Read:
    """Rows that `where` picks of the table as of `at`; `columns` None: all, in the order of the schema."""

    at: When = LATEST
    where: Expression | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReadChanges:
    """The change feed from one state to another, both included."""

    first: When
    last: When | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The table's history as the engine tells it."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What the engine says of the table as of `at`: its definition, properties, protocol, number of files."""

    at: When = LATEST


@dataclass(frozen=True, slots=True)
class ReadStream:
    """What a reader that follows the table has got by now, all told, from its first look on.

    It begins with the rows of its first look, and then `follows` what comes: *rows*, and is refused once a commit takes
    some away; *inserts*, and passes over such commits; or *changes*, as the change feed tells them.
    """

    reader: str = "tail"
    follows: str = "rows"


@dataclass(frozen=True, slots=True)
class Reopen:
    """The table is addressed anew, cold, through another path to the same folder."""


@dataclass(frozen=True, slots=True)
class SwitchActor:
    """The following steps are performed in another slot of a shared history."""

    slot: str


@dataclass(frozen=True, slots=True)
class SetZone:
    """The session's time zone changes."""

    zone: str
