"""What an engine answered to a look, set beside what the model expects of it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from conformance.execution.arrow_answers import changes_of, rows_from_arrow, times_of
from conformance.observations.observation import ReadObservation
from delta_adapters.host_client import ReadReply
from delta_models.log.changes import CHANGE_TYPE, COMMIT_VERSION
from delta_models.operations import Detail, History, Latest, Read, ReadChanges
from delta_models.schema import Struct
from delta_models.table import ModelHistory, NotModelled, ReadExpectation


def kind_of(read: Read) -> str:
    """Which kind of look a read is."""
    if read.where is not None:
        return "filter"
    return "latest" if isinstance(read.at, Latest) else "state"


def observe_read(
    kind: str, read: Read, expected: ReadExpectation, columns: Struct, reply: ReadReply
) -> ReadObservation:
    """A read with its answer as rows of these columns."""
    rows = None if expected.refusals else expected.rows
    if reply.table is None:
        return ReadObservation(kind, read, rows, None, refused=reply.outcome)
    answer = rows_from_arrow(reply.table, columns)
    if isinstance(answer, str):
        return ReadObservation(kind, read, rows, None, version=reply.version, malformed=answer)
    return ReadObservation(kind, read, rows, answer, version=reply.version)


def observe_query(
    look: ReadChanges | History | Detail, model_history: ModelHistory, schema: Struct, reply: ReadReply
) -> ReadObservation:
    """What an engine tells of the table's past, or of the table as it is."""
    if isinstance(look, ReadChanges):
        return _changes(look, model_history, schema, reply)
    kind = "history" if isinstance(look, History) else "detail"
    told = None if reply.table is None else _columns(reply.table)
    return ReadObservation(kind, look, None, None, refused=reply.outcome, version=reply.version, told=told)


def _changes(
    look: ReadChanges, model_history: ModelHistory, schema: Struct, reply: ReadReply
) -> ReadObservation:
    try:
        expected = model_history.expect_changes(look)
    except NotModelled:
        expected = None
    if reply.table is None:
        return ReadObservation("changes", look, None, None, refused=reply.outcome, changes=expected)
    answer = changes_of(reply.table, Struct((*schema.fields, CHANGE_TYPE, COMMIT_VERSION)))
    if isinstance(answer, str):
        return ReadObservation("changes", look, None, None, malformed=answer, changes=expected)
    return ReadObservation("changes", look, None, answer, changes=expected, told=times_of(reply.table))


def _columns(table: pa.Table) -> dict[str, list[Any]]:
    return {name: table.column(name).to_pylist() for name in table.column_names}
