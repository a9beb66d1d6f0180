"""Table names: those of the session's catalogue, and ``delta.`/path` ``.

`register` makes the same catalogue entry as delta-spark, so both find the table by its name. Without a JAR, Spark's own
`spark.table(name)` can't read such a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from pyspark_delta.commands.assignments import parse_name
from pyspark_delta.exceptions import DeltaAnalysisError, NotADeltaTable
from pyspark_delta.log.store import table_path

__all__ = ["default_place", "is_known", "place_of", "register"]


def place_of(spark: SparkSession, name: str) -> str:
    """Return the path of the table with this name; NotADeltaTable if there is none."""
    path = path_in(name)
    if path is not None:
        return path
    entry = _entry(spark, name)
    if entry is None:
        raise NotADeltaTable(
            f"there is no table {name}",
            "Check the name and the current database, or use forPath with its place.",
        )
    provider = entry.provider()
    if provider.isEmpty() or provider.get().lower() != "delta":
        raise NotADeltaTable(f"the table {name} is not a Delta table")
    return table_path(str(entry.location().toString()))


def path_in(name: str) -> str | None:
    """The path of ``delta.`/path` ``; None for other names."""
    parts = parse_name(name)
    return parts[1] if len(parts) == 2 and parts[0].lower() == "delta" else None


def is_known(spark: SparkSession, name: str) -> bool:
    """Whether the catalogue has a table of this name."""
    return _entry(spark, name) is not None


def default_place(spark: SparkSession, name: str) -> str:
    """The folder where the catalogue would put a new table of this name."""
    catalog = _catalog(spark)
    return table_path(str(catalog.defaultTablePath(_identifier(spark, name)).toString()))


def register(spark: SparkSession, name: str, path: str, *, managed: bool) -> None:
    """Enter a table into the catalogue as delta-spark does: its location and provider. The log has everything else."""
    tables = spark._jvm.org.apache.spark.sql.catalyst.catalog
    empty = tables.CatalogStorageFormat.empty()
    place = spark._jvm.scala.Some(spark._jvm.java.net.URI(Path(path).as_uri()))
    kind = tables.CatalogTableType.MANAGED() if managed else tables.CatalogTableType.EXTERNAL()
    provider = spark._jvm.scala.Some("delta")
    columns = spark._jsparkSession.parseDataType('{"type": "struct", "fields": []}')
    arguments = [_identifier(spark, name), kind, _copy_object(empty, {1: place}), columns, provider]
    companion = getattr(tables, "CatalogTable$").__getattr__("MODULE$")
    _catalog(spark).createTable(_make_object(companion, arguments), False, False)


def _make_object(companion: Any, first_arguments: list[Any]) -> Any:
    """Make a Scala object; arguments beyond the first ones get their defaults."""
    arguments = list(first_arguments)
    while True:
        default = getattr(companion, f"apply$default${len(arguments) + 1}")
        try:
            arguments.append(default())
        except Exception:  # noqa: BLE001 - py4j tells only by a call that there is no such method
            return companion.apply(*arguments)


def _copy_object(value: Any, changed: dict[int, Any]) -> Any:
    """Copy a Scala case object with some of its fields changed; fields are counted from one."""
    count = int(value.productArity())
    return value.copy(
        *(changed.get(place) or value.productElement(place - 1) for place in range(1, count + 1))
    )


def _entry(spark: SparkSession, name: str) -> Any:
    catalog = _catalog(spark)
    identifier = _identifier(spark, name)
    try:
        return catalog.getTableMetadata(identifier) if catalog.tableExists(identifier) else None
    except Py4JJavaError as problem:
        raise DeltaAnalysisError(
            f"the catalogue does not tell of {name}: {problem.java_exception}"
        ) from problem


def _identifier(spark: SparkSession, name: str) -> Any:
    return spark._jsparkSession.sessionState().sqlParser().parseTableIdentifier(name)


def _catalog(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().catalog()
