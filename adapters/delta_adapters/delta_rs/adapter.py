"""Operations and reads as calls of deltalake's public API, with one long-lived `DeltaTable` for each table address."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import deltalake
import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    QueryBuilder,
    Schema,
    Transaction,
    convert_to_deltalake,
    write_deltalake,
)

from delta_adapters.arrow_rows import as_held, to_arrow
from delta_adapters.contract import Answer, Identity, Query, detail_table, history_table
from delta_adapters.delta_rs.alter import EngineCall, alter
from delta_adapters.delta_rs.change_feed_reader import read_stream
from delta_adapters.delta_rs.merge import merge
from delta_adapters.delta_rs.rejections import classify, comes_from_engine
from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.delta_rs import DeltaRsDialect
from delta_adapters.temporary_tables import temporary_source
from delta_models import operations as ops
from delta_models.expressions import Expression
from delta_models.operations import Operation, Read
from delta_models.outcomes import Committed, NoChange, Outcome, Unsupported
from delta_models.schema import LONG, Struct, parse_schema, schema_string, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of

DIALECT = DeltaRsDialect()
Mode = Literal["error", "overwrite", "ignore"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class NotOffered(Exception):
    """deltalake has no such operation, or not with these options."""


class DeltaRs:
    """deltalake as its users see it: the adapter passes its errors and limits on and never works around them."""

    def __init__(self) -> None:
        self._location = ""
        self._table: DeltaTable | None = None

    @property
    def identity(self) -> Identity:
        """deltalake, in the installed version."""
        home = "https://github.com/delta-io/delta-rs"
        return Identity("delta-rs", deltalake.__version__, home, f"{home}/issues")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The capability document beside this module, without what an older deltalake does not have."""
        text = importlib.resources.files(__package__).joinpath("capabilities.json").read_text("utf-8")
        document: dict[str, Any] = json.loads(text)
        if not hasattr(DeltaTable, "compact_logs"):
            del document["operations"]["CompactLog"]
        return document

    def start(self, work: Path) -> None:  # noqa: ARG002 - the contract gives it
        """Convert a row once, so that pyarrow imports now what it imports with its first values, such as pandas."""
        to_arrow(Rows(struct(("id", LONG)), ((1,),)))

    def stop(self) -> None:
        """Do nothing: `start` left nothing running."""

    def open(self, location: str) -> None:
        """Address a table; the first use makes a new, cold `DeltaTable`."""
        self._location = location
        self._table = None

    def execute(self, operation: Operation, tag: str) -> Outcome:
        """Perform an operation. The version before and after shows whether deltalake committed something."""
        acting = isinstance(operation, ops.Create | ops.Replace | ops.CreateAs | ops.ConvertFromParquet)
        try:
            properties = _commit_properties(operation, tag)
            match operation:
                case ops.Create():
                    return self._create(
                        operation, properties, "ignore" if operation.if_not_exists else "error"
                    )
                case ops.Replace(or_create=True):
                    return self._create(operation, properties, "overwrite")
                case ops.CreateAs(replace=False):
                    return self._create_as(operation, properties)
                case ops.ConvertFromParquet():
                    return self._convert(operation, properties)
            table = self._refreshed()
            before = table.version()
            call = self._call(operation, table)
            acting = True
            answered = call(properties)
            if isinstance(operation, ops.Vacuum) and not operation.dry_run and answered:
                return Committed()  # up to 1.0 the table stays at its old version
            return Committed() if table.version() > before else NoChange()
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception; what is no outcome is raised again
            return _outcome(error, acting=acting)

    def read(self, read: Query) -> Answer | Outcome:
        """Read the newest rows through the long-lived table, an older version through a table opened at it."""
        try:
            if not isinstance(read, Read):
                return self._answer(read)
            table = self._at(read.at)
            return Answer(self._rows(table, read), table.version())
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception; what is no outcome is raised again
            return _outcome(error, acting=False)

    def _answer(self, query: Query) -> Answer | Outcome:
        """Answer a query about changes, history, details or a stream."""
        match query:
            case ops.ReadChanges(first=ops.AtVersion(version=first), last=last):
                until = last.version if isinstance(last, ops.AtVersion) else None
                feed = self._refreshed().load_cdf(starting_version=first, ending_version=until)
                return Answer(pa.table(feed.read_all()))
            case ops.History():
                table = self._refreshed()
                entries = [
                    (entry["version"], entry["operation"], entry["timestamp"], entry.get("operationMetrics"))
                    for entry in table.history()
                ]
                return Answer(history_table(entries), table.version())
            case ops.Detail(at=at):
                table = self._at(at)
                return Answer(detail_table(_details(table)), table.version())
            case ops.ReadStream():
                return read_stream(
                    query, self._location, self._refreshed(), lambda table: self._rows(table, Read())
                )
        return Unsupported(f"deltalake has no {name_of(query)}")

    def _at(self, at: ops.When) -> DeltaTable:
        match at:
            case ops.Latest():
                return self._refreshed()
            case ops.AtVersion(version=version):
                return DeltaTable(self._location, version=version)
            case ops.AtTimestamp(micros=micros):
                table = DeltaTable(self._location)
                table.load_as_version(_moment(micros))
                return table
        raise NotOffered(f"{name_of(at)} is for the harness to resolve")

    def _refreshed(self) -> DeltaTable:
        if self._table is None:
            self._table = DeltaTable(self._location)
        else:
            self._table.update_incremental()
        return self._table

    def _rows(self, table: DeltaTable, read: Read) -> pa.Table:
        columns = None if read.columns is None else list(read.columns)
        if read.where is None and "deletionVectors" not in (table.protocol().reader_features or ()):
            return table.to_pyarrow_table(columns=columns)
        chosen = "*" if columns is None else ", ".join(map(DIALECT.quote, columns))
        where = "" if read.where is None else f" WHERE {_sql(read.where, _schema_of(table))}"
        return pa.table(QueryBuilder().register("t", table).execute(f"SELECT {chosen} FROM t{where}"))  # noqa: S608 - rendered, quoted

    def _create(
        self, operation: ops.Create | ops.Replace, properties: CommitProperties, mode: Mode
    ) -> Outcome:
        if isinstance(operation, ops.Create) and (operation.name is not None or operation.managed):
            raise NotOffered("deltalake has no catalogue of its own")
        if operation.cluster_by:
            raise NotOffered("deltalake can't create clustered tables")
        before = self._version()
        custom = any(not key.startswith("delta.") for key, _ in operation.properties)
        self._table = DeltaTable.create(
            self._location,
            Schema.from_json(schema_string(operation.schema)),
            mode=mode,
            partition_by=list(operation.partition_by) or None,
            configuration=dict(operation.properties) or None,
            commit_properties=properties,
            raise_if_key_not_exists=not custom,
        )
        return Committed() if self._table.version() > before else NoChange()

    def _create_as(self, operation: ops.CreateAs, properties: CommitProperties) -> Outcome:
        rows = to_arrow(as_held(operation.rows))
        if not operation.source_dropped:
            return self._created(operation, rows, properties)
        with temporary_source(self._location) as source:
            write_deltalake(str(source), rows)
            dataset = DeltaTable(str(source)).to_pyarrow_dataset()
            return self._created(operation, dataset.scanner().to_reader(), properties)

    def _created(self, operation: ops.CreateAs, rows: Any, properties: CommitProperties) -> Outcome:
        write_deltalake(
            self._location,
            rows,
            mode="error",
            partition_by=list(operation.partition_by) or None,
            configuration=dict(operation.properties) or None,
            commit_properties=properties,
        )
        return Committed()

    def _convert(self, operation: ops.ConvertFromParquet, properties: CommitProperties) -> Outcome:
        before = self._version()
        fields = {
            field.name: field for field in Schema.from_json(schema_string(operation.rows.schema)).fields
        }
        convert_to_deltalake(
            self._location,
            partition_by=Schema([fields[name] for name in operation.partition_by])
            if operation.partition_by
            else None,
            partition_strategy="hive" if operation.partition_by else None,
            commit_properties=properties,
        )
        return Committed() if self._version() > before else NoChange()

    def _version(self) -> int:
        return DeltaTable(self._location).version() if DeltaTable.is_deltatable(self._location) else -1

    def _call(self, operation: Operation, table: DeltaTable) -> EngineCall:
        """Return the call of deltalake that performs the operation."""
        match operation:
            case ops.Append() | ops.Overwrite():
                return self._write(operation, table)
            case ops.Delete(where=where):
                predicate = None if where is None else _sql(where, _schema_of(table))
                return lambda properties: table.delete(predicate, commit_properties=properties)
            case ops.Update():
                schema = _schema_of(table)
                updates = {DIALECT.quote(name): _sql(value, schema) for name, value in operation.assignments}
                picked = None if operation.where is None else _sql(operation.where, schema)
                return lambda properties: table.update(
                    updates, predicate=picked, commit_properties=properties
                )
            case ops.Merge():
                return merge(operation, table, _schema_of(table), DIALECT)
            case ops.Restore(at=ops.AtVersion(version=version)):
                return lambda properties: table.restore(version, commit_properties=properties)
            case ops.Restore(at=ops.AtTimestamp(micros=micros)):
                return lambda properties: table.restore(_moment(micros), commit_properties=properties)
            case ops.Reopen():
                return lambda _: self.open(self._location)
            case ops.CompactLog(commits=commits):
                newest = table.version()
                return lambda _: table.compact_logs(max(0, newest - commits + 1), newest)
            case ops.CleanLog():
                return lambda _: table.cleanup_metadata()
        altered = alter(operation, table)
        if altered is not None:
            return altered
        return self._maintenance(operation, table)

    def _maintenance(self, operation: Operation, table: DeltaTable) -> EngineCall:
        match operation:
            case ops.Checkpoint():
                return lambda _: table.create_checkpoint()
            case ops.Optimize(where=None):
                return lambda properties: table.optimize.compact(commit_properties=properties)
            case ops.ZOrder(columns=columns, where=None):
                return lambda properties: table.optimize.z_order(list(columns), commit_properties=properties)
            case ops.Vacuum(retention_hours=hours, dry_run=dry_run, lite=lite):
                if hours is not None and hours != int(hours):
                    raise NotOffered("deltalake takes whole hours of retention")
                return lambda properties: table.vacuum(
                    None if hours is None else int(hours),
                    dry_run=dry_run,
                    enforce_retention_duration=hours is None,
                    full=not lite,
                    commit_properties=properties,
                )
        raise NotOffered(f"deltalake has no call for {operation!r:.200}")

    def _write(self, operation: ops.Append | ops.Overwrite, table: DeltaTable) -> EngineCall:
        if not operation.by_name:
            raise NotOffered("deltalake writes by name only")
        arguments: dict[str, Any] = {"mode": "append"}
        if isinstance(operation, ops.Overwrite):
            if operation.dynamic:
                raise NotOffered("deltalake has no dynamic partition overwrite")
            arguments["mode"] = "overwrite"
            if operation.where is not None:
                arguments["predicate"] = _sql(operation.where, _schema_of(table))
        if operation.schema_mode != "none":
            arguments["schema_mode"] = operation.schema_mode
        # An overwrite of the schema gives the table its columns, with what they are generated from.
        data = to_arrow(as_held(operation.rows), with_metadata=operation.schema_mode == "overwrite")
        if operation.files > 1:
            data = _in_pieces(data, operation.files)
            arguments["target_file_size"] = 1
        return lambda properties: write_deltalake(table, data, commit_properties=properties, **arguments)


def _outcome(error: BaseException, *, acting: bool) -> Outcome:
    if isinstance(error, NotOffered | Inexpressible):
        return Unsupported(str(error))
    if comes_from_engine(error):
        return classify(error, acting=acting)
    raise error


def _details(table: DeltaTable) -> dict[str, object]:
    """Return a table's metadata and protocol as deltalake reports them."""
    protocol, metadata = table.protocol(), table.metadata()
    return {
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "readerFeatures": protocol.reader_features or [],
        "writerFeatures": protocol.writer_features or [],
        "id": str(metadata.id),
        "name": metadata.name,
        "description": metadata.description,
        "createdTime": metadata.created_time,
        "partitionColumns": metadata.partition_columns,
        "properties": list(metadata.configuration.items()),
        "schemaString": table.schema().to_json(),
    }


def _moment(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def _sql(expression: Expression, schema: Struct) -> str:
    return render_sql(expression, schema, DIALECT)


def _schema_of(table: DeltaTable) -> Struct:
    return parse_schema(table.schema().to_json())


def _in_pieces(data: pa.Table, pieces: int) -> pa.Table:
    """Return the same rows in several batches: deltalake checks the size of a file only between batches."""
    step = max(1, -(-len(data) // pieces))
    batches = [batch for start in range(0, len(data), step) for batch in data.slice(start, step).to_batches()]
    return pa.Table.from_batches(batches, data.schema)


def _commit_properties(operation: Operation, tag: str) -> CommitProperties:
    transaction = operation.transaction if isinstance(operation, ops.Append | ops.Overwrite) else None
    return CommitProperties(
        custom_metadata={"tag": tag} if tag else None,
        app_transactions=[Transaction(*transaction)] if transaction else None,
    )
