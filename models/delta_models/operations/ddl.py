"""Operations that change a table's definition: schema, properties, constraints and features."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.expressions import Expression
from delta_models.operations.table_lifecycle import Properties
from delta_models.schema import DataType, Field


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a nullable field to the struct at `parent`; an empty path is the table itself.

    The field comes last, unless `first` or `after` say otherwise.
    """

    field: Field
    parent: tuple[str, ...] = ()
    after: str | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn:
    """Drop a column from the schema."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Rename a column."""

    path: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class ReorderColumn:
    """Move a column to the front of its struct, or behind its sibling `after`."""

    path: tuple[str, ...]
    after: str | None = None


@dataclass(frozen=True, slots=True)
class WidenColumn:
    """Change a column's type to a wider one."""

    path: tuple[str, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class SetNullable:
    """Set NOT NULL on a column, or drop it."""

    path: tuple[str, ...]
    nullable: bool


@dataclass(frozen=True, slots=True)
class SetDefault:
    """Set the default of a column for rows that do not name it; None drops the default."""

    column: str
    value: Expression | None


@dataclass(frozen=True, slots=True)
class SetProperties:
    """Set table properties."""

    properties: Properties


@dataclass(frozen=True, slots=True)
class UnsetProperties:
    """Unset table properties."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddConstraint:
    """Add a CHECK constraint that every row must meet, old rows included."""

    name: str
    check: Expression


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """Drop a CHECK constraint."""

    name: str
    if_exists: bool = True


@dataclass(frozen=True, slots=True)
class EnableFeature:
    """Upgrade the protocol so that it names a table feature."""

    feature: str


@dataclass(frozen=True, slots=True)
class DropFeature:
    """Remove a table feature from the protocol."""

    feature: str
    truncate_history: bool = False
