"""How a table comes to be, is replaced, copied, goes, and goes back."""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.operations.time_travel import LATEST, When
from delta_models.schema import Struct
from delta_models.values import Rows

Properties = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Create:
    """A new empty table. With `name` it is registered in the engine's catalogue; `managed` leaves its place to it."""

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    name: str | None = None
    managed: bool = False
    if_not_exists: bool = False
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """A new definition, and no rows, in place of the table; with `or_create` also where there is none."""

    schema: Struct
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    or_create: bool = True
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateAs:
    """A new table with these rows (CTAS); with `replace` in place of an existing one. With `source_dropped` the rows
    are those of another table, which is dropped as soon as this one is there."""

    rows: Rows
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    replace: bool = False
    source_dropped: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    """The table is taken out of the catalogue; a managed one loses its files."""


@dataclass(frozen=True, slots=True)
class CloneTo:
    """A clone of the table as of `at` under the table's folder's sibling called `target`."""

    target: str
    shallow: bool
    at: When = LATEST


@dataclass(frozen=True, slots=True)
class ConvertFromParquet:
    """A folder of Parquet files holding these rows, laid out by the harness, becomes a Delta table in place."""

    rows: Rows
    partition_by: tuple[str, ...] = ()
    files: int = 1


@dataclass(frozen=True, slots=True)
class Restore:
    """The contents, schema and properties of an earlier state become the newest version."""

    at: When
