"""What engines answered to reads and other queries, beside what the model expects.

The columns of an answer are compared with the schema by name, order and type before a value is compared. What Arrow has
several encodings for (views, dictionaries, units of time) is one type here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from conformance.observations.observation import Observation, ReadObservation
from delta_adapters.contract import Query
from delta_adapters.host_client import ReadReply
from delta_models.log import LogError
from delta_models.log.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from delta_models.log.parquet import ArrowMismatch, arrow_to_rows
from delta_models.operations import AtState, AtTime, Detail, History, Latest, Read, ReadChanges, ReadStream
from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.table import ModelHistory, NotModelled, ReadExpectation
from delta_models.values import Rows

ObserveStream = Callable[[ReadStream, str, ModelHistory, Struct, ReadReply], ReadObservation]

_NAMES = {
    pa.int8(): "byte", pa.int16(): "short", pa.int32(): "integer", pa.int64(): "long",
    pa.float32(): "float", pa.float64(): "double", pa.bool_(): "boolean", pa.date32(): "date", pa.null(): "void",
    pa.string(): "string", pa.large_string(): "string", pa.string_view(): "string",
    pa.binary(): "binary", pa.large_binary(): "binary", pa.binary_view(): "binary",
}  # fmt: skip


def kind_of(query: Query) -> str:
    """The kind of a query, as `ReadObservation` names it."""
    match query:
        case Read(where=where, at=at):
            return "filter" if where is not None else "latest" if isinstance(at, Latest) else "state"
        case ReadChanges():
            return "changes"
        case History():
            return "history"
        case Detail():
            return "detail"
        case ReadStream():
            return "follow"


def observe_answers(
    replies: Sequence[tuple[str, Query, Mapping[str, ReadReply]]],
    observation: Observation,
    model_history: ModelHistory,
    observe_stream: ObserveStream,
) -> dict[str, list[ReadObservation]]:
    """The answers of each engine, beside what the model expects. `replies` are kinds and queries with their replies."""
    observed: dict[str, list[ReadObservation]] = {}
    for kind, query, by_engine in replies:
        if isinstance(query, Read):
            expected = model_history.expect_read(query)
            columns = _columns_of(query, observation, model_history)
            for engine, reply in by_engine.items():
                answer = _observe_read(kind, query, expected, columns, reply)
                observed.setdefault(engine, []).append(answer)
            continue
        for engine, reply in by_engine.items():
            schema = _schema(observation)
            answer = (
                observe_stream(query, engine, model_history, schema, reply)
                if isinstance(query, ReadStream)
                else _observe_query(query, model_history, schema, reply)
            )
            observed.setdefault(engine, []).append(answer)
    return observed


def rows_from_arrow(table: pa.Table, columns: Struct) -> Rows | str:
    """The rows of an answer, or what is wrong with its columns."""
    wanted = [(column.name, name_of(column.type)) for column in columns]
    answered = [(field.name, arrow_name(field.type)) for field in table.schema]
    if wanted != answered:
        return f"columns {_listed(answered)} instead of {_listed(wanted)}"
    try:
        return arrow_to_rows(table, columns)
    except (ArrowMismatch, pa.ArrowInvalid) as error:
        return str(error)


def changes_of(table: pa.Table, columns: Struct) -> Rows | str:
    """The changes of a feed in the columns asked for, or what is wrong with its columns.

    The times are left out, and the columns may come in any order.
    """
    if COMMIT_TIMESTAMP.name in table.column_names:
        table = table.drop_columns([COMMIT_TIMESTAMP.name])
    position = (
        table.column_names.index(COMMIT_VERSION.name) if COMMIT_VERSION.name in table.column_names else -1
    )
    if position >= 0 and pa.types.is_integer(table.schema.field(position).type):
        table = table.set_column(position, COMMIT_VERSION.name, table.column(position).cast(pa.int64()))
    if sorted(table.column_names) == sorted(columns.names):
        table = table.select(list(columns.names))
    return rows_from_arrow(table, columns)


def times_of(table: pa.Table) -> dict[str, list[int | None]] | None:
    """The versions that a feed names and their times in microseconds; None where it names no version."""
    names = (COMMIT_VERSION.name, COMMIT_TIMESTAMP.name)
    if names[0] not in table.column_names:
        return None
    versions = table.column(names[0]).to_pylist()
    if names[1] not in table.column_names or not pa.types.is_timestamp(table.schema.field(names[1]).type):
        return {names[0]: versions, names[1]: [None] * len(versions)}
    moments = table.column(names[1])
    micros = moments.cast(pa.timestamp("us", moments.type.tz), safe=False).cast(pa.int64())
    return {names[0]: versions, names[1]: micros.to_pylist()}


def name_of(data_type: DataType) -> str:
    """A Delta type by name; containers by their kind alone, since what is in them is compared value by value."""
    match data_type:
        case Struct():
            return "struct"
        case Array():
            return "array"
        case Map():
            return "map"
        case Primitive(name="variant"):
            return "struct"
        case Primitive() | DecimalType():
            return str(data_type)


def arrow_name(arrow_type: pa.DataType) -> str:
    """The name of the Delta type that an Arrow type stands for, or its own name where it stands for none."""
    if pa.types.is_dictionary(arrow_type):
        return arrow_name(arrow_type.value_type)
    if arrow_type in _NAMES:
        return _NAMES[arrow_type]
    if pa.types.is_timestamp(arrow_type):
        return "timestamp_ntz" if arrow_type.tz is None else "timestamp"
    if pa.types.is_decimal(arrow_type):
        return f"decimal({arrow_type.precision},{arrow_type.scale})"
    if pa.types.is_struct(arrow_type):
        return "struct"
    if pa.types.is_map(arrow_type):
        return "map"
    if (
        pa.types.is_list(arrow_type)
        or pa.types.is_large_list(arrow_type)
        or pa.types.is_list_view(arrow_type)
    ):
        return "array"
    return f"Arrow's {arrow_type}"


def _columns_of(read: Read, observation: Observation, model_history: ModelHistory) -> Struct:
    """The schema that an answer should have: the log's, since a reader is measured against the log before it."""
    schema = _schema_of(read, observation, model_history)
    if read.columns is None:
        return schema
    known = {name.casefold() for name in schema.names}
    return Struct(tuple(schema[name] for name in read.columns if name.casefold() in known))


def _schema_of(read: Read, observation: Observation, model_history: ModelHistory) -> Struct:
    if not isinstance(read.at, AtState | AtTime):
        snapshot = observation.after
        return model_history.table.schema if snapshot is None else snapshot.schema
    version = observation.versions.get(read.at.step)
    table = model_history.state(read.at.step)
    try:
        return table.schema if version is None else observation.reader.snapshot(version).schema
    except LogError:
        return table.schema


def _schema(observation: Observation) -> Struct:
    assert observation.after is not None  # noqa: S101 - such queries are made of tables alone
    return observation.after.schema


def _observe_read(
    kind: str, read: Read, expected: ReadExpectation, columns: Struct, reply: ReadReply
) -> ReadObservation:
    rows = None if expected.refusals else expected.rows
    if reply.table is None:
        return ReadObservation(kind, read, rows, None, refused=reply.outcome)
    answer = rows_from_arrow(reply.table, columns)
    if isinstance(answer, str):
        return ReadObservation(kind, read, rows, None, version=reply.version, malformed=answer)
    return ReadObservation(kind, read, rows, answer, version=reply.version)


def _observe_query(
    query: ReadChanges | History | Detail, model_history: ModelHistory, schema: Struct, reply: ReadReply
) -> ReadObservation:
    """What an engine answers about the table's past, or about the table as it is."""
    if isinstance(query, ReadChanges):
        return _observe_changes(query, model_history, schema, reply)
    told = None if reply.table is None else _columns(reply.table)
    return ReadObservation(
        kind_of(query), query, None, None, refused=reply.outcome, version=reply.version, told=told
    )


def _observe_changes(
    query: ReadChanges, model_history: ModelHistory, schema: Struct, reply: ReadReply
) -> ReadObservation:
    try:
        expected = model_history.expect_changes(query)
    except NotModelled:
        expected = None
    if reply.table is None:
        return ReadObservation("changes", query, None, None, refused=reply.outcome, changes=expected)
    answer = changes_of(reply.table, Struct((*schema.fields, CHANGE_TYPE, COMMIT_VERSION)))
    if isinstance(answer, str):
        return ReadObservation("changes", query, None, None, malformed=answer, changes=expected)
    return ReadObservation("changes", query, None, answer, changes=expected, told=times_of(reply.table))


def _columns(table: pa.Table) -> dict[str, list[Any]]:
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _listed(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {type_name}" for name, type_name in columns) or "none"
