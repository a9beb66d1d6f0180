"""A table at one version: its metadata and its files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql.types import StructType

from pyspark_delta import features
from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import CorruptLog
from pyspark_delta.log.file_set import Files, Tombstones
from pyspark_delta.log.history import commit_time
from pyspark_delta.log.state import State
from pyspark_delta.log.store import LogStore
from pyspark_delta.partition_values import zone_for
from pyspark_delta.skipping.exact import Pruner

if TYPE_CHECKING:
    from pyspark_delta.log.actions import DomainMetadata, Metadata, Protocol, Txn
    from pyspark_delta.predicates import Predicate

__all__ = ["Snapshot"]


class Snapshot:
    """An immutable version of a table; results are computed once and kept."""

    def __init__(self, store: LogStore, version: int, state: State, timestamp: int | None = None) -> None:
        if state.protocol is None or state.metadata is None:
            lacking = "protocol" if state.protocol is None else "metadata"
            raise CorruptLog(f"no commit up to version {version} of the table {store.root} has its {lacking}")
        self.store = store
        self.path = store.root
        self.version = version
        self.state = state
        self.protocol: Protocol = state.protocol
        self.metadata: Metadata = state.metadata
        if timestamp is not None:
            self.timestamp = timestamp

    def __repr__(self) -> str:
        return f"Snapshot({self.path} at version {self.version})"

    @cached_property
    def timestamp(self) -> int:
        """When the version was committed, in milliseconds since 1970; in-commit timestamps count if enabled."""
        return commit_time(self.store, self.properties, self.version)

    @cached_property
    def schema(self) -> StructType:
        """The columns as Spark's types, with the metadata of fields."""
        return schemas.from_json(self.metadata.schema_string)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The names of the partition columns, in order."""
        return self.metadata.partition_columns

    @property
    def properties(self) -> Mapping[str, str]:
        """The table's properties as they were set."""
        return self.metadata.configuration

    @property
    def column_mapping(self) -> str:
        """The mode of column mapping: `none`, `name` or `id`."""
        return schemas.column_mapping_mode(self.metadata.configuration)

    @property
    def num_files(self) -> int:
        """The number of files."""
        return self.state.num_files

    @property
    def size_in_bytes(self) -> int:
        """The size of all files together."""
        return self.state.size_in_bytes

    @cached_property
    def all_files(self) -> Files:
        """All files of the table; their order is the same for the lifetime of this snapshot."""
        return Files(self.state.adds, self.path)

    def zone(self, spark: object) -> str:
        """The time zone of partition values without one."""
        names = self.partition_columns
        return zone_for(spark, (field.dataType for field in self.schema.fields if field.name in names))

    def files(self, predicate: Predicate | None = None, zone: str = "UTC") -> Files:
        """The files that can have rows for which the predicate is true; `zone` applies to timestamps without one."""
        self.check_readable()
        if predicate is None:
            return self.all_files
        pruner = self.pruner(zone)
        if self.state.base.is_remote:
            return pruner.matching(Files(self.state.selected(pruner, predicate), self.path), predicate)
        return pruner.matching(self.all_files, predicate)

    def pruner(self, zone: str = "UTC") -> Pruner:
        """The object that checks files of this table against a predicate."""
        if zone not in self._pruners:
            self._pruners[zone] = Pruner(self.schema, self.partition_columns, zone)
        return self._pruners[zone]

    def tombstones(self) -> Tombstones:
        """The removed files that the log still lists."""
        return Tombstones(self.state.removes, self.path)

    def tombstone_cutoff(self, now_ms: int) -> int:
        """The time up to which tombstones are dropped."""
        return now_ms - features.interval_ms(
            self.properties, "delta.deletedFileRetentionDuration", "interval 7 days"
        )

    def txn_version(self, app_id: str) -> int | None:
        """The latest version of this application; None if the table has none."""
        txn = self.txns.get(app_id)
        return None if txn is None else txn.version

    @property
    def txns(self) -> Mapping[str, Txn]:
        """The latest version of each application."""
        return self.state.overlay.txns

    @cached_property
    def domains(self) -> Mapping[str, DomainMetadata]:
        """The configurations of metadata domains, without removed ones."""
        return {name: domain for name, domain in self.state.overlay.domains.items() if not domain.removed}

    def check_readable(self) -> None:
        """Raise UnsupportedTableFeature if this engine would read the table wrongly."""
        if not self._readable:
            features.check_readable(self.protocol, self.path)
            self._readable = True

    def check_writable(self) -> None:
        """Raise UnsupportedTableFeature if this engine would write the table wrongly."""
        features.check_writable(self.protocol, self.metadata, self.domains, self.path)

    _readable = False

    @cached_property
    def _pruners(self) -> dict[str, Pruner]:
        return {}
