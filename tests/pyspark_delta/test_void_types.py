"""No data file has a column of type void, at any depth, whatever writes it; readers take it for null."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import ArrayType, IntegerType, MapType, NullType, StringType, StructField, StructType

from pyspark_delta import DeltaTable, read, write
from pyspark_delta.commands import alter
from pyspark_delta.datasource import register
from pyspark_delta.exceptions import DeltaAnalysisError
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.partition_values import absolute_path
from pyspark_delta.schema import check_names
from pyspark_delta.schema_enforcement import as_nullable
from pyspark_delta.void_types import is_in_files, refuse_void, void_places, without_void, without_void_fields

VOID, NUMBER, TEXT = NullType(), IntegerType(), StringType()


def struct(**fields: Any) -> StructType:
    return StructType([StructField(name, data_type) for name, data_type in fields.items()])


INNER = struct(b=NUMBER, w=VOID)
NESTED = struct(a=NUMBER, v=VOID, t=INNER, u=struct(v=VOID))

# A struct with void at two depths, and void beside it.
ROWS = "named_struct('a', id, 'v', null, 't', named_struct('b', id, 'w', null)) as s, null as n"


def test_void_and_structs_of_nothing_but_void_lie_in_no_file():
    assert [is_in_files(kind) for kind in (NUMBER, INNER, NESTED)] == [True, True, True]
    empty = struct(v=VOID, t=struct(v=VOID))
    assert [is_in_files(kind) for kind in (VOID, empty, ArrayType(empty), MapType(TEXT, empty))] == [
        False
    ] * 4


def test_the_type_in_files_has_no_void_at_any_depth():
    assert without_void_fields(struct(n=VOID, s=NESTED)) == struct(s=struct(a=NUMBER, t=struct(b=NUMBER)))
    assert without_void_fields(NUMBER) == NUMBER


def test_a_value_without_void_stays_the_expression_that_it_is():
    assert without_void("`s`", struct(a=NUMBER)) == "`s`"
    assert without_void("`x`", ArrayType(NUMBER)) == "`x`"


@pytest.mark.parametrize(
    ("schema", "place"),
    (
        (struct(id=NUMBER, x=ArrayType(VOID)), "x.element is void"),
        (struct(id=NUMBER, x=ArrayType(INNER)), "x.element.w is void"),
        (struct(id=NUMBER, x=MapType(TEXT, VOID)), "x.value is void"),
        (struct(id=NUMBER, x=MapType(INNER, TEXT)), "x.key.w is void"),
        (struct(id=NUMBER, x=struct(y=ArrayType(VOID))), "x.y.element is void"),
        (struct(id=NUMBER, x=struct(v=VOID)), "x has no field of another type"),
        (struct(id=NUMBER, s=NESTED), "s.u has no field of another type"),
        (struct(x=VOID), "no column of the data files"),
        (struct(p=NUMBER, x=VOID), "no column of the data files"),
    ),
)
def test_rows_are_refused_where_void_cannot_be_left_out(schema, place):
    with pytest.raises(DeltaAnalysisError) as refused:
        refuse_void(schema, ["p"])
    assert place in refused.value.cause


def test_rows_are_not_refused_where_void_can_be_left_out():
    refuse_void(struct(id=NUMBER, s=INNER, n=VOID), [])


def test_every_place_of_void_is_named():
    schema = struct(n=VOID, s=INNER, x=ArrayType(VOID), m=MapType(VOID, INNER), z=NUMBER)
    assert void_places(schema) == ["n", "s.w", "x.element", "m.key", "m.value.w"]


def test_a_table_cannot_be_partitioned_by_void():
    with pytest.raises(DeltaAnalysisError, match="partition column n has type void"):
        check_names(struct(id=NUMBER, n=VOID), ["n"])


def in_files(table: str) -> set[str]:
    """The columns of all files of the newest version, as Parquet has them."""
    columns = set()
    for add in DeltaLog.for_path(table).update().files().adds():
        schema = pq.read_metadata(absolute_path(add.path, table)).schema
        columns |= {schema.column(index).path for index in range(len(schema.names))}
    return columns


def rows(table: str, spark: Any) -> list[Any]:
    return sorted(read(spark, table).toArrow().to_pylist(), key=lambda row: int(row["id"]))


def row(number: int, value: int | None = None) -> dict[str, Any]:
    return {
        "id": number,
        "s": {
            "a": number if value is None else value,
            "v": None,
            "t": {"b": number if value is None else value, "w": None},
        },
        "n": None,
    }


STORED = {"id", "s.a", "s.t.b"}


def source(spark: Any, first: int, end: int) -> Any:
    return spark.sql(f"select id, {ROWS} from range({first}, {end})").coalesce(1)


@pytest.mark.slow
@pytest.mark.parametrize("vectors", ("true", "false"))
def test_no_operation_writes_void(spark, table, vectors):
    properties = {"delta.enableDeletionVectors": vectors}
    write(source(spark, 0, 4), table, properties=properties)
    assert (in_files(table), rows(table, spark)) == (STORED, [row(n) for n in range(4)])
    write(source(spark, 4, 8), table, mode="append")
    write(spark.range(8, 10), table, mode="append")
    missing = [{"id": n, "s": None, "n": None} for n in (8, 9)]
    assert (in_files(table), rows(table, spark)) == (STORED, [*(row(n) for n in range(8)), *missing])

    delta = DeltaTable.forPath(spark, table)
    delta.delete("id in (1, 9)")
    delta.delete("s.v is not null or n is not null")
    delta.update("id = 2 and s.v is null", {"s.a": "s.a + 40", "s.t.b": "42"})
    wanted = [row(0), row(2, 42), *(row(n) for n in range(3, 8)), missing[0]]
    assert (in_files(table), rows(table, spark)) == (STORED, wanted)

    merge = delta.alias("t").merge(source(spark, 6, 12).alias("s"), "t.id = s.id and t.id != 7")
    merge.whenMatchedUpdate(set={"s": "named_struct('a', 60L, 'v', null, 't', s.s.t)"}).whenNotMatchedInsert(
        "s.id > 9", {"id": "s.id", "s": "s.s", "n": "null"}
    ).whenNotMatchedBySourceDelete("t.id = 0").execute()
    matched = [row(6), row(8)]
    for each in matched:
        each["s"]["a"] = 60
    wanted = [*wanted[1:5], matched[0], row(7), matched[1], row(10), row(11)]
    assert (in_files(table), rows(table, spark)) == (STORED, wanted)

    delta.optimize().executeCompaction()
    assert len(DeltaLog.for_path(table).update().files()) == 1
    assert (in_files(table), rows(table, spark)) == (STORED, wanted)
    delta.optimize().executeZOrderBy("s.a")
    write(source(spark, 20, 22), table, mode="overwrite", replace_where="id >= 10 and id < 22")
    wanted = [*wanted[:-2], row(20), row(21)]
    assert (in_files(table), rows(table, spark)) == (STORED, wanted)
    write(source(spark, 1, 3), table, mode="overwrite")
    assert (in_files(table), rows(table, spark)) == (STORED, [row(1), row(2)])


@pytest.mark.slow
def test_void_that_a_merge_of_schemas_brings_lies_in_no_file_until_it_has_a_type(spark, table):
    write(spark.sql("select 0L as id, named_struct('a', 0L) as s"), table)
    delta = DeltaTable.forPath(spark, table)
    write(source(spark, 1, 2), table, mode="append", merge_schema=True)
    kind = "struct<id:bigint,s:struct<a:bigint,v:void,t:struct<b:bigint,w:void>>,n:void>"
    assert read(spark, table).schema.simpleString() == kind
    merge = delta.alias("t").merge(
        spark.sql("select 2L as id, named_struct('a', 2L, 'z', null) as s").alias("s"), "t.id = s.id"
    )
    merge.withSchemaEvolution().whenNotMatchedInsertAll().execute()
    assert (in_files(table), read(spark, table).schema["s"].dataType.names) == (STORED, ["a", "v", "t", "z"])

    typed = spark.sql("select 3L as id, named_struct('a', 3L, 'v', 'text') as s")
    write(typed, table, mode="append", merge_schema=True)
    found = [
        tuple(found)
        for found in read(spark, table).select("id", "s.a", "s.v", "s.t.w").orderBy("id").collect()
    ]
    assert found == [(0, 0, None, None), (1, 1, None, None), (2, 2, None, None), (3, 3, "text", None)]
    assert in_files(table) == {*STORED, "s.v"}


@pytest.mark.slow
def test_the_data_source_writes_no_void(spark, table):
    register(spark)
    DeltaTable.create(spark).location(table).addColumns(
        as_nullable(source(spark, 0, 1).schema).fields
    ).execute()
    source(spark, 0, 3).write.format("pyspark_delta").mode("append").save(table)
    assert (in_files(table), rows(table, spark)) == (STORED, [row(n) for n in range(3)])
    found = spark.read.format("pyspark_delta").load(table).orderBy("id").toArrow().to_pylist()
    assert found == [row(n) for n in range(3)]


@pytest.mark.slow
def test_a_partitioned_table_has_no_void_in_its_files(spark, table):
    write(source(spark, 0, 2), table, partition_by="id")
    assert (in_files(table), rows(table, spark)) == (STORED - {"id"}, [row(0), row(1)])


@pytest.mark.slow
def test_a_table_whose_rows_cannot_be_written_is_still_read_and_emptied(spark, table):
    write(spark.range(3), table)
    log = DeltaLog.for_path(table, spark)
    more = (
        "x array<void>, y array<struct<v: void>>, z struct<v: void>, m map<string, struct<a: int, v: void>>"
    )
    alter.add_columns(spark, log, StructType.fromDDL(more).fields)
    nothing = {"x": None, "y": None, "z": None, "m": None}
    assert rows(table, spark) == [{"id": n, **nothing} for n in range(3)]
    assert read(spark, table).where("z.v is null and id = 1").count() == 1
    version = log.update().version
    for attempt in (
        lambda: write(spark.range(1), table, mode="append"),
        lambda: write(spark.range(0), table, mode="append"),
        lambda: DeltaTable.forPath(spark, table).delete("id = 1"),
        lambda: DeltaTable.forPath(spark, table).update("id = 1", {"id": "7"}),
    ):
        with pytest.raises(DeltaAnalysisError, match="void inside an array or a map"):
            attempt()
    assert log.update().version == version
    DeltaTable.forPath(spark, table).delete()
    assert rows(table, spark) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    ("array(null)", "map('k', null)", "named_struct('v', null)", "array(named_struct('a', 1, 'v', null))"),
)
def test_no_table_is_made_of_rows_in_which_void_cannot_be_left_out(spark, table, value):
    with pytest.raises(DeltaAnalysisError, match=r"c.* void"):
        write(spark.sql(f"select 1 as id, {value} as c"), table)
    assert not DeltaLog.for_path(table).exists()


@pytest.mark.slow
def test_files_with_void_are_not_converted(spark, table):
    spark.sql("select 1 as id, named_struct('a', 1, 'v', null) as s").write.parquet(table)
    with pytest.raises(DeltaAnalysisError, match=r"s\.v"):
        DeltaTable.convertToDelta(spark, f"parquet.`{table}`")
    assert not DeltaLog.for_path(table).exists()


@pytest.mark.slow
def test_void_in_files_of_others_is_left_out_when_they_are_rewritten(spark, table):
    write(source(spark, 0, 4), table, files=1)
    (add,) = DeltaLog.for_path(table).update().files().adds()
    place = absolute_path(add.path, table)
    source(spark, 0, 4).write.parquet(f"{table}/_damaged")
    damaged = spark.read.parquet(f"{table}/_damaged").inputFiles()[0].removeprefix("file://")
    pq.write_table(pq.read_table(damaged), place)
    assert "s.v" in in_files(table)
    DeltaTable.forPath(spark, table).delete("id = 1")
    assert (in_files(table), rows(table, spark)) == (STORED, [row(0), row(2), row(3)])


@pytest.mark.slow
def test_delta_spark_reads_nested_void_as_this_engine_does(spark, delta_spark, table):
    write(source(spark, 0, 2), table)
    theirs = delta_spark.run(
        """
        frame = spark.read.format("delta").load(table)
        values = frame.selectExpr("id", "s.a", "s.v", "s.t.b", "s.t.w")
        result = [frame.schema.simpleString(), values.orderBy("id").collect()]
        """,
        table=table,
    )
    assert theirs == [
        read(spark, table).schema.simpleString(),
        [[0, 0, None, 0, None], [1, 1, None, 1, None]],
    ]
