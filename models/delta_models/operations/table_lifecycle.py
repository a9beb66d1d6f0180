"""Operations that create, replace, clone, convert, drop and restore a table."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.operations.time_travel import LATEST, When
from delta_models.schema import Struct
from delta_models.values import Rows

Properties = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Create:
    """Create an empty table.

    With `name` the engine registers it in its catalogue. With `managed` the catalogue chooses its folder.
    """

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    name: str | None = None
    managed: bool = False
    if_not_exists: bool = False
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace the table by an empty one with a new definition; with `or_create` also if there is no table."""

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    or_create: bool = True
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateAs:
    """Create a table with these rows (CTAS); with `replace` in place of an existing one.

    With `source_dropped` the rows come from another table, which is dropped as soon as this one exists.
    """

    rows: Rows
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    replace: bool = False
    source_dropped: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove the table from the catalogue, and the files of a managed table too."""


@dataclass(frozen=True, slots=True)
class CloneTo:
    """Clone the table as of `at` into the folder `target` beside its own."""

    target: str
    shallow: bool
    at: When = LATEST


@dataclass(frozen=True, slots=True)
class ConvertFromParquet:
    """Convert a folder of Parquet files, which the harness has filled with these rows, to a Delta table in place."""

    rows: Rows
    partition_by: tuple[str, ...] = ()
    files: int = 1


@dataclass(frozen=True, slots=True)
class Restore:
    """Make the rows, schema and properties of an earlier state the newest version."""

    at: When
