"""A stream reader made of deltalake's change feed.

deltalake has no streaming reader. As any user who follows a table with it must, this module keeps the last version that
was read, and the changes up to it.
"""

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
    """Return everything that the stream reader has received: the `rows` of its first read as inserts, then the feed.

    Only changes can be followed.
    """
    if tail.follows != "changes":
        return Unsupported(f"deltalake has no reader that follows {tail.follows}")
    if table.metadata().configuration.get(RECORDED) != "true":
        return Rejected("bad-argument", f"{RECORDED} is not set")
    received = ReceivedBatches(progress_of(location, f"delta-rs-{tail.reader}"))
    last_read, newest = received.newest, table.version()
    if last_read is None:
        first_rows = rows(table)
        inserts = first_rows.append_column(CHANGE, pa.array(["insert"] * len(first_rows), pa.string()))
        received.keep(newest, _in_table_schema(inserts, table))
    elif last_read < newest:
        feed = table.load_cdf(starting_version=last_read + 1, ending_version=newest)
        received.keep(newest, _in_table_schema(pa.table(feed.read_all()), table))
    return Answer(received.all(), newest)


def _in_table_schema(changes: pa.Table, table: DeltaTable) -> pa.Table:
    """Return changes in the columns and types of the table's schema, so that batches can be concatenated."""
    schema = pa.schema([*pa.schema(table.schema().to_arrow()), CHANGE])
    return changes.select(schema.names).cast(schema)
