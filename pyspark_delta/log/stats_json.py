"""Turn the statistics columns of a checkpoint into the JSON text of an add."""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa

from pyspark_delta.log.actions import dump

__all__ = ["texts_of_parsed"]


def texts_of_parsed(column: pa.ChunkedArray) -> pa.Array:
    """The statistics text of each file; null if it has none."""
    return pa.array(
        [None if stats is None else dump(_plain(stats)).decode() for stats in column.to_pylist()], pa.string()
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if part is not None}
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(timespec="microseconds")
        return f"{text}Z" if value.tzinfo else text
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
