"""Which files an operation has to look at, and which rows of them its condition picks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap64
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from pyspark_delta.commands.change import Change, live_rows
from pyspark_delta.commands.conditions import Condition, quoted
from pyspark_delta.commands.rows import count_by_file, rows_by_file
from pyspark_delta.log.actions import Add
from pyspark_delta.log.files import Files
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.partition_values import arrow_type, parse_column
from pyspark_delta.scan import FILE, ROW, scan
from pyspark_delta.schema import find, physical_name
from pyspark_delta.expressions import predicate_of

__all__ = ["Candidates", "find_candidates", "known_live_rows", "whole_files"]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files that may have rows of a condition; a file's ordinal is its place here."""

    spark: SparkSession
    snapshot: Snapshot
    files: Files
    adds: Sequence[Add]

    def frame(self) -> DataFrame:
        """Their rows, with positions."""
        return scan(self.spark, self.snapshot, self.files, with_position=True)

    def pick(self, picked: DataFrame) -> dict[int, BitMap64]:
        """The rows of a frame made of `frame()`, by file."""
        return rows_by_file(picked, FILE, ROW, self.known_rows())

    def count(self, picked: DataFrame) -> dict[int, int]:
        """How many rows a frame made of `frame()` has, by file."""
        return count_by_file(picked, FILE, self.known_rows())

    def known_rows(self) -> int | None:
        """How many rows these files have, deleted ones too; None if that is not known of all."""
        counts = self.files.num_records
        return None if counts.null_count else int(pc.sum(counts).as_py() or 0)

    def only(self, ordinals: Sequence[int]) -> Candidates:
        """Some of them, with new ordinals."""
        if len(ordinals) == len(self.adds):
            return self
        return Candidates(
            self.spark, self.snapshot, self.files.take(ordinals), [self.adds[each] for each in ordinals]
        )


def find_candidates(change: Change, condition: Condition | None, *, reading: bool = True) -> Candidates:
    """The files that partition values and statistics do not rule out; the transaction is told if they are to be read."""
    snapshot = change.snapshot
    if condition is None:
        if reading:
            change.transaction.read_whole_table()
        files = snapshot.files()
        return Candidates(change.spark, snapshot, files, files.adds())
    predicate = None
    if not condition.has_subquery:
        predicate = predicate_of(condition.column, snapshot.schema, change.spark, condition.alias)
    files = snapshot.files(predicate)
    adds = files.adds()
    if reading:
        change.transaction.read_partitions(predicate)
        change.transaction.read_files(adds)
    return Candidates(change.spark, snapshot, files, adds)


def whole_files(change: Change, condition: Condition, candidates: Candidates) -> list[Add] | None:
    """The files all of whose rows the condition picks, if partition values alone decide that; None if they do not."""
    columns = change.snapshot.partition_columns
    if not columns or not condition.only_of(columns):
        return None
    schema, zone = change.snapshot.schema, change.spark.conf.get("spark.sql.session.timeZone")
    fields = [field for field in (find(schema, name) for name in columns) if field is not None]
    groups: dict[tuple[str | None, ...], list[Add]] = {}
    for add in candidates.adds:
        values = tuple(add.partition_values.get(physical_name(field)) for field in fields)
        groups.setdefault(values, []).append(add)
    # Few rows of a local relation: Spark answers it while it plans, without a job.
    ordinal = _free_name(schema)
    arrays: list[Any] = [
        parse_column(pa.array([values[index] for values in groups], pa.string()), field.dataType, zone)
        for index, field in enumerate(fields)
    ]
    table = pa.table(
        [*arrays, pa.array(range(len(groups)), pa.int32())],
        pa.schema([*((field.name, arrow_type(field.dataType)) for field in fields), (ordinal, pa.int32())]),
    )
    typed = StructType(
        [*(StructField(field.name, field.dataType) for field in fields), StructField(ordinal, IntegerType())]
    )
    frame = change.spark.createDataFrame(table, typed)
    chosen = {row[0] for row in frame.where(condition.column).select(quoted(ordinal)).collect()}
    return [add for index, adds in enumerate(groups.values()) if index in chosen for add in adds]


def known_live_rows(adds: Sequence[Add]) -> int | None:
    """How many rows these files have; None if that is not known of all."""
    numbers = [live_rows(add) for add in adds]
    return None if None in numbers else sum(number for number in numbers if number is not None)


def _free_name(schema: StructType) -> str:
    taken = {field.name.lower() for field in schema.fields}
    name = "ordinal"
    while name in taken:
        name += "_"
    return name
