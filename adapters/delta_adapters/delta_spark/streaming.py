"""Use delta-spark as a source and as a sink of Structured Streaming.

A stream runs until it has processed everything that existed at its start. Its progress lies below the table, where
Delta Lake's documentation puts it. A stream that is started again continues from there, in another session too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from delta_adapters.contract import Answer
from delta_adapters.streams import ReceivedBatches, arrivals_of, progress_of
from delta_models.operations import ReadStream, WriteStream

FOLLOWS = {
    "rows": {},
    "inserts": {"skipChangeCommits": "true"},
    "changes": {"readChangeFeed": "true"},
}


def read_stream(spark: Any, tail: ReadStream, location: str) -> Answer:
    """Return all batches that the stream reader has received, old and new.

    Each batch is kept under its number, so a batch that comes again replaces itself.
    """
    progress = progress_of(location, f"delta-spark-{tail.reader}")
    received = ReceivedBatches(progress)
    frame = spark.readStream.format("delta").options(**FOLLOWS[tail.follows]).load(location)
    _run(
        frame.writeStream.foreachBatch(lambda batch, number: received.keep(number, batch.toArrow())), progress
    )
    if received.newest is None:
        return Answer(spark.createDataFrame([], frame.schema).toArrow())
    return Answer(received.all())


def write_stream(spark: Any, operation: WriteStream, schema: Any, location: str) -> None:
    """Write the files that have arrived into the table."""
    arrivals = arrivals_of(location, operation.stream)
    frame = spark.readStream.schema(schema).parquet(str(arrivals))
    writer = frame.writeStream.format("delta").option("path", location)
    _run(writer, progress_of(location, operation.stream))


def _run(writer: Any, progress: Path) -> None:
    query = writer.option("checkpointLocation", str(progress)).trigger(availableNow=True).start()
    query.awaitTermination()
