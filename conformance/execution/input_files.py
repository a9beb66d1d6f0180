"""Files that an operation finds, laid out before an engine is asked: to be converted, or arrived at a stream."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.streams import arrivals_of
from delta_models.operations import ConvertFromParquet, Operation, WriteStream


def write_input_files(operation: Operation, table: Path, step: int, *, exists: bool) -> None:
    """What the operation of a step finds; nothing for most."""
    match operation:
        case ConvertFromParquet() if not exists:
            _to_convert(operation, table)
        case WriteStream():
            _arrive(operation, arrivals_of(table, operation.stream), step)


def _to_convert(operation: ConvertFromParquet, folder: Path) -> None:
    """Write the rows as about `files` files, of columns that may all be null, as plain Parquet's are."""
    folder.mkdir(parents=True, exist_ok=True)
    table = to_arrow(operation.rows)
    step = max(1, -(-len(table) // max(1, operation.files)))
    for number, start in enumerate(range(0, max(1, len(table)), step)):
        pq.write_table(table.slice(start, step), folder / f"part-{number:05}.snappy.parquet")


def _arrive(operation: WriteStream, folder: Path, step: int) -> None:
    """Let the rows arrive as one file, whole."""
    folder.mkdir(parents=True, exist_ok=True)
    if operation.rows.rows:
        partial = folder / f".{step:05}.partial"
        pq.write_table(to_arrow(operation.rows), partial)
        partial.rename(folder / f"{step:05}.parquet")
