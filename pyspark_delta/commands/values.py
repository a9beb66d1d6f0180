"""Cast new values to the table's columns as SQL assigns them; a value that does not fit fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from pyspark_delta.commands.conditions import quoted
from pyspark_delta.exceptions import SchemaMismatch
from pyspark_delta.schema import find

__all__ = ["fit", "fitted_frame", "fresh_names", "is_plain", "strict"]

ANSI = "spark.sql.ansi.enabled"


def fitted_frame(spark: SparkSession, frame: DataFrame, schema: StructType) -> DataFrame:
    """A frame whose columns are, in order, the table's new values, under the table's names and types."""
    differences: list[str] = []
    frame = frame.toDF(*(str(index) for index in range(len(schema.fields))))
    columns = [
        fit(F.col(f"`{index}`"), source.dataType, wanted.dataType, wanted.name, differences).alias(
            wanted.name
        )
        for index, (source, wanted) in enumerate(zip(frame.schema.fields, schema.fields, strict=True))
    ]
    if differences:
        raise SchemaMismatch(
            "values do not fit the columns that they are assigned to", differences=differences
        )
    with strict(spark):
        return frame.select(columns)


def fit(
    value: Column,
    source_type: DataType,
    wanted: DataType,
    name: str,
    differences: list[str],
    *,
    grows: bool = False,
) -> Column:
    """A value cast to the type of its column, structs by field name. `differences` receives what does not fit.

    If the table's type has grown, fields that the value lacks are null.
    """
    if source_type == wanted:
        return value
    if isinstance(source_type, StructType) and isinstance(wanted, StructType):
        return _fit_struct(value, source_type, wanted, name, differences, grows=grows)
    if (
        isinstance(source_type, ArrayType)
        and isinstance(wanted, ArrayType)
        and _has_struct(source_type)
        and _has_struct(wanted)
    ):
        return F.transform(
            value,
            lambda element: fit(
                element,
                source_type.elementType,
                wanted.elementType,
                f"{name}.element",
                differences,
                grows=grows,
            ),
        )
    if (
        isinstance(source_type, MapType)
        and isinstance(wanted, MapType)
        and _has_struct(source_type)
        and _has_struct(wanted)
    ):
        keys = F.transform(
            F.map_keys(value),
            lambda element: fit(
                element, source_type.keyType, wanted.keyType, f"{name}.key", differences, grows=grows
            ),
        )
        values = F.transform(
            F.map_values(value),
            lambda element: fit(
                element, source_type.valueType, wanted.valueType, f"{name}.value", differences, grows=grows
            ),
        )
        return F.map_from_arrays(keys, values)
    return value.cast(wanted)


def fresh_names(taken: Sequence[str], *stems: str) -> list[str]:
    """Names for extra columns that collide with no column of the user's."""
    used = {name.lower() for name in taken}
    names = []
    for stem in stems:
        name = f"__delta_{stem}"
        while name in used:
            name += "_"
        names.append(name)
    return names


@contextmanager
def strict(spark: SparkSession) -> Iterator[None]:
    """A context in which casts fail on bad values, whatever the session's settings."""
    before = spark.conf.get(ANSI)
    if before == "true":
        yield
        return
    spark.conf.set(ANSI, "true")
    try:
        yield
    finally:
        spark.conf.set(ANSI, before)


def _fit_struct(
    value: Column,
    source_type: StructType,
    wanted: StructType,
    name: str,
    differences: list[str],
    *,
    grows: bool,
) -> Column:
    parts = []
    for field in wanted.fields:
        source = find(source_type, field.name)
        if source is None and grows:
            parts.append(F.lit(None).cast(field.dataType).alias(field.name))
            continue
        if source is None:
            differences.append(f"{name} has no field {field.name}")
            continue
        inside = fit(
            value.getField(source.name),
            source.dataType,
            field.dataType,
            f"{name}.{field.name}",
            differences,
            grows=grows,
        )
        parts.append(inside.alias(field.name))
    differences += [
        f"{name} has a field {field.name} that the table has not"
        for field in source_type.fields
        if find(wanted, field.name) is None
    ]
    # A null struct stays null and does not become a struct of nulls.
    return F.when(value.isNotNull(), F.struct(*parts)) if parts else value


def _has_struct(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _has_struct(data_type.elementType)
    if isinstance(data_type, MapType):
        return _has_struct(data_type.keyType) or _has_struct(data_type.valueType)
    return isinstance(data_type, StructType)


def is_plain(spark: SparkSession, schema: StructType) -> bool:
    """Whether a cast under the session's settings is enough: it fails on bad values, and no type has fields to fit.

    Spark then analyses one frame instead of three, which takes most of the time of a change of few rows.
    """
    nested = (StructType, ArrayType, MapType)
    return (
        not any(isinstance(field.dataType, nested) for field in schema.fields)
        and spark.conf.get(ANSI, "true") == "true"
    )


def columns_of(schema: StructType) -> list[Column]:
    """The columns of a table as Columns, whatever their names."""
    return [F.col(quoted(field.name)) for field in schema.fields]
