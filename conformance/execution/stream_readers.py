"""Tracks the stream readers of one table: when each read first and last, and what it must have received by now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa

from conformance.execution.read_results import rows_from_arrow
from conformance.observations.observation import ReadObservation
from delta_adapters.host_client import ReadReply
from delta_models.log.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from delta_models.operations import ReadStream
from delta_models.schema import Struct
from delta_models.table import ModelHistory, NotModelled, StreamExpectation
from delta_models.table.change_feed import COMES, GOES
from delta_models.table.streams import CHANGES
from delta_models.values import Rows, row_keyer


@dataclass(slots=True)
class StreamReaders:
    """The stream readers of one table by engine and name, with the steps of their first and their newest read."""

    read_at: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def observe(
        self, tail: ReadStream, engine: str, model_history: ModelHistory, schema: Struct, reply: ReadReply
    ) -> ReadObservation:
        """A stream reader's answer, beside what it must have received."""
        now = model_history.step
        began, last = self.read_at.get((engine, tail.reader), (now, now))
        expected = _expected(model_history, tail, began, last)
        self.read_at[engine, tail.reader] = (began, last if reply.table is None else now)
        if reply.table is None:
            return ReadObservation("follow", tail, None, None, refused=reply.outcome, followed=expected)
        answer = _rows(reply.table, schema, changes=tail.follows == CHANGES)
        if isinstance(answer, str):
            return ReadObservation("follow", tail, None, None, malformed=answer, followed=expected)
        return ReadObservation("follow", tail, None, answer, followed=expected)

    def copy(self) -> StreamReaders:
        """The same stream readers, for a copy of the table."""
        return StreamReaders(dict(self.read_at))


def left_of(answer: pa.Table, schema: Struct) -> Rows | str:
    """The rows that an answer adds up to: of changes, the rows that came and did not go; or what is wrong with it."""
    changes = CHANGE_TYPE.name in answer.column_names
    rows = _rows(answer, schema, changes=changes)
    if isinstance(rows, str) or not changes:
        return rows
    key = row_keyer(schema)
    known = {key(row[:-1]): row[:-1] for row in rows.rows}
    net = Counter(key(row[:-1]) for row in rows.rows if row[-1] in COMES)
    net.subtract(key(row[:-1]) for row in rows.rows if row[-1] in GOES)
    if min(net.values(), default=0) < 0:
        return "a row went that had not come"
    return Rows(schema, tuple(known[row_key] for row_key in net.elements()))


def _rows(answer: pa.Table, schema: Struct, *, changes: bool) -> Rows | str:
    wanted = Struct((*schema.fields, CHANGE_TYPE)) if changes else schema
    extra = [
        column.name for column in (COMMIT_VERSION, COMMIT_TIMESTAMP) if column.name in answer.column_names
    ]
    return rows_from_arrow(answer.drop_columns(extra), wanted)


def _expected(
    model_history: ModelHistory, tail: ReadStream, began: int, last: int
) -> StreamExpectation | None:
    try:
        return model_history.expect_stream(tail, began, last)
    except NotModelled:
        return None
