"""Folders of plain Parquet files, laid out for an engine to convert."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from delta_adapters.arrow_rows import to_arrow
from delta_models.operations import ConvertFromParquet


def lay_out(operation: ConvertFromParquet, folder: Path) -> None:
    """Write the rows as about `files` files, of columns that may all be null, as plain Parquet's are."""
    folder.mkdir(parents=True, exist_ok=True)
    table = to_arrow(operation.rows)
    step = max(1, -(-len(table) // max(1, operation.files)))
    for number, start in enumerate(range(0, max(1, len(table)), step)):
        pq.write_table(table.slice(start, step), folder / f"part-{number:05}.snappy.parquet")
