"""Operations and reads as calls of delta-spark, as a PySpark user writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from conformance.findings.scripts.calls import Calls, joined
from conformance.findings.scripts.literals import LONGEST_LINE, NotPrintable, bracketed, quoted, value_literal
from delta_adapters.delta_spark.statements import statement
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_adapters.spark.sql_rendering import assignments, sql
from delta_models import operations as ops
from delta_models.expressions import Expression
from delta_models.schema import LENGTH, DataType, DecimalType, Field, Primitive, Struct, limit_of
from delta_models.values import Rows, Value
from delta_models.wire_names import name_of

SQL = SparkSqlDialect()
GENERATION = "delta.generationExpression"
START, STEP, EXPLICIT = "delta.identity.start", "delta.identity.step", "delta.identity.allowExplicitInsert"
PLAIN = {"byte", "short", "integer", "long", "float", "double", "string", "boolean"}
MADE_NUMBERS = {"date": "unix_date", "timestamp": "unix_micros"}
ROWS = '''
def rows(frame):
    """The rows as texts, in which NaN equals NaN and 0.0 is not -0.0."""
    return sorted(repr(tuple(row)) for row in frame.collect())
'''
DELTA_SETTINGS = (
    '    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",',
    '    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",',
)
SETTINGS = (
    '    "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false",',
    '    "spark.ui.showConsoleProgress": "false", "spark.databricks.delta.retentionDurationCheck.enabled": "false",',
)


class SparkCalls(Calls):
    """delta-spark's public API."""

    engine = "delta-spark"
    package = "delta-spark"
    alias: ClassVar[str] = "SparkTable"  # of its class, beside another engine's
    imports: ClassVar[Sequence[tuple[str, tuple[str, ...]]]] = (
        ("delta", ("DeltaTable", "DeltaTable as SparkTable", "configure_spark_with_delta_pip")),
        ("delta.tables", ("IdentityGenerator",)),
        ("pyspark.sql", ("SparkSession", "functions")),
        ("pyspark.sql.types", ("StructType",)),
    )
    refusals = "Exception"

    @property
    def _table(self) -> str:
        return self.alias if self.shares else "DeltaTable"

    def requirements(self, version: str | None) -> tuple[str, ...]:
        """The packages to install."""
        return (f"delta-spark=={version}" if version else "delta-spark",)

    def setup(self) -> list[str]:
        """The lines that start the session."""
        return [
            'builder = SparkSession.builder.master("local[1]").config(map={',
            *DELTA_SETTINGS,
            *SETTINGS,
            "})",
            'jars = os.environ.get("DELTA_JARS")  # files; without it Spark resolves them from Maven',
            'builder = builder.config("spark.jars", jars) if jars else configure_spark_with_delta_pip(builder)',
            "spark = builder.getOrCreate()",
            'spark.sparkContext.setLogLevel("OFF")',
        ]

    def version(self) -> str:
        """An expression of the newest version."""
        return f"{self.handle()}.history(1).first().version"

    def handle(self) -> str:
        """An expression of a handle of the table as it is now."""
        return f"{self._table}.forPath(spark, path)"

    def statements(self, operation: ops.Operation, schema: Struct, handle: str = "") -> list[str]:  # noqa: ARG002
        """The lines that perform an operation on a table of this schema. Raises NotPrintable."""
        handle = handle or self.handle()
        match operation:
            case ops.Create(name=None, managed=False):
                return self._define("createIfNotExists" if operation.if_not_exists else "create", operation)
            case ops.Replace(or_create=or_create):
                return self._define("createOrReplace" if or_create else "replace", operation)
            case ops.CreateAs(source_dropped=False):
                return self._create_as(operation)
            case ops.Append() | ops.Overwrite():
                return self._write(operation)
            case ops.Delete(where=where):
                return [f"{handle}.delete({_optional(where)})"]
            case ops.Update(assignments=pairs, where=where):
                return [f"{handle}.update({_optional(where) or 'None'}, {assignments(pairs)!r})"]
            case ops.Merge():
                return self._merge(operation, handle)
            case ops.Restore(at=at):
                return [self._restore(at, handle)]
            case ops.Optimize(where=where) | ops.ZOrder(where=where):
                picked = "" if where is None else f".where({sql(where)!r})"
                columns = getattr(operation, "columns", ())
                call = (
                    f"executeZOrderBy({', '.join(map(repr, columns))})" if columns else "executeCompaction()"
                )
                return [f"{handle}.optimize(){picked}.{call}"]
            case ops.Vacuum(dry_run=False, lite=False, retention_hours=hours):
                return [f"{handle}.vacuum({'' if hours is None else hours})"]
            case ops.SetZone(zone=zone):
                return [f'spark.conf.set("spark.sql.session.timeZone", {zone!r})']
            case ops.EnableFeature(feature=feature):
                return [f"{handle}.addFeatureSupport({feature!r})"]
        return self._other(operation, handle)

    def answer(self, read: ops.Read, schema: Struct) -> list[str]:
        """The lines that leave the data frame which a read returns in `answer`."""
        chain = self._chosen(read)
        names = read.columns or tuple(field.name for field in schema)
        picked = [_comparable(schema[name]) for name in names]
        return [f"answer = {chain}.selectExpr({', '.join(map(repr, picked))})"]

    def names(self, read: ops.Read, schema: Struct) -> list[str]:  # noqa: ARG002 - the frame knows its columns
        """The lines that leave the names of the columns of an answer in `found`."""
        picked = "" if read.columns is None else f".select({[SQL.quote(name) for name in read.columns]!r})"
        return [f"found = {self._chosen(read)}{picked}.columns"]

    def rows_of(self, schema: Struct) -> str:  # noqa: ARG002 - Spark makes numbers of dates itself
        """The function `rows`, which makes rows comparable."""
        return ROWS

    def expected(self, rows: Rows) -> list[str]:
        """The lines that leave the rows which a read must return in `expected`."""
        lines = frame_literal(rows)
        picked = [_comparable(field) for field in rows.schema]
        return joined("expected = ", lines, f".selectExpr({', '.join(map(repr, picked))})")

    def comparison(self) -> tuple[str, str]:
        """What of the answer and of the expected rows is compared."""
        return "rows(answer)", "rows(expected)"

    def changes(self, query: ops.ReadChanges) -> list[str]:
        """The lines that leave a change feed as a list of dictionaries in `answer`."""
        if not isinstance(query.first, ops.AtState):
            message = "a change feed between times"
            raise NotPrintable(message)
        chain = f'.option("startingVersion", {self.version_after(query.first.step)})'
        if isinstance(query.last, ops.AtState):
            chain += f'.option("endingVersion", {self.version_after(query.last.step)})'
        feed = f'spark.read.format("delta").option("readChangeFeed", "true"){chain}.load(path)'
        return [f"answer = [row.asDict() for row in {feed}.collect()]"]

    def history(self) -> list[str]:
        """The lines that leave the history as a list of dictionaries in `answer`."""
        return [
            f"answer = [row.asDict() for row in {self.handle()}.history().collect()]",
            "for entry in answer:",
            '    entry["timestamp"] = int(entry["timestamp"].timestamp() * 1000)',
        ]

    def schema_definition(self, schema: Struct) -> list[str]:
        """Spark's scripts name no schemas."""
        return [repr(ddl(schema))]

    def _chosen(self, read: ops.Read) -> str:
        """The expression of the frame with the rows that a read picks."""
        return self._frame(read.at) + ("" if read.where is None else f".where({sql(read.where)!r})")

    def _frame(self, at: ops.When) -> str:
        options = ""
        if isinstance(at, ops.AtState):
            options = f'.option("versionAsOf", {self.version_after(at.step)})'
        elif isinstance(at, ops.AtTime):
            options = f'.option("timestampAsOf", str({self.time_after(at.step)}))'
        return f'spark.read.format("delta"){options}.load(path)'

    def _restore(self, at: ops.When, handle: str) -> str:
        match at:
            case ops.AtState(step=step):
                return f"{handle}.restoreToVersion({self.version_after(step)})"
            case ops.AtTime(step=step):
                return f"{handle}.restoreToTimestamp(str({self.time_after(step)}))"
        message = f"a restore {name_of(at)}"
        raise NotPrintable(message)

    def _define(self, start: str, table: ops.Create | ops.Replace) -> list[str]:
        parts = [f"{self._table}.{start}(spark).location(path)", *self._columns(table.schema)]
        if table.partition_by:
            parts.append(f".partitionedBy({', '.join(map(quoted, table.partition_by))})")
        if table.cluster_by:
            parts.append(f".clusterBy({', '.join(map(quoted, table.cluster_by))})")
        parts += [f".property({quoted(key)}, {quoted(value)})" for key, value in table.properties]
        return _chain([*parts, ".execute()"])

    def _columns(self, schema: Struct) -> list[str]:
        if all(field.metadata_json == "{}" for field in schema):
            return [f".addColumns(StructType.fromDDL({quoted(ddl(schema))}))"]
        return [_column(field) for field in schema]

    def _create_as(self, create: ops.CreateAs) -> list[str]:
        properties = "".join(
            f".tableProperty({quoted(key)}, {quoted(value)})" for key, value in create.properties
        )
        columns = ", ".join(f"functions.col({SQL.quote(name)!r})" for name in create.partition_by)
        parted = f".partitionedBy({columns})" if columns else ""
        done = ".createOrReplace()" if create.replace else ".create()"
        written = f'.coalesce(1).writeTo(f"delta.`{{path}}`").using("delta"){properties}{parted}{done}'
        return joined("", frame_literal(create.rows), written)

    def _write(self, write: ops.Append | ops.Overwrite) -> list[str]:
        if not write.by_name:
            into = "INTO" if isinstance(write, ops.Append) else "OVERWRITE"
            return [
                *joined("", frame_literal(write.rows), '.coalesce(1).createOrReplaceTempView("incoming")'),
                f'spark.sql(f"INSERT {into} delta.`{{path}}` SELECT * FROM incoming")',  # noqa: S608 - text of a script
            ]
        options = self._options(write)
        told = f".options(**{options!r})" if options else ""
        files = "coalesce(1)" if write.files == 1 else f"repartition({write.files})"
        mode = "append" if isinstance(write, ops.Append) else "overwrite"
        return joined(
            "", frame_literal(write.rows), f'.{files}.write.format("delta").mode("{mode}"){told}.save(path)'
        )

    @staticmethod
    def _options(write: ops.Append | ops.Overwrite) -> dict[str, str]:
        options: dict[str, str] = {}
        if isinstance(write, ops.Overwrite):
            if write.where is not None:
                options["replaceWhere"] = sql(write.where)
            if write.dynamic:
                options["partitionOverwriteMode"] = "dynamic"
        if write.schema_mode != "none":
            options[{"merge": "mergeSchema", "overwrite": "overwriteSchema"}[write.schema_mode]] = "true"
        if write.transaction is not None:
            options |= {"txnAppId": write.transaction[0], "txnVersion": str(write.transaction[1])}
        return options

    def _merge(self, merge: ops.Merge, handle: str) -> list[str]:
        grows = ".withSchemaEvolution()" if merge.schema_evolution else ""
        calls = [_clause(clause) for clause in merge.clauses]
        return [
            *joined("source = ", frame_literal(merge.source)),
            *_chain(
                [
                    f'{handle}.alias("target").merge(source.alias("source"), {sql(merge.on)!r}){grows}',
                    *calls,
                    ".execute()",
                ]
            ),
        ]

    def _other(self, operation: ops.Operation, handle: str) -> list[str]:
        if isinstance(operation, ops.DropFeature):
            return [
                f"{handle}.dropFeatureSupport({operation.feature!r}, {operation.truncate_history or None})"
            ]
        text = statement(operation, "delta.`{path}`")
        if text is None:
            message = f"delta-spark has no call for {name_of(operation)} with these options"
            raise NotPrintable(message)
        return [f"spark.sql({_formatted(text)})"]


def frame_literal(rows: Rows) -> list[str]:
    """The expression of a data frame: plain values as Python has them, all others as SQL literals."""
    if all(_is_plain(field.type, row[at]) for at, field in enumerate(rows.schema) for row in rows.rows):
        values = [_tuple([value_literal(field.type, value) for field, value in zip(rows.schema, row, strict=True)])
                  for row in rows.rows]  # fmt: skip
        schema = Struct(tuple(Field(field.name, field.type) for field in rows.schema))
        return bracketed("spark.createDataFrame([", values, f"], {ddl(schema)!r})")
    listed = [
        "("
        + ", ".join(SQL.literal(field.type, value) for field, value in zip(rows.schema, row, strict=True))
        + ")"
        for row in rows.rows
    ]
    names = ", ".join(SQL.quote(field.name) for field in rows.schema)
    query = f"SELECT * FROM VALUES {', '.join(listed)} AS rows({names})"  # noqa: S608 - text of a script
    return [f"spark.sql({_literal(query)})"]


def _tuple(values: list[str]) -> str:
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def _is_plain(data_type: DataType, value: Value) -> bool:
    if isinstance(data_type, DecimalType):
        return True
    if not isinstance(data_type, Primitive) or data_type.name not in PLAIN:
        return value is None and isinstance(data_type, Primitive) and data_type.name in {"date", "timestamp"}
    return not isinstance(value, str) or not any("\ud800" <= character <= "\udfff" for character in value)


def ddl(schema: Struct) -> str:
    """A schema as Spark's DDL."""
    return ", ".join(
        f"{_name(field.name)} {SQL.type_name(field.type)}{'' if field.nullable else ' NOT NULL'}"
        for field in schema
    )


def _name(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else SQL.quote(name)


def _column(field: Field) -> str:
    """One column of the table builder, with what generates its values."""
    metadata = field.metadata
    arguments = [quoted(field.name), quoted(str(metadata.get(LENGTH) or SQL.type_name(field.type)))]
    if not field.nullable:
        arguments.append("nullable=False")
    if STEP in metadata:
        how = "generatedByDefaultAs" if metadata.get(EXPLICIT) else "generatedAlwaysAs"
        arguments.append(f"{how}=IdentityGenerator({metadata[START]}, {metadata[STEP]})")
    elif GENERATION in metadata:
        arguments.append(f"generatedAlwaysAs={metadata[GENERATION]!r}")
    return f".addColumn({', '.join(arguments)})"


def _comparable(field: Field) -> str:
    """A column as a number where Python's dates end too early, and without the blanks that fill up a char(n)."""
    name = SQL.quote(field.name)
    if limit_of(field) is not None:
        return f"rtrim({name})"
    if isinstance(field.type, Primitive) and field.type.name in MADE_NUMBERS:
        return f"{MADE_NUMBERS[field.type.name]}({name})"
    return name


def _clause(clause: ops.MergeClause) -> str:
    words = "".join(part.capitalize() for part in clause.when.split("-"))
    name = f"when{words}{clause.action.capitalize()}{'All' if clause.everything else ''}"
    arguments = []
    if clause.condition is not None:
        arguments.append(f"condition={sql(clause.condition)!r}")
    if not clause.everything and clause.action != "delete":
        arguments.append(
            f"{'values' if clause.action == 'insert' else 'set'}={assignments(clause.assignments)!r}"
        )
    return f".{name}({', '.join(arguments)})"


def _chain(parts: list[str]) -> list[str]:
    """Calls in one line if it is short enough, else in as few lines as hold them."""
    lines = [""]
    for part in parts:
        if len(lines[-1]) + len(part) > LONGEST_LINE and lines[-1]:
            lines.append("")
        lines[-1] += part
    return lines if len(lines) == 1 else ["(", *(f"    {line}" for line in lines), ")"]


def _optional(where: Expression | None) -> str:
    return "" if where is None else repr(sql(where))


def _literal(text: str) -> str:
    return f'r"{text}"' if "\\" in text and '"' not in text else repr(text) if '"' in text else f'"{text}"'


def _formatted(text: str) -> str:
    """An f-string of a statement in which only the path is a variable."""
    body = text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}").replace("{{path}}", "{path}")
    return f"f{body!r}" if "\\" not in body else 'f"' + body.replace('"', '\\"') + '"'
