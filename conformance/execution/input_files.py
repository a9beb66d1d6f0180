"""Writes the files that an operation reads beside the table: Parquet to convert, or arrivals of a stream."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.streams import arrivals_of
from delta_models.operations import ConvertFromParquet, Operation, WriteStream

READS_FILES = (ConvertFromParquet, WriteStream)


def write_input_files(operation: Operation, table: Path, step: int, *, exists: bool) -> None:
    """Write what the operation of a step reads; nothing for operations not in `READS_FILES`."""
    match operation:
        case ConvertFromParquet() if not exists:
            _write_to_convert(operation, table)
        case WriteStream():
            _write_arrival(operation, arrivals_of(table, operation.stream), step)


def _write_to_convert(operation: ConvertFromParquet, folder: Path) -> None:
    """Write the rows as about `files` files, of columns that may all be null, as plain Parquet's are."""
    folder.mkdir(parents=True, exist_ok=True)
    table = to_arrow(operation.rows)
    step = max(1, -(-len(table) // max(1, operation.files)))
    for number, start in enumerate(range(0, max(1, len(table)), step)):
        pq.write_table(table.slice(start, step), folder / f"part-{number:05}.snappy.parquet")


def _write_arrival(operation: WriteStream, folder: Path, step: int) -> None:
    """Write the rows as one file, which appears whole."""
    folder.mkdir(parents=True, exist_ok=True)
    if operation.rows.rows:
        partial = folder / f".{step:05}.partial"
        pq.write_table(to_arrow(operation.rows), partial)
        partial.rename(folder / f"{step:05}.parquet")
