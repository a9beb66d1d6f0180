"""Choose the files that an operation must read, and the rows of them that its condition picks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap64
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from pyspark_delta.arrow_rewrite import MOST_BYTES
from pyspark_delta.commands.command_context import Change, live_rows
from pyspark_delta.commands.conditions import Condition, quoted
from pyspark_delta.commands.row_positions import count_by_file, rows_by_file
from pyspark_delta.expressions import predicate_of
from pyspark_delta.log.actions import Add
from pyspark_delta.log.file_set import Files
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import arrow_type, parse_column
from pyspark_delta.predicates import has_unknown
from pyspark_delta.scan import FILE, ROW, scan
from pyspark_delta.schema import find, physical_name

__all__ = ["AT_ONCE_BYTES", "Candidates", "find_candidates", "known_live_rows", "whole_files"]


AT_ONCE_BYTES = 16 << 20


class Adds(Sequence[Add]):
    """The add actions of a set of files; if there are many, each action is made when it is first needed."""

    _FEW = 1_000

    def __init__(self, files: Files) -> None:
        self._files = files
        self._made: dict[int, Add] = {}

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, ordinal: Any) -> Any:
        if not isinstance(ordinal, int):
            return [self[index] for index in range(len(self))[ordinal]]
        if not -len(self) <= ordinal < len(self):
            raise IndexError(ordinal)
        ordinal %= len(self)
        if ordinal not in self._made:
            if len(self) <= self._FEW:
                self._made = dict(enumerate(self._files.adds()))
            else:
                self._made[ordinal] = self._files.take([ordinal]).adds()[0]
        return self._made[ordinal]

    def __iter__(self) -> Iterator[Add]:
        if len(self._made) < len(self):
            self._made = dict(enumerate(self._files.adds()))
        return iter([self._made[ordinal] for ordinal in range(len(self))])


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files that may have rows for a condition. A file's ordinal is its position here."""

    spark: SparkSession
    snapshot: Snapshot
    files: Files
    exact: bool = False  # whether the condition is known to pick all their rows
    adds: Adds = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "adds", Adds(self.files))

    def frame(self, *, with_position: bool = True) -> DataFrame:
        """The rows of these files, with their positions by default."""
        return scan(self.spark, self.snapshot, self.files, with_position=with_position)

    def pick(self, picked: DataFrame) -> dict[int, BitMap64]:
        """The row positions in a frame derived from `frame()`, by file."""
        return rows_by_file(picked, FILE, ROW, self.known_rows())

    def count(self, picked: DataFrame) -> dict[int, int]:
        """The number of rows in a frame derived from `frame()`, by file."""
        return count_by_file(picked, FILE, self.known_rows())

    def known_rows(self) -> int | None:
        """How many rows the files have, deleted ones included; None if some statistics don't say."""
        counts = self.files.num_records
        return None if counts.null_count else int(pc.sum(counts).as_py() or 0)

    def fit_arrow_rewrite(self) -> bool:
        """Whether the files are small enough together for the driver to rewrite them with Arrow."""
        return self._bytes() <= MOST_BYTES

    def are_worth_arrow_rewrite(self) -> bool:
        """Whether the files also are large enough. Such a rewrite leaves more files than one by Spark."""
        return AT_ONCE_BYTES <= self._bytes() <= MOST_BYTES

    def _bytes(self) -> int:
        return int(pc.sum(self.files.arrow()["size"]).as_py() or 0)

    def are_one_small_file(self) -> bool:
        """Whether to rewrite at once, without a search for rows: the result shows the rows, and a job is saved."""
        return len(self.adds) == 1 and self.adds[0].size <= AT_ONCE_BYTES

    def only(self, ordinals: Sequence[int]) -> Candidates:
        """The candidates at these ordinals, with new ordinals."""
        if len(ordinals) == len(self.adds):
            return self
        return Candidates(self.spark, self.snapshot, self.files.take(ordinals))


def find_candidates(change: Change, condition: Condition | None, *, reading: bool = True) -> Candidates:
    """The files that partition values and statistics do not exclude.

    With `reading`, the transaction records that the operation depends on them.
    """
    snapshot = change.snapshot
    if condition is None:
        if reading:
            change.transaction.read_whole_table()
        return Candidates(change.spark, snapshot, snapshot.files())
    predicate = None
    if not condition.has_subquery:
        predicate = predicate_of(condition.column, snapshot.schema, change.spark, condition.alias)
    zone = snapshot.zone(change.spark)
    files = snapshot.files(predicate, zone)
    if reading:
        change.transaction.read_partitions(predicate)
        change.transaction.read_files(files.raw_paths())
    exact = (
        predicate is not None
        and snapshot.pruner(zone).only_partitions(predicate)
        and not has_unknown(predicate)
    )
    return Candidates(change.spark, snapshot, files, exact)


def whole_files(change: Change, condition: Condition, candidates: Candidates) -> Sequence[Add] | None:
    """The files all of whose rows the condition picks; None if partition values alone can't decide that."""
    if candidates.exact:
        return candidates.adds
    columns = change.snapshot.partition_columns
    if not columns or not condition.only_of(columns):
        return None
    schema, zone = change.snapshot.schema, change.snapshot.zone(change.spark)
    fields = [known for known in (find(schema, name) for name in columns) if known is not None]
    groups: dict[tuple[str | None, ...], list[Add]] = {}
    for add in candidates.adds:
        values = tuple(add.partition_values.get(physical_name(column)) for column in fields)
        groups.setdefault(values, []).append(add)
    # A local relation of few rows: Spark evaluates it during planning, without a job.
    ordinal = _free_name(schema)
    arrays: list[Any] = [
        parse_column(pa.array([values[index] for values in groups], pa.string()), column.dataType, zone)
        for index, column in enumerate(fields)
    ]
    table = pa.table(
        [*arrays, pa.array(range(len(groups)), pa.int32())],
        pa.schema(
            [*((column.name, arrow_type(column.dataType)) for column in fields), (ordinal, pa.int32())]
        ),
    )
    typed = StructType(
        [
            *(StructField(column.name, column.dataType) for column in fields),
            StructField(ordinal, IntegerType()),
        ]
    )
    frame = change.spark.createDataFrame(table, typed)
    if condition.alias is not None:
        frame = frame.alias(condition.alias)
    chosen = {row[0] for row in frame.where(condition.column).select(quoted(ordinal)).collect()}
    return [add for index, adds in enumerate(groups.values()) if index in chosen for add in adds]


def known_live_rows(adds: Sequence[Add]) -> int | None:
    """How many rows of these files are not deleted; None if some statistics don't say."""
    numbers = [live_rows(add) for add in adds]
    return None if None in numbers else sum(number for number in numbers if number is not None)


def _free_name(schema: StructType) -> str:
    taken = {column.name.lower() for column in schema.fields}
    name = "ordinal"
    while name in taken:
        name += "_"
    return name
