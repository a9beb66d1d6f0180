"""One state of a table: whether it exists, its schema, partitioning, properties and rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from delta_models.operations import Assignments, Properties
from delta_models.schema import STRING, Struct, width_of
from delta_models.values import Key, Row, Rows, bag


class NotModelled(NotImplementedError):
    """The model does not execute this operation, or not with these options; such a step must not be drawn or judged."""


NO_COLUMNS = Struct()
# Properties for whose sake a protocol names a feature, which stays when the property says false.
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
    """A state. The order of `rows` means nothing; rows are shared between states as long as nothing changes them.

    `name` is the catalogue's; without one the table is known by its path only. A `managed` table's files are the
    catalogue's own.
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

    @cached_property
    def bag(self) -> Counter[Key]:
        """How often each distinct row occurs."""
        return bag(self.schema, self.rows)

    @property
    def definition(self) -> tuple[object, ...]:
        """All but the rows."""
        return (
            self.exists, self.schema, self.partition_by, self.properties, self.features, self.constraints,
            self.defaults, self.cluster_by, self.transactions,
        )  # fmt: skip

    def supports(self, feature: str) -> bool:
        """Whether a table feature was asked for, by name or by its property."""
        return feature in self.features or self.property(f"delta.feature.{feature}") in {
            "supported",
            "enabled",
        }

    def may_support(self, feature: str) -> bool:
        """Whether the protocol may name a feature for the sake of what the table has."""
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
        """The value of a table property."""
        return dict(self.properties).get(key, default)

    def same_contents(self, other: Table) -> bool:
        """Whether both are the same table to every reader: definition and bag of rows."""
        if self.definition != other.definition:  # fmt: skip
            return False
        return self.rows is other.rows or (len(self.rows) == len(other.rows) and self.bag == other.bag)

    def with_rows(self, rows: tuple[Row, ...]) -> Table:
        """The same table with other rows, which must already be as the table stores them."""
        return replace(self, rows=rows)

    @cached_property
    def _texts_that_partition(self) -> tuple[int, ...]:
        positions = (self.schema.index(name) for name in self.partition_by)
        return tuple(position for position in positions if self.schema.fields[position].type == STRING)

    @cached_property
    def _widths(self) -> tuple[tuple[int, int], ...]:
        widths = ((position, width_of(column)) for position, column in enumerate(self.schema))
        return tuple((position, width) for position, width in widths if width is not None)

    def stored(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows as the table keeps them: as a partition value the empty string is null, a char(n) has its blanks."""
        positions = self._texts_that_partition
        if not positions and not self._widths:
            return tuple(rows)
        kept = []
        for row in rows:
            stored = list(row)
            for position in positions:
                if row[position] == "":
                    stored[position] = None
            for position, width in self._widths:
                if stored[position] is not None:
                    stored[position] = stored[position].ljust(width)
            kept.append(tuple(stored))
        return tuple(kept)
