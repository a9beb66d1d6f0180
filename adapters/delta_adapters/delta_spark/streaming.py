"""delta-spark as a source and as a sink of Structured Streaming, run until all that was there at the start is through.

How far a stream has come stands below the table, where Delta Lake's documentation has such folders; a stream that is
started again goes on from there, in another session too.
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
    """All batches that the reader has got: each is kept under its number, and takes its place should it come again."""
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
    """Write what has arrived."""
    arrivals = arrivals_of(location, operation.stream)
    frame = spark.readStream.schema(schema).parquet(str(arrivals))
    writer = frame.writeStream.format("delta").option("path", location)
    _run(writer, progress_of(location, operation.stream))


def _run(writer: Any, progress: Path) -> None:
    query = writer.option("checkpointLocation", str(progress)).trigger(availableNow=True).start()
    query.awaitTermination()
