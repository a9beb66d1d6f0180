"""Convert Arrow tables and Parquet files to plain values. Only this package of the model imports pyarrow."""

from __future__ import annotations

from delta_models.log.parquet.arrow_values import ArrowMismatch, arrow_to_rows, column_values
from delta_models.log.parquet.checkpoint_files import CheckpointPart, read_checkpoint_file
from delta_models.log.parquet.data_files import FileColumns, read_data_file

__all__ = [
    "ArrowMismatch",
    "CheckpointPart",
    "FileColumns",
    "arrow_to_rows",
    "column_values",
    "read_checkpoint_file",
    "read_data_file",
]
