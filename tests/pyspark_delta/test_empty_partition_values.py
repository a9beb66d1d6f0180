"""An empty text or empty bytes of a partition column are null, so whatever forbids null refuses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyspark_delta import DeltaTable, read, write
from pyspark_delta.constraints import null_if_empty
from pyspark_delta.exceptions import ConstraintViolated
from pyspark_delta.schema import from_json
from tests.pyspark_delta.small_tables import VECTORS, data_files, job_count, version

pytestmark = pytest.mark.slow

EMPTY = {"string": "''", "binary": "X''"}
FULL = {"string": "'a'", "binary": "X'61'"}
NULL = {kind: f"cast(null as {kind})" for kind in EMPTY}


def rows_of(spark: Any, *rows: tuple[int, str]) -> Any:
    return spark.sql(" union all ".join(f"select {number} as id, {value} as p" for number, value in rows))


def made(
    spark: Any, path: str, kind: str, *, not_null: bool = True, properties: dict[str, str] | None = None
) -> DeltaTable:
    builder = DeltaTable.create(spark).location(path)
    builder = builder.addColumn("id", "int").addColumn("p", kind, nullable=not not_null).partitionedBy("p")
    for key, value in (properties or {}).items():
        builder = builder.property(key, value)
    builder.execute()
    write(rows_of(spark, (1, FULL[kind]), (2, FULL[kind])), path, "append")
    return DeltaTable.forPath(spark, path)


def merged(spark: Any, path: str, value: str) -> Any:
    source = rows_of(spark, (1, value), (9, value)).alias("s")
    return DeltaTable.forPath(spark, path).alias("t").merge(source, "t.id = s.id")


WAYS: dict[str, Callable[[Any, str, str], Any]] = {
    "append": lambda spark, path, value: write(rows_of(spark, (8, "'a'"), (9, value)), path, "append"),
    "overwrite": lambda spark, path, value: write(rows_of(spark, (9, value)), path, "overwrite"),
    "dynamic-overwrite": lambda spark, path, value: write(
        rows_of(spark, (9, value)), path, "overwrite", partition_overwrite_mode="dynamic"
    ),
    "replace-partitions": lambda spark, path, value: write(
        rows_of(spark, (9, value)), path, "overwrite", replace_where="p is null or p = 'a'"
    ),
    "replace-rows": lambda spark, path, value: write(
        rows_of(spark, (9, value)), path, "overwrite", replace_where="id > 1"
    ),
    "update": lambda spark, path, value: DeltaTable.forPath(spark, path).update("id = 1", {"p": value}),
    "update-all": lambda spark, path, value: DeltaTable.forPath(spark, path).update(set={"p": value}),
    "merge-update": lambda spark, path, value: merged(spark, path, value).whenMatchedUpdateAll().execute(),
    "merge-insert": lambda spark, path, value: merged(spark, path, value).whenNotMatchedInsertAll().execute(),
    "merge-by-source": lambda spark, path, value: (
        merged(spark, path, "'b'").whenNotMatchedBySourceUpdate(set={"p": value}).execute()
    ),
}


@pytest.fixture(scope="module", params=EMPTY)
def strict_table(spark, tmp_path_factory, request) -> tuple[str, str]:
    """A type and a table with a NOT NULL partition column of it, for tests that change nothing."""
    path = str(tmp_path_factory.mktemp("strict") / "table")
    made(spark, path, request.param)
    return request.param, path


@pytest.mark.parametrize("way", WAYS)
def test_a_not_null_partition_column_refuses_an_empty_value_as_it_refuses_null(spark, strict_table, way):
    kind, table = strict_table
    before, files = version(table), data_files(table)
    messages = []
    for value in (NULL[kind], EMPTY[kind]):
        with pytest.raises(ConstraintViolated, match="p is NOT NULL") as refused:
            WAYS[way](spark, table, value)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
    assert (version(table), data_files(table)) == (before, files)


@pytest.mark.parametrize("kind", EMPTY)
def test_an_update_that_marks_rows_refuses_an_empty_value_too(spark, table, kind):
    delta = made(spark, table, kind, properties=VECTORS)
    before, files = version(table), data_files(table)
    with pytest.raises(ConstraintViolated, match="p is NOT NULL"):
        delta.update("id = 1", {"p": EMPTY[kind]})
    assert (version(table), data_files(table)) == (before, files)


def test_a_column_that_spark_knows_to_have_no_null_is_checked_for_empty_values(spark, strict_table):
    kind, table = strict_table
    frame = rows_of(spark, (9, EMPTY[kind]))
    assert not frame.schema["p"].nullable
    with pytest.raises(ConstraintViolated, match="p is NOT NULL"):
        write(frame, table, "append")


@pytest.mark.parametrize("kind", EMPTY)
def test_a_check_constraint_sees_null_in_place_of_an_empty_value(spark, table, kind):
    made(spark, table, kind, not_null=False, properties={"delta.constraints.present": "p is not null"})
    with pytest.raises(ConstraintViolated, match="present"):
        write(rows_of(spark, (9, EMPTY[kind])), table, "append")


@pytest.mark.parametrize("kind", EMPTY)
def test_a_partition_column_that_may_be_null_takes_an_empty_value_for_null(spark, table, kind):
    made(spark, table, kind, not_null=False)
    write(rows_of(spark, (9, EMPTY[kind])), table, "append")
    assert [row["p"] for row in read(spark, table).where("id = 9").collect()] == [None]


def test_an_empty_value_of_another_column_stays(spark, table):
    builder = DeltaTable.create(spark).location(table).addColumn("id", "int", nullable=False)
    builder.addColumn("t", "string", nullable=False).partitionedBy("id").execute()
    write(spark.sql("select 1 as id, '' as t"), table, "append")
    assert [tuple(row) for row in read(spark, table).collect()] == [(1, "")]


def test_an_empty_value_of_a_char_column_is_padded_and_so_not_null(spark, delta_spark, table):
    delta_spark.run(
        "spark.sql(f'create table delta.`{table}` (id int, c char(2) not null) using delta partitioned by (c)')",
        table=table,
    )
    write(spark.sql("select 1 as id, '' as c"), table, "append")
    assert [tuple(row) for row in read(spark, table).collect()] == [(1, "  ")]


def test_checking_for_empty_values_needs_no_further_job(spark, table):
    made(spark, table, "string", not_null=False)
    frame = rows_of(spark, (9, "'a'"))
    start = job_count(spark)
    write(frame, table, "append")
    unchecked = job_count(spark) - start
    other = f"{table}-not-null"
    made(spark, other, "string")
    start = job_count(spark)
    write(frame, other, "append")
    assert job_count(spark) - start == unchecked


def test_char_and_other_types_are_never_empty_in_the_log():
    text = (
        '{"type":"struct","fields":['
        '{"name":"s","type":"string","nullable":true,"metadata":{}},'
        '{"name":"b","type":"binary","nullable":true,"metadata":{}},'
        '{"name":"v","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar(3)"}},'
        '{"name":"c","type":"string","nullable":true,"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(3)"}},'
        '{"name":"n","type":"integer","nullable":true,"metadata":{}}]}'
    )
    assert null_if_empty(from_json(text), ("s", "b", "v", "c", "n")) == ("s", "b", "v")
