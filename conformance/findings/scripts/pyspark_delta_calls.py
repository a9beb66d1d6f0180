"""Operations and reads as calls of the in-house engine, `pyspark_delta`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from conformance.findings.scripts.calls import joined
from conformance.findings.scripts.literals import NotPrintable
from conformance.findings.scripts.spark_calls import SETTINGS, SparkCalls, ddl, frame_literal
from delta_adapters.spark.sql_rendering import sql
from delta_models import operations as ops
from delta_models.schema import Struct
from delta_models.wire_names import name_of


class PysparkDeltaCalls(SparkCalls):
    """The in-house engine's public API."""

    engine = "pyspark"
    package = "pyspark_delta"
    alias = "OwnTable"
    imports: ClassVar[Sequence[tuple[str, tuple[str, ...]]]] = (
        ("pyspark.sql", ("SparkSession",)),
        ("pyspark.sql.types", ("StructType",)),
        ("pyspark_delta", ("DeltaTable", "DeltaTable as OwnTable", "read", "write")),
    )

    def requirements(self, version: str | None) -> tuple[str, ...]:  # noqa: ARG002 - its wheel has one version
        """The packages to install."""
        return ("delta-conformance", "pyspark")

    def setup(self) -> list[str]:
        """The lines that start the session."""
        return [
            'spark = SparkSession.builder.master("local[1]").config(map={',
            SETTINGS[0],
            '    "spark.ui.showConsoleProgress": "false",',
            "}).getOrCreate()",
            'spark.sparkContext.setLogLevel("OFF")',
        ]

    def _frame(self, at: ops.When) -> str:
        if isinstance(at, ops.AtState):
            return f"read(spark, path, version={self.version_after(at.step)})"
        if isinstance(at, ops.AtTime):
            return f"read(spark, path, timestamp=str({self.time_after(at.step)}))"
        return "read(spark, path)"

    def changes(self, query: ops.ReadChanges) -> list[str]:  # noqa: ARG002 - as above
        """The engine has no change feed."""
        message = "pyspark_delta has no change feed"
        raise NotPrintable(message)

    def _columns(self, schema: Struct) -> list[str]:
        if any(field.metadata_json != "{}" for field in schema):
            message = "columns with metadata"
            raise NotPrintable(message)
        return super()._columns(schema)

    def _create_as(self, create: ops.CreateAs) -> list[str]:
        if create.replace:
            message = "pyspark_delta has no CREATE OR REPLACE TABLE AS"
            raise NotPrintable(message)
        told = f", partition_by={list(create.partition_by)!r}" if create.partition_by else ""
        told += f", properties={dict(create.properties)!r}" if create.properties else ""
        return joined("write(", frame_literal(create.rows), f', path, mode="error"{told})')

    def _write(self, write: ops.Append | ops.Overwrite) -> list[str]:
        if not write.by_name:
            message = "pyspark_delta writes by name only"
            raise NotPrintable(message)
        names = {
            "replaceWhere": "replace_where", "partitionOverwriteMode": "partition_overwrite_mode",
            "mergeSchema": "merge_schema", "overwriteSchema": "overwrite_schema", "txnAppId": "txn_app_id",
            "txnVersion": "txn_version",
        }  # fmt: skip
        typed = {"true": "True"}
        told = "".join(
            f", {names[key]}={value if key == 'txnVersion' else typed.get(value) or repr(value)}"
            for key, value in self._options(write).items()
        )
        files = ".coalesce(1)" if write.files == 1 else f".repartition({write.files})"
        mode = "append" if isinstance(write, ops.Append) else "overwrite"
        return joined("write(", frame_literal(write.rows), f'{files}, path, mode="{mode}"{told})')

    def _other(self, operation: ops.Operation, handle: str) -> list[str]:
        match operation:
            case ops.Purge():
                return [f"{handle}.purge()"]
            case ops.Checkpoint():
                return [f"{handle}.checkpoint()"]
            case ops.AddColumn(field=field, parent=parent, first=False, after=None):
                return [f"{handle}.addColumns(StructType.fromDDL({ddl(Struct((field,)))!r}), {parent!r})"]
            case ops.SetNullable(path=path, nullable=nullable):
                return [f"{handle}.setNullable({path!r}, {nullable})"]
            case ops.SetProperties(properties=pairs):
                return [f"{handle}.setProperties({dict(pairs)!r})"]
            case ops.UnsetProperties(keys=keys):
                return [f"{handle}.unsetProperties({', '.join(map(repr, keys))})"]
            case ops.AddConstraint(name=name, check=check):
                return [f"{handle}.addConstraint({name!r}, {sql(check)!r})"]
            case ops.DropConstraint(name=name, if_exists=if_exists):
                return [f"{handle}.dropConstraint({name!r}, ifExists={if_exists})"]
        message = f"pyspark_delta has no call for {name_of(operation)} with these options"
        raise NotPrintable(message)
