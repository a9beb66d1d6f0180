"""One state of a table: whether it exists, its schema, partitioning, properties and rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import cached_property

from delta_models.operations import Assignments, Properties
from delta_models.schema import BINARY, STRING, Struct, width_of
from delta_models.values import Key, Row, Rows, bag


class NotModelled(NotImplementedError):
    """The model does not execute this operation, or not with these options.

    Such a step must not be drawn or judged.
    """


NO_COLUMNS = Struct()
# Properties that make a protocol name a feature. The feature stays when the property becomes false.
BROUGHT_BY = {
    "deletionVectors": ("delta.enableDeletionVectors",),
    "typeWidening": ("delta.enableTypeWidening",),
    "inCommitTimestamp": ("delta.enableInCommitTimestamps",),
    "rowTracking": ("delta.enableRowTracking",),
    "v2Checkpoint": ("delta.checkpointPolicy",),
    "columnMapping": ("delta.columnMapping.mode",),
}


@dataclass(frozen=True)
class Table:
    """One state of a table.

    The order of `rows` has no meaning. States share rows that no step has changed. `name` is the name in the catalogue;
    without one the table is known only by its path. The catalogue owns the files of a `managed` table.

    `zone` is the time zone of the session that works at the table. It is no part of the state, but expressions depend
    on it.
    """

    exists: bool = False
    schema: Struct = field(default=NO_COLUMNS)
    partition_by: tuple[str, ...] = ()
    properties: Properties = ()
    rows: tuple[Row, ...] = ()
    name: str | None = None
    managed: bool = False
    features: tuple[str, ...] = ()
    constraints: Assignments = ()
    defaults: Assignments = ()
    cluster_by: tuple[str, ...] = ()
    transactions: tuple[tuple[str, int], ...] = ()
    zone: tzinfo = field(default=UTC, compare=False)

    @cached_property
    def bag(self) -> Counter[Key]:
        """How often each distinct row occurs."""
        return bag(self.schema, self.rows)

    @property
    def definition(self) -> tuple[object, ...]:
        """Everything except the rows."""
        return (
            self.exists, self.schema, self.partition_by, self.properties, self.features, self.constraints,
            self.defaults, self.cluster_by, self.transactions,
        )  # fmt: skip

    def supports(self, feature: str) -> bool:
        """Whether an operation has enabled a table feature, by name or by its property."""
        return feature in self.features or self.property(f"delta.feature.{feature}") in {
            "supported",
            "enabled",
        }

    def may_support(self, feature: str) -> bool:
        """Whether the protocol may name a feature because something in the table needs it."""
        if self.supports(feature) or (feature == "domainMetadata" and self._needs_domains()):
            return True
        if feature in BROUGHT_BY and any(key in BROUGHT_BY[feature] for key, _ in self.properties):
            return True
        return feature == "timestampNtz" and "timestamp_ntz" in str(self.schema)

    def _needs_domains(self) -> bool:
        return bool(self.cluster_by) or any(map(self.may_support, ("rowTracking", "clustering")))

    @property
    def as_rows(self) -> Rows:
        """The rows with their schema."""
        return Rows(self.schema, self.rows)

    def property(self, key: str, default: str = "") -> str:
        """Return the value of a table property."""
        return dict(self.properties).get(key, default)

    def same_contents(self, other: Table) -> bool:
        """Whether both tables are the same to every reader: same definition and same bag of rows."""
        if self.definition != other.definition:  # fmt: skip
            return False
        return self.rows is other.rows or (len(self.rows) == len(other.rows) and self.bag == other.bag)

    def with_rows(self, rows: tuple[Row, ...]) -> Table:
        """Return the same table with other rows, which must already have their stored form."""
        return replace(self, rows=rows)

    @cached_property
    def _may_be_written_as_null(self) -> tuple[int, ...]:
        positions = (self.schema.index(name) for name in self.partition_by)
        types = {STRING, BINARY}
        return tuple(position for position in positions if self.schema.fields[position].type in types)

    @cached_property
    def _widths(self) -> tuple[tuple[int, int], ...]:
        widths = ((position, width_of(column)) for position, column in enumerate(self.schema))
        return tuple((position, width) for position, width in widths if width is not None)

    def stored(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Return rows as the table stores them: what is empty is null if it partitions, and char(n) is padded."""
        positions = self._may_be_written_as_null
        if not positions and not self._widths:
            return tuple(rows)
        kept = []
        for row in rows:
            stored = list(row)
            for position in positions:
                if row[position] in {"", b""}:
                    stored[position] = None
            for position, width in self._widths:
                if stored[position] is not None:
                    stored[position] = stored[position].ljust(width)
            kept.append(tuple(stored))
        return tuple(kept)
