"""A history as calls of deltalake, as a user of the package writes them."""

from __future__ import annotations

from conformance.findings.scripts.common import NotPrintable, table_literal
from conformance.findings.scripts.delta_rs_definition import definition
from delta_adapters.dialects import render_sql
from delta_adapters.dialects.delta_rs import DeltaRsDialect
from delta_models import operations as ops
from delta_models.expressions import Expression
from delta_models.schema import Struct, struct
from delta_models.wire_names import name_of

NAME = "delta-rs"
PACKAGES = "deltalake{version} pyarrow"
PREAMBLE = """
import json
import os
import sys
import tempfile
from collections import Counter
from decimal import Decimal

import deltalake
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, Schema, write_deltalake

print("deltalake", deltalake.__version__)
""".strip()
DIALECT = DeltaRsDialect()


def statements(operation: ops.Operation, schema: Struct) -> list[str]:
    """The lines of a function that performs an operation on a table of this schema."""
    defined = definition(operation, lambda expression: _sql(expression, schema))
    if defined is not None:
        return defined
    match operation:
        case ops.Append() | ops.Overwrite():
            return _write(operation, schema)
        case ops.Delete(where=where):
            return [f"DeltaTable(path).delete({'' if where is None else repr(_sql(where, schema))})"]
        case ops.Update(assignments=assignments, where=where):
            updates = {DIALECT.quote(name): _sql(value, schema) for name, value in assignments}
            picked = "" if where is None else f", predicate={_sql(where, schema)!r}"
            return [f"DeltaTable(path).update({updates!r}{picked})"]
        case ops.Merge():
            return _merge(operation, schema)
        case ops.Restore(at=ops.AtState(step=step)):
            return [f"DeltaTable(path).restore(versions[{step}])"]
        case ops.SetZone():
            return ["pass  # its sessions have no zone"]
        case ops.Checkpoint():
            return ["DeltaTable(path).create_checkpoint()"]
        case ops.Optimize(where=None):
            return ["DeltaTable(path).optimize.compact()"]
        case ops.Vacuum(retention_hours=hours, dry_run=dry_run, lite=lite):
            retention = "None" if hours is None else str(int(hours))
            options = f"dry_run={dry_run}, enforce_retention_duration={hours is None}, full={not lite}"
            return [f"DeltaTable(path).vacuum({retention}, {options})"]
    message = f"no call of deltalake is known for {name_of(operation)}"
    raise NotPrintable(message)


def read_statements(read: ops.Read, schema: Struct) -> list[str]:
    """The lines that leave the answer to a read in `answer`."""
    at = f", version=versions[{read.at.step}]" if isinstance(read.at, ops.AtState) else ""
    lines = [f"table = DeltaTable(path{at})"]
    columns = "" if read.columns is None else f"columns={list(read.columns)!r}"
    if read.where is None:
        return [*lines, f"answer = table.to_pyarrow_table({columns})"]
    chosen = "*" if read.columns is None else ", ".join(map(DIALECT.quote, read.columns))
    query = f"SELECT {chosen} FROM t WHERE {_sql(read.where, schema)}"  # noqa: S608 - text of a script, rendered and quoted
    return [*lines, f'answer = pa.table(QueryBuilder().register("t", table).execute({query!r}))']


def _write(operation: ops.Append | ops.Overwrite, schema: Struct) -> list[str]:
    if not operation.by_name or operation.transaction is not None:
        message = "writes by position and transactions"
        raise NotPrintable(message)
    arguments = [f'mode="{"append" if isinstance(operation, ops.Append) else "overwrite"}"']
    if isinstance(operation, ops.Overwrite):
        if operation.dynamic:
            message = "dynamic partition overwrite"
            raise NotPrintable(message)
        if operation.where is not None:
            arguments.append(f"predicate={_sql(operation.where, schema)!r}")
    if operation.schema_mode != "none":
        arguments.append(f'schema_mode="{operation.schema_mode}"')
    lines = [f"data = {table_literal(operation.rows)}"]
    if operation.files > 1:
        size = max(1, -(-len(operation.rows) // operation.files))
        lines.append(f"data = pa.Table.from_batches(data.to_batches(max_chunksize={size}), data.schema)")
        arguments.append("target_file_size=1")
    return [*lines, f"write_deltalake(path, data, {', '.join(arguments)})"]


def _merge(operation: ops.Merge, schema: Struct) -> list[str]:
    both = struct(("source", operation.source.schema), ("target", schema))
    on = render_sql(operation.on, both, DIALECT)
    lines = [
        f"source = {table_literal(operation.source)}",
        "merger = DeltaTable(path).merge(",
        f'    source, {on!r}, source_alias="source", target_alias="target"',
        ")",
    ]
    lines += [f"merger = merger.{_clause(clause, both)}" for clause in operation.clauses]
    return [*lines, "merger.execute()"]


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
