"""A set of data files in columns; action objects are made only on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_delta.log import columns
from pyspark_delta.log.actions import Add, Remove, load
from pyspark_delta.partition_values import absolute_path

__all__ = ["Files", "Tombstones"]

_LEADING_COUNT = r'^\{\s*"numRecords"\s*:\s*(?P<records>[0-9]+)'


class Files:
    """Files of one table in a fixed order. The position of a file here is its ordinal everywhere."""

    def __init__(self, table: pa.Table, root: str) -> None:
        self._table = table
        self.root = root

    @classmethod
    def of(cls, adds: Iterable[Add], root: str) -> Files:
        """Make the set from actions."""
        return cls(columns.from_bodies([add.to_json() for add in adds], columns.ADD), root)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"Files({len(self)} below {self.root})"

    def arrow(self) -> pa.Table:
        """All columns, named as in the protocol: path, partitionValues, size, ..., deletionVector."""
        return self._table

    def adds(self) -> list[Add]:
        """The files as add actions."""
        return [Add.from_json(body) for body in columns.bodies(self._table)]

    def raw_paths(self) -> list[str]:
        """The paths as the log writes them."""
        return self._table["path"].to_pylist()  # type: ignore[no-any-return]

    def paths(self) -> list[str]:
        """The absolute paths in the file system."""
        return [absolute_path(path, self.root) for path in self.raw_paths()]

    @cached_property
    def size_in_bytes(self) -> int:
        """The size of all files together."""
        return int(pc.sum(self._table["size"]).as_py() or 0)

    def take(self, ordinals: Sequence[int] | np.ndarray[Any, Any] | pa.Array) -> Files:
        """The files at these positions, in this order."""
        rows = (
            ordinals if isinstance(ordinals, pa.Array | pa.ChunkedArray) else pa.array(ordinals, pa.int64())
        )
        return Files(self._table.take(rows), self.root)

    def filter(self, mask: pa.Array | pa.ChunkedArray | np.ndarray[Any, Any]) -> Files:
        """The files for which the mask is true."""
        wanted = mask if isinstance(mask, pa.Array | pa.ChunkedArray) else pa.array(mask)
        return Files(self._table.filter(wanted), self.root)

    def with_deletion_vectors(self) -> Files:
        """The files that have a deletion vector."""
        return self.filter(pc.is_valid(self._table["deletionVector"]))

    def has_deletion_vectors(self) -> bool:
        """Whether any file has a deletion vector."""
        column = self._table["deletionVector"]
        return bool(column.null_count < len(column))

    def partition_values(self, name: str) -> pa.ChunkedArray:
        """The text of a partition column for each file, by its physical name; null if the file has none."""
        column = self._table["partitionValues"]
        return pa.chunked_array(
            [pc.map_lookup(chunk, pa.scalar(name, pa.string()), "last") for chunk in column.chunks],
            pa.string(),
        )

    @cached_property
    def num_records(self) -> pa.Array:
        """The number of rows in each file, deleted ones included; null if its statistics don't say."""
        stats = self._table["stats"].combine_chunks()
        if stats.null_count == len(stats):
            return pa.nulls(len(stats), pa.int64())
        counts = pc.extract_regex(stats, _LEADING_COUNT).field("records")
        # If nothing matches, Arrow's struct is null, but its field can have any value.
        matched = pc.match_substring_regex(stats, _LEADING_COUNT)
        counts = pc.if_else(matched, counts, pa.scalar(None, pa.string())).cast(pa.int64())
        odd = pc.indices_nonzero(pc.fill_null(pc.invert(matched), False)).to_pylist()
        if odd:
            values = counts.to_pylist()
            for row in odd:
                values[row] = _count_in(stats[row].as_py())
            counts = pa.array(values, pa.int64())
        return counts

    def total_rows(self) -> int | None:
        """The number of live rows, from the log alone; None if some statistics don't say."""
        if len(self) == 0:
            return 0
        counts = self.num_records
        if counts.null_count:
            return None
        total = int(pc.sum(counts).as_py())
        if self.has_deletion_vectors():
            deleted = [chunk.flatten()[4] for chunk in self._table["deletionVector"].chunks]
            total -= sum(int(pc.sum(part).as_py() or 0) for part in deleted)
        return total


def _count_in(stats: str) -> int | None:
    try:
        records = load(stats).get("numRecords")
    except (ValueError, AttributeError):
        return None
    return int(records) if isinstance(records, int) else None


class Tombstones:
    """Removed files that readers of older versions may still need."""

    def __init__(self, table: pa.Table, root: str) -> None:
        self._table = table
        self.root = root

    def __len__(self) -> int:
        return len(self._table)

    def arrow(self) -> pa.Table:
        """All columns, named as in the protocol."""
        return self._table

    def removes(self) -> list[Remove]:
        """The tombstones as remove actions."""
        return [Remove.from_json(body) for body in columns.bodies(self._table)]

    def raw_paths(self) -> list[str]:
        """The paths as the log writes them."""
        return self._table["path"].to_pylist()  # type: ignore[no-any-return]

    def paths(self) -> list[str]:
        """The absolute paths in the file system."""
        return [absolute_path(path, self.root) for path in self.raw_paths()]

    def newer_than(self, moment_ms: int) -> Tombstones:
        """The tombstones deleted after this time; one without a time counts as very old."""
        newer = pc.greater(pc.fill_null(self._table["deletionTimestamp"], 0), moment_ms)
        return Tombstones(self._table.filter(newer), self.root)
