"""A history as calls of delta-spark, as a PySpark user writes them."""

from __future__ import annotations

from conformance.findings.scripts.common import NotPrintable, table_literal
from delta_adapters.dialects import render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_models import operations as ops
from delta_models.expressions import Expression
from delta_models.schema import Struct, schema_string, struct
from delta_models.values import Rows
from delta_models.wire_names import name_of

NAME = "delta-spark"
DIALECT = SparkSqlDialect()
PACKAGES = "delta-spark{version} pyarrow pandas"
PREAMBLE = """
import json
import os
import sys
import tempfile
from collections import Counter
from decimal import Decimal

import delta
import pyarrow as pa
import pyspark
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.default.parallelism", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")
)
jars = os.environ.get("DELTA_JARS")  # files, comma-separated; without it Spark resolves them from Maven
if jars:
    spark = builder.config("spark.jars", jars).getOrCreate()
else:
    spark = delta.configure_spark_with_delta_pip(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
print("pyspark", pyspark.__version__)


def frame(table, schema):
    return spark.createDataFrame(table, StructType.fromJson(json.loads(schema)))
""".strip()


def statements(operation: ops.Operation, schema: Struct) -> list[str]:
    """The lines of a function that performs an operation on a table."""
    match operation:
        case ops.Create(name=None, managed=False):
            return _create(operation)
        case ops.Append() | ops.Overwrite():
            return _write(operation, schema)
        case ops.Delete(where=where):
            return [f"DeltaTable.forPath(spark, path).delete({_optional(where, schema)})"]
        case ops.Update(assignments=assignments, where=where):
            updates = {DIALECT.quote(name): _sql(value, schema) for name, value in assignments}
            return [
                f"DeltaTable.forPath(spark, path).update({_optional(where, schema) or 'None'}, {updates!r})"
            ]
        case ops.Merge():
            return _merge(operation, schema)
        case ops.Restore(at=ops.AtState(step=step)):
            return [f"DeltaTable.forPath(spark, path).restoreToVersion(versions[{step}])"]
        case ops.Optimize(where=where):
            picked = "" if where is None else f".where({_sql(where, schema)!r})"
            return [f"DeltaTable.forPath(spark, path).optimize(){picked}.executeCompaction()"]
        case ops.Vacuum(retention_hours=hours, dry_run=False, lite=False):
            return [f"DeltaTable.forPath(spark, path).vacuum({'' if hours is None else hours})"]
        case ops.SetZone(zone=zone):
            return [f'spark.conf.set("spark.sql.session.timeZone", {zone!r})']
        case ops.SetProperties(properties=pairs):
            told = ", ".join(f"'{key}' = '{value}'" for key, value in pairs)
            return [f'spark.sql(f"ALTER TABLE delta.`{{path}}` SET TBLPROPERTIES ({told})")']
    message = f"no call of delta-spark is known for {name_of(operation)}"
    raise NotPrintable(message)


def read_statements(read: ops.Read, schema: Struct) -> list[str]:
    """The lines that leave the answer to a read in `answer`."""
    at = f'.option("versionAsOf", versions[{read.at.step}])' if isinstance(read.at, ops.AtState) else ""
    chain = f'spark.read.format("delta"){at}.load(path)'
    if read.where is not None:
        chain += f".where({_sql(read.where, schema)!r})"
    if read.columns is not None:
        chain += f".select({[DIALECT.quote(column) for column in read.columns]!r})"
    return [f"answer = {chain}.toArrow()"]


def _create(operation: ops.Create) -> list[str]:
    start = "createIfNotExists" if operation.if_not_exists else "create"
    lines = [
        f"builder = DeltaTable.{start}(spark).location(path)",
        f"builder = builder.addColumns(StructType.fromJson(json.loads({schema_string(operation.schema)!r})))",
    ]
    for method, names in (("partitionedBy", operation.partition_by), ("clusterBy", operation.cluster_by)):
        if names:
            lines.append(f"builder = builder.{method}({', '.join(map(repr, names))})")
    lines += [f"builder = builder.property({key!r}, {value!r})" for key, value in operation.properties]
    return [*lines, "builder.execute()"]


def _write(operation: ops.Append | ops.Overwrite, schema: Struct) -> list[str]:
    if not operation.by_name:
        message = "writes by position"
        raise NotPrintable(message)
    options: dict[str, str] = {}
    if isinstance(operation, ops.Overwrite):
        if operation.where is not None:
            options["replaceWhere"] = _sql(operation.where, schema)
        if operation.dynamic:
            options["partitionOverwriteMode"] = "dynamic"
    if operation.schema_mode != "none":
        options[{"merge": "mergeSchema", "overwrite": "overwriteSchema"}[operation.schema_mode]] = "true"
    if operation.transaction is not None:
        options |= {"txnAppId": operation.transaction[0], "txnVersion": str(operation.transaction[1])}
    files = "coalesce(1)" if operation.files == 1 else f"repartition({operation.files})"
    mode = "append" if isinstance(operation, ops.Append) else "overwrite"
    told = f".options(**{options!r})" if options else ""
    return [
        *_frame("data", operation.rows),
        f'data.{files}.write.format("delta").mode("{mode}"){told}.save(path)',
    ]


def _merge(operation: ops.Merge, schema: Struct) -> list[str]:
    both = struct(("source", operation.source.schema), ("target", schema))
    lines = [
        *_frame("source", operation.source),
        'merger = DeltaTable.forPath(spark, path).alias("target")',
        f'merger = merger.merge(source.alias("source"), {_sql(operation.on, both)!r})',
    ]
    lines += [f"merger = merger.{_clause(clause, both)}" for clause in operation.clauses]
    return [*lines, "merger.execute()"]


def _clause(clause: ops.MergeClause, schema: Struct) -> str:
    words = "".join(part.capitalize() for part in clause.when.split("-"))
    name = f"when{words}{clause.action.capitalize()}{'All' if clause.everything else ''}"
    arguments = []
    if clause.condition is not None:
        arguments.append(f"condition={_sql(clause.condition, schema)!r}")
    if not clause.everything and clause.action != "delete":
        values = {DIALECT.quote(name): _sql(value, schema) for name, value in clause.assignments}
        arguments.append(f"{'values' if clause.action == 'insert' else 'set'}={values!r}")
    return f"{name}({', '.join(arguments)})"


def _frame(name: str, rows: Rows) -> list[str]:
    return [f"{name} = frame({table_literal(rows)}, {schema_string(rows.schema)!r})"]


def _optional(where: Expression | None, schema: Struct) -> str:
    return "" if where is None else repr(_sql(where, schema))


def _sql(expression: Expression, schema: Struct) -> str:
    return render_sql(expression, schema, DIALECT)
