"""A reader that follows a table by its change feed. deltalake has no streaming reader: which version was seen last, and
what was told up to then, is kept here, as by anybody who follows a table with deltalake."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from deltalake import DeltaTable

from delta_adapters.contract import Answer
from delta_adapters.streams import ReceivedBatches, progress_of
from delta_models.operations import ReadStream
from delta_models.outcomes import Outcome, Rejected, Unsupported

CHANGE = pa.field("_change_type", pa.string())
RECORDED = "delta.enableChangeDataFeed"


def read_stream(
    tail: ReadStream, location: str, table: DeltaTable, rows: Callable[[DeltaTable], pa.Table]
) -> Answer | Outcome:
    """All that the reader has been told: the `rows` of its first look as inserted, then what the feed told."""
    if tail.follows != "changes":
        return Unsupported(f"deltalake has no reader that follows {tail.follows}")
    if table.metadata().configuration.get(RECORDED) != "true":
        return Rejected("bad-argument", f"{RECORDED} is not set")
    received = ReceivedBatches(progress_of(location, f"delta-rs-{tail.reader}"))
    seen, newest = received.newest, table.version()
    if seen is None:
        found = rows(table)
        told = found.append_column(CHANGE, pa.array(["insert"] * len(found), pa.string()))
        received.keep(newest, _plain(told, table))
    elif seen < newest:
        feed = table.load_cdf(starting_version=seen + 1, ending_version=newest)
        received.keep(newest, _plain(pa.table(feed.read_all()), table))
    return Answer(received.all(), newest)


def _plain(told: pa.Table, table: DeltaTable) -> pa.Table:
    """The table's columns and the kind of change, in the types of its schema, so that batches can be put together."""
    schema = pa.schema([*pa.schema(table.schema().to_arrow()), CHANGE])
    return told.select(schema.names).cast(schema)
