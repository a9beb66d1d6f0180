"""What changes a table's definition: its schema, and its rules."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.operations.table_lifecycle import Properties
from delta_models.schema import DataType, Field


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new nullable field in the struct at `parent` (empty: the table itself), at its end unless told otherwise."""

    field: Field
    parent: tuple[str, ...] = ()
    after: str | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn:
    """A column leaves the schema."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """A column takes another name."""

    path: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class ReorderColumn:
    """A column moves to the front of its struct, or behind its sibling `after`."""

    path: tuple[str, ...]
    after: str | None = None


@dataclass(frozen=True, slots=True)
class WidenColumn:
    """A column takes a wider type."""

    path: tuple[str, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class SetNullable:
    """A column gets or loses its NOT NULL."""

    path: tuple[str, ...]
    nullable: bool


@dataclass(frozen=True, slots=True)
class SetDefault:
    """A column's default value for rows that do not name it; None takes it away."""

    column: str
    value: Expression | None


@dataclass(frozen=True, slots=True)
class SetProperties:
    """Table properties get these values."""

    properties: Properties


@dataclass(frozen=True, slots=True)
class UnsetProperties:
    """Table properties lose their values."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddConstraint:
    """A CHECK constraint that every row, old and new, must meet."""

    name: str
    check: Expression


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """A CHECK constraint goes."""

    name: str
    if_exists: bool = True


@dataclass(frozen=True, slots=True)
class EnableFeature:
    """The protocol is upgraded to support a table feature."""

    feature: str


@dataclass(frozen=True, slots=True)
class DropFeature:
    """A table feature is taken out of the protocol."""

    feature: str
    truncate_history: bool = False
