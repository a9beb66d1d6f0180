"""Operations and reads as calls of deltalake, as a user of the package writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from conformance.findings.scripts import deltalake_definition as definition
from conformance.findings.scripts.calls import Calls, joined
from conformance.findings.scripts.literals import NotPrintable, arrow_schema, arrow_table, holds_moments
from delta_adapters.arrow_rows import as_held
from delta_adapters.dialects import render_sql
from delta_adapters.dialects.delta_rs import DeltaRsDialect
from delta_models import operations as ops
from delta_models.expressions import Expression
from delta_models.schema import Struct, schema_string, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of

DIALECT = DeltaRsDialect()
ROWS = '''
def rows(answer):
    """The rows as texts, in which NaN equals NaN and 0.0 is not -0.0."""
    return sorted(map(repr, answer.to_pylist()))
'''
ROWS_WITH_MOMENTS = '''
def rows(answer):
    """The rows as texts: NaN equals NaN, dates are days and timestamps microseconds since 1970."""
    for place, column in enumerate(answer.columns):
        if pa.types.is_date(column.type):
            answer = answer.set_column(place, answer.column_names[place], column.cast(pa.int32()))
        elif pa.types.is_timestamp(column.type):
            micros = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
            answer = answer.set_column(place, answer.column_names[place], micros)
    return sorted(map(repr, answer.to_pylist()))
'''


class DeltalakeCalls(Calls):
    """deltalake's public API."""

    engine = "delta-rs"
    package = "deltalake"
    imports: ClassVar[Sequence[tuple[str, tuple[str, ...]]]] = (
        ("deltalake", ("CommitProperties", "DeltaTable", "QueryBuilder", "Schema", "TableFeatures", "Transaction",
                       "convert_to_deltalake", "write_deltalake")),
    )  # fmt: skip
    refusals = "BaseException"  # a panic of deltalake is no Exception
    reads_after_commit = True

    def requirements(self, version: str | None) -> tuple[str, ...]:
        """The packages to install."""
        return (f"deltalake=={version}" if version else "deltalake", "pyarrow")

    def version(self) -> str:
        """An expression of the newest version."""
        return "DeltaTable(path).version()"

    def handle(self) -> str:
        """An expression of a handle of the table as it is now."""
        return "DeltaTable(path)"

    def setup(self) -> list[str]:
        """Nothing is to be started."""
        return []

    def statements(
        self, operation: ops.Operation, schema: Struct, handle: str = "DeltaTable(path)"
    ) -> list[str]:
        """The lines that perform an operation on a table of this schema. Raises NotPrintable."""
        defined = definition.statements(operation, schema, handle)
        if defined is not None:
            return defined
        match operation:
            case ops.Create(name=None, managed=False, cluster_by=()):
                return self._create(operation, "ignore" if operation.if_not_exists else None)
            case ops.Replace(or_create=True, cluster_by=()):
                return self._create(operation, "overwrite")
            case ops.CreateAs(replace=False, source_dropped=False):
                return self._create_as(operation)
            case ops.ConvertFromParquet():
                return self._convert(operation)
            case ops.Append() | ops.Overwrite():
                return self._write(operation, schema, "path" if handle == "DeltaTable(path)" else handle)
            case ops.Delete(where=where):
                return [f"{handle}.delete({'' if where is None else repr(_sql(where, schema))})"]
            case ops.Update(assignments=assignments, where=where):
                updates = {DIALECT.quote(name): _sql(value, schema) for name, value in assignments}
                picked = "" if where is None else f", predicate={_sql(where, schema)!r}"
                return [f"{handle}.update({updates!r}{picked})"]
            case ops.Merge():
                return self._merge(operation, schema, handle)
            case ops.Restore(at=at):
                return [f"{handle}.restore({self.moment(at)})"]
            case ops.SetZone():
                return []  # deltalake's sessions have no zone
        message = f"deltalake has no call for {name_of(operation)} with these options"
        raise NotPrintable(message)

    def moment(self, at: ops.When) -> str:
        """A version or a time as an argument."""
        match at:
            case ops.AtState(step=step):
                return self.version_after(step)
            case ops.AtTime(step=step):
                return self.time_after(step)
        message = f"{name_of(at)} in a script"
        raise NotPrintable(message)

    def answer(self, read: ops.Read, schema: Struct) -> list[str]:
        """The lines that leave the Arrow table which a read returns in `answer`."""
        lines = []
        table = "DeltaTable(path)"
        if isinstance(read.at, ops.AtState):
            table = f"DeltaTable(path, version={self.moment(read.at)})"
        elif isinstance(read.at, ops.AtTime):
            lines = ["table = DeltaTable(path)", f"table.load_as_version({self.moment(read.at)})"]
            table = "table"
        if read.where is None and not self.has_vectors:
            columns = "" if read.columns is None else f"columns={list(read.columns)!r}"
            return [*lines, f"answer = {table}.to_pyarrow_table({columns})"]
        chosen = "*" if read.columns is None else ", ".join(map(DIALECT.quote, read.columns))
        where = "" if read.where is None else f" WHERE {_sql(read.where, schema)}"
        query = f"SELECT {chosen} FROM t{where}"  # noqa: S608 - text of a script, rendered and quoted
        return [*lines, f'answer = pa.table(QueryBuilder().register("t", {table}).execute({query!r}))']

    def names(self, read: ops.Read, schema: Struct) -> list[str]:
        """The lines that leave the names of the columns of an answer in `found`."""
        return [*self.answer(read, schema), "found = answer.column_names"]

    def rows_of(self, schema: Struct) -> str:
        """The function `rows`, which makes the rows of an answer comparable."""
        return ROWS_WITH_MOMENTS if holds_moments(schema) else ROWS

    def expected(self, rows: Rows) -> list[str]:
        """The lines that leave the rows which a read must return in `expected`."""
        return joined("expected = ", arrow_table(rows, self.schema_name(rows.schema)))

    def comparison(self) -> tuple[str, str]:
        """What of the answer and of the expected rows is compared."""
        return "rows(answer.select(expected.column_names))", "rows(expected)"

    def changes(self, query: ops.ReadChanges) -> list[str]:
        """The lines that leave a change feed as a list of dictionaries in `answer`."""
        if not isinstance(query.first, ops.AtState) or not isinstance(
            query.last, ops.AtState | ops.Latest | None
        ):
            message = "a change feed between times"
            raise NotPrintable(message)
        until = f", ending_version={self.moment(query.last)}" if isinstance(query.last, ops.AtState) else ""
        feed = f"DeltaTable(path).load_cdf(starting_version={self.moment(query.first)}{until})"
        return [f"answer = pa.table({feed}.read_all()).to_pylist()"]

    def history(self) -> list[str]:
        """The lines that leave the history as a list of dictionaries in `answer`."""
        return ["answer = DeltaTable(path).history()"]

    def _create(self, operation: ops.Create | ops.Replace, mode: str | None) -> list[str]:
        try:
            plain = all(field.metadata_json == "{}" for field in operation.schema)
            schema = self.schema_name(operation.schema) if plain else None
        except NotPrintable:
            schema = None
        schema = schema or f"Schema.from_json({schema_string(operation.schema)!r})"
        arguments = ["path", schema]
        if operation.partition_by:
            arguments.append(f"partition_by={list(operation.partition_by)!r}")
        if operation.properties:
            arguments.append(f"configuration={dict(operation.properties)!r}")
            if any(not key.startswith("delta.") for key, _ in operation.properties):
                arguments.append("raise_if_key_not_exists=False")
        if mode is not None:
            arguments.append(f'mode="{mode}"')
        return [f"DeltaTable.create({', '.join(arguments)})"]

    def _create_as(self, operation: ops.CreateAs) -> list[str]:
        arguments = ['mode="error"']
        if operation.partition_by:
            arguments.append(f"partition_by={list(operation.partition_by)!r}")
        if operation.properties:
            arguments.append(f"configuration={dict(operation.properties)!r}")
        data = self._rows(operation.rows)
        return joined("write_deltalake(path, ", data, f", {', '.join(arguments)})")

    def _convert(self, operation: ops.ConvertFromParquet) -> list[str]:
        if operation.partition_by or operation.files != 1:
            message = "several Parquet files, or folders of them, to convert"
            raise NotPrintable(message)
        data = self._rows(operation.rows)
        return [
            "os.makedirs(path)",
            *joined("pq.write_table(", data, ', f"{path}/some.parquet")'),
            "convert_to_deltalake(path)",
        ]

    def _write(self, operation: ops.Append | ops.Overwrite, schema: Struct, target: str) -> list[str]:
        if not operation.by_name:
            message = "deltalake writes by name only"
            raise NotPrintable(message)
        arguments = [f'mode="{"append" if isinstance(operation, ops.Append) else "overwrite"}"']
        if isinstance(operation, ops.Overwrite):
            if operation.dynamic:
                message = "deltalake has no dynamic partition overwrite"
                raise NotPrintable(message)
            if operation.where is not None:
                arguments.append(f"predicate={_sql(operation.where, schema)!r}")
        if operation.schema_mode != "none":
            arguments.append(f'schema_mode="{operation.schema_mode}"')
        if operation.transaction is not None:
            told = f"app_transactions=[Transaction{operation.transaction!r}]"
            arguments.append(f"commit_properties=CommitProperties({told})")
        data = self._rows(operation.rows, with_metadata=operation.schema_mode == "overwrite")
        if operation.files == 1:
            return joined(f"write_deltalake({target}, ", data, f", {', '.join(arguments)})")
        size = max(1, -(-len(operation.rows) // operation.files))
        arguments.append("target_file_size=1")
        pieces = (
            f"[piece for at in range(0, len(data), {size}) for piece in data.slice(at, {size}).to_batches()]"
        )
        return [
            *joined("data = ", data),
            f"pieces = {pieces}",
            f"write_deltalake({target}, pa.Table.from_batches(pieces, data.schema), {', '.join(arguments)})",
        ]

    def _merge(self, operation: ops.Merge, schema: Struct, handle: str) -> list[str]:
        both = struct(("source", operation.source.schema), ("target", schema))
        grows = ", merge_schema=True" if operation.schema_evolution else ""
        on = repr(render_sql(operation.on, both, DIALECT))
        lines = joined("source = ", self._rows(operation.source))
        lines.append(
            f'merger = {handle}.merge(source, {on}, source_alias="source", target_alias="target"{grows})'
        )
        calls = "".join(f".{_clause(clause, both)}" for clause in operation.clauses)
        return [*lines, f"merger{calls}.execute()"]

    def _rows(self, rows: Rows, *, with_metadata: bool = False) -> list[str]:
        held = as_held(rows)
        plain = Struct(tuple(replace(field, metadata_json="{}") for field in held.schema))
        return arrow_table(rows, self.schema_name(held.schema if with_metadata else plain))

    def schema_definition(self, schema: Struct) -> list[str]:
        """The lines of a schema."""
        return arrow_schema(schema)


def _clause(clause: ops.MergeClause, both: Struct) -> str:
    name = f"when_{clause.when.replace('-', '_')}_{clause.action}{'_all' if clause.everything else ''}"
    arguments = []
    if not clause.everything and clause.action != "delete":
        values = {DIALECT.quote(name): render_sql(value, both, DIALECT) for name, value in clause.assignments}
        arguments.append(repr(values))
    if clause.condition is not None:
        arguments.append(repr(render_sql(clause.condition, both, DIALECT)))
    return f"{name}({', '.join(arguments)})"


def _sql(expression: Expression, schema: Struct) -> str:
    return render_sql(expression, schema, DIALECT)
