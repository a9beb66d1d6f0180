"""`read` and `write` with Spark: this engine, deltalake and delta-spark read back what was written."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable as Deltalake
from deltalake import write_deltalake
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it
from pyspark.sql.types import StructType

from pyspark_delta import DeltaTable, read, write
from pyspark_delta.exceptions import (
    ConstraintViolated,
    DeltaAnalysisError,
    InvalidArgument,
    MissingDataFile,
    SchemaMismatch,
    UnsupportedTableFeature,
)
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta import logs

pytestmark = pytest.mark.slow

HOSTILE = [
    "",
    "a/b",
    "a=b",
    "%41",
    "100%",
    " ",
    "ü€😀",
    "a\nb",
    "\\",
    "\x00x",
    "__HIVE_DEFAULT_PARTITION__",
    "\x01hex:41",
    ".",
    "'\"",
]


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def numbers(spark: Any, *values: int) -> DataFrame:
    frame: DataFrame = spark.createDataFrame(pa.table({"id": pa.array(values, pa.int64())}))
    return frame


def test_what_is_appended_is_read_back_also_by_deltalake(spark, table):
    frame = spark.sql("select cast(id as int) id, concat('n', id) name, id / 2d half from range(5)")
    assert write(frame, table) == 0
    assert write(frame, table, "append") == 1
    assert rows(read(spark, table)) == sorted(rows(frame) * 2, key=repr)
    assert rows(read(spark, table, version=0)) == rows(frame)
    theirs = Deltalake(table).to_pyarrow_table()
    assert sorted(theirs.column("id").to_pylist()) == sorted([*range(5)] * 2)


def test_modes_do_what_their_names_say(spark, table):
    write(numbers(spark, 1), table)
    with pytest.raises(DeltaAnalysisError, match="there is a table"):
        write(numbers(spark, 2), table)
    assert write(numbers(spark, 2), table, "ignore") is None
    assert write(numbers(spark, 3), table, "overwrite") == 1
    assert rows(read(spark, table)) == [(3,)]
    assert write(numbers(spark), table, "append") is None
    with pytest.raises(InvalidArgument, match="no mode"):
        write(numbers(spark, 1), table, "upsert")  # type: ignore[arg-type]
    assert write(numbers(spark), table, "overwrite") == 2
    assert rows(read(spark, table)) == []


def test_hostile_partition_values_come_back_as_they_were(spark, table):
    texts = [*HOSTILE, None]
    frame = spark.createDataFrame(pa.table({"p": pa.array(texts), "n": list(range(len(texts)))}))
    write(frame, table, partition_by="p")
    wanted = sorted(((text or None, n) for n, text in enumerate(texts)), key=repr)
    assert rows(read(spark, table)) == wanted
    theirs = Deltalake(table).to_pyarrow_table().to_pylist()
    assert sorted(((row["p"], row["n"]) for row in theirs), key=repr) == wanted
    for n, text in enumerate(texts):
        picked = read(spark, table).where(
            F.col("p") == text if text else F.col("p").isNull() & (F.col("n") == n)
        )
        assert picked.select("n").toPandas()["n"].tolist() == [n]


EXTREMES = {
    "boolean": ["true", "false"],
    "tinyint": ["-128", "127"],
    "smallint": ["-32768", "32767"],
    "int": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808", "9223372036854775807"],
    "float": ["'NaN'", "'-Infinity'", "1e-40", "0.1"],
    "double": ["'NaN'", "'Infinity'", "1.7976931348623157e308", "0.1", "-0.0"],
    "decimal(38,18)": ["-99999999999999999999.999999999999999999", "0", "0.000000000000000001"],
    "date": ["'0001-01-01'", "'9999-12-31'", "'1582-10-10'", "'1969-12-31'"],
    "timestamp": [
        "'0001-01-01 00:00:00 UTC'",
        "'9999-12-31 23:59:59.999999 UTC'",
        "'1969-12-31 23:59:59.999999 UTC'",
    ],
    "timestamp_ntz": ["'0001-01-01 00:00:00'", "'2024-03-31 02:30:00.000001'"],
    "binary": ["X'61'", "X'007F'"],
}


def test_partition_values_of_every_type_keep_their_extremes(spark, table):
    count = max(len(texts) for texts in EXTREMES.values())
    columns = []
    for number, (kind, texts) in enumerate(EXTREMES.items()):
        values = ", ".join(f"cast({text} as {kind})" for text in texts)
        chosen = f"if(id = {count}, null, element_at(array({values}), cast(id % {len(texts)} as int) + 1))"
        columns += [f"{chosen} as p{number}", f"{chosen} as same{number}"]
    frame = spark.range(count + 1).selectExpr("id", *columns)
    write(frame, table, partition_by=[f"p{number}" for number in range(len(EXTREMES))])
    back = read(spark, table)
    assert back.schema == frame.schema or [f.dataType for f in back.schema] == [
        f.dataType for f in frame.schema
    ]
    assert back.count() == count + 1
    kept = " and ".join(f"p{number} <=> same{number}" for number in range(len(EXTREMES)))
    assert back.where(f"not ({kept})").count() == 0
    for number, (kind, texts) in enumerate(EXTREMES.items()):
        if kind in {"float", "decimal(38,18)", "date", "timestamp", "timestamp_ntz", "binary"}:
            theirs = (
                back.where(f"p{number} = cast({texts[-1]} as {kind})")
                .select("id")
                .toArrow()["id"]
                .to_pylist()
            )
            assert len(texts) - 1 in theirs


def test_columns_go_by_name_and_values_are_assigned_as_ansi_sql_does(spark, table):
    write(
        spark.sql("select 1 as id, named_struct('x', 1, 'y', 'a') as s, array(named_struct('e', 1)) as l"),
        table,
    )
    data = "named_struct('Y', 7, 'X', 2L) as S, array(named_struct('e', 3L)) as L"
    write(spark.sql(f"select {data}, 5L as ID"), table, "append")
    assert rows(read(spark, table)) == [(1, (1, "a"), [(1,)]), (5, (2, "7"), [(3,)])]
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        try:
            with pytest.raises(Exception, match=r"OVERFLOW|does not fit"):
                write(spark.sql("select 3000000000 as id"), table, "append")
        finally:
            spark.conf.unset("spark.sql.ansi.enabled")
    assert DeltaLog.for_path(table).update().version == 1
    assert not list(Path(table).glob("_temporary*"))


def test_data_that_does_not_fit_is_refused_with_all_differences(spark, table):
    write(spark.sql("select 1 as id, date'2024-01-01' as d"), table)
    with pytest.raises(SchemaMismatch) as refused:
        write(spark.sql("select 'x' as id, 1 as d, 2 as more"), table, "append")
    assert len(refused.value.differences) == 3
    assert DeltaLog.for_path(table).update().version == 0


def test_a_schema_is_merged_and_overwritten_on_demand(spark, table):
    write(spark.sql("select 1 as id, named_struct('x', 1) as s"), table)
    write(
        spark.sql("select 2 as id, named_struct('y', 'b', 'x', 2) as s, true as more"),
        table,
        "append",
        merge_schema=True,
    )
    assert rows(read(spark, table)) == [(1, (1, None), None), (2, (2, "b"), True)]
    assert rows(read(spark, table, version=0)) == [(1, (1,))]
    with pytest.raises(SchemaMismatch):
        write(spark.sql("select 'a' as other"), table, "overwrite")
    write(spark.sql("select 'a' as other, 1 as p"), table, "overwrite", "p", overwrite_schema=True)
    assert rows(read(spark, table)) == [("a", 1)]
    assert DeltaLog.for_path(table).update().partition_columns == ("p",)


def test_replace_where_on_a_partition_column_replaces_its_files_only(spark, table):
    write(spark.sql("select id, id % 3 as p from range(9)"), table, partition_by="p")
    before = set(DeltaLog.for_path(table).update().files().raw_paths())
    write(spark.sql("select 100L as id, 1L as p"), table, "overwrite", replace_where="p = 1")
    assert len(before & set(DeltaLog.for_path(table).update().files().raw_paths())) == len(before) - len(
        [path for path in before if path.startswith("p=1/")]
    )
    assert rows(read(spark, table).where("p = 1")) == [(100, 1)]
    assert read(spark, table).count() == 7
    with pytest.raises(ConstraintViolated, match="replace_where"):
        write(spark.sql("select 100L as id, 2L as p"), table, "overwrite", replace_where="p = 1")


def test_replace_where_on_data_keeps_the_rows_that_it_does_not_pick(spark, table):
    write(spark.sql("select id, if(id = 4, null, id) as v from range(10)"), table, files=3)
    write(spark.sql("select 50L as id, 5L as v"), table, "overwrite", replace_where="v between 3 and 7")
    assert rows(read(spark, table)) == rows(
        spark.sql(
            "select id, if(id = 4, null, id) v from range(10) where id not in (3, 5, 6, 7) union all select 50L, 5L"
        )
    )


def test_dynamic_overwrite_replaces_the_partitions_that_have_new_rows(spark, table):
    write(
        spark.sql("select id, if(id = 0, null, cast(id % 3 as string)) as p from range(6)"),
        table,
        partition_by="p",
    )
    data = spark.sql("select 100L as id, cast(null as string) as p union all select 101L, '1'")
    write(data, table, "overwrite", partition_overwrite_mode="dynamic")
    assert rows(read(spark, table)) == sorted(
        [(100, None), (101, "1"), (3, "0"), (2, "2"), (5, "2")], key=repr
    )


def test_a_write_with_a_transaction_id_happens_once(spark, table):
    write(numbers(spark, 1), table, txn_app_id="app", txn_version=3)
    assert write(numbers(spark, 2), table, "append", txn_app_id="app", txn_version=3) is None
    assert write(numbers(spark, 2), table, "append", txn_app_id="app", txn_version=4) == 1
    assert rows(read(spark, table)) == [(1,), (2,)]


def test_checks_of_the_table_are_kept_by_the_write_itself(spark, delta_spark, table):
    delta_spark.run(
        """
        spark.sql(f"create table delta.`{table}` (id int not null, s struct<x: int not null>, v int) using delta")
        spark.sql(f"alter table delta.`{table}` add constraint small check (v < 10)")
        """,
        table=table,
    )
    good = "select 1 as id, named_struct('x', 1) as s, 5 as v"
    write(spark.sql(good), table, "append")
    write(spark.sql("select 2 as id, cast(null as struct<x: int>) as s, 6 as v"), table, "append")
    for bad, message in (
        ("select cast(null as int) as id, named_struct('x', 1) as s, 5 as v", "id is NOT NULL"),
        ("select 1 as id, named_struct('x', cast(null as int)) as s, 5 as v", "s.x is NOT NULL"),
        ("select 1 as id, named_struct('x', 1) as s, 10 as v", "small"),
        ("select 1 as id, named_struct('x', 1) as s, cast(null as int) as v", "small"),
    ):
        with pytest.raises(ConstraintViolated, match=message):
            write(spark.sql(f"{good} union all {bad}"), table, "append")
    assert DeltaLog.for_path(table).update().num_files == 2
    assert not list(Path(table).glob("_temporary*"))
    assert delta_spark.run("result = spark.read.format('delta').load(table).count()", table=table) == 2


def test_char_and_varchar_keep_their_lengths_at_any_depth(spark, delta_spark, table):
    delta_spark.run(
        "spark.sql(f'create table delta.`{table}` (c char(3), v varchar(3), l array<varchar(3)>, "
        "m map<string, char(2)>, s struct<x: varchar(2), n: int>) using delta')",
        table=table,
    )
    data = spark.sql(
        "select 'a' as c, 'b' as v, array('abc ', null) as l, map('k', 'x') as m, "
        "named_struct('x', 'yz ', 'n', 1) as s "
        "union all select 'abc  ', 'abc  ', null, null, null"
    )
    write(data, table, "append")
    read_rows = rows(read(spark, table))
    assert read_rows == [
        ("a  ", "b", ["abc", None], {"k": "x "}, ("yz", 1)),
        ("abc", "abc", None, None, None),
    ]
    for name, value in (
        ("v", "'abcd'"),
        ("l", "array('a', 'abcd')"),
        ("m", "map('k', 'xyz')"),
        ("s", "named_struct('x', 'xyz', 'n', 1)"),
    ):
        with pytest.raises(ConstraintViolated, match=rf"{name} is .*char\([23]\)"):
            write(data.limit(1).withColumn(name, F.expr(value)), table, "append")


def test_a_missing_file_is_named_with_the_version_that_added_it(spark, table):
    write(numbers(spark, 1), table)
    write(numbers(spark, 2), table, "append")
    path = DeltaLog.for_path(table).update().files().paths()
    missing = next(file for file in path if file not in DeltaLog.for_path(table).snapshot(0).files().paths())
    Path(missing).unlink()
    with pytest.raises(MissingDataFile, match="version 1") as refused:
        read(spark, table)
    assert missing in refused.value.cause
    assert rows(read(spark, table, version=0)) == [(1,)]


def test_deletion_vectors_of_delta_spark_and_column_mapping_are_read(spark, delta_spark, table):
    delta_spark.run(
        """
        spark.sql(f"create table delta.`{table}` (id bigint, s struct<x: bigint>, p string) using delta "
                  "partitioned by (p) tblproperties "
                  "('delta.enableDeletionVectors'='true', 'delta.columnMapping.mode'='name')")
        spark.sql(f"insert into delta.`{table}` "
                  "select id, named_struct('x', id), cast(id % 2 as string) from range(20)")
        spark.sql(f"delete from delta.`{table}` where id in (3, 4)")
        spark.sql(f"alter table delta.`{table}` rename column id to number")
        spark.sql(f"alter table delta.`{table}` add column more int")
        """,
        table=table,
    )
    frame = read(spark, table)
    assert frame.columns == ["number", "s", "p", "more"]
    assert rows(frame.select("number", "s.x", "p", "more")) == sorted(
        ((n, n, str(n % 2), None) for n in range(20) if n not in {3, 4}), key=repr
    )
    assert frame.where("p = '1' and number > 10").count() == 5


def test_columns_are_found_by_their_ids_where_the_table_says_so(spark, table):
    def column(name: str, number: int, kind: pa.DataType) -> pa.Field:
        return pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})

    inner = pa.struct([column("p", 4, pa.string()), column("q", 3, pa.string())])
    schema = pa.schema([column("b", 1, pa.int64()), column("a", 2, inner)])
    Path(table).mkdir()
    data = [{"b": 7, "a": {"p": "four", "q": "three"}}, {"b": 8, "a": None}]
    pq.write_table(pa.Table.from_pylist(data, schema), f"{table}/f.parquet")

    def field(name: str, number: int, kind: Any, physical: str) -> dict[str, Any]:
        field_metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}
        return {"name": name, "type": kind, "nullable": True, "metadata": field_metadata}

    # The names in the file are others: of the table's columns (crosswise), and of its physical names.
    nested = {"type": "struct", "fields": [field("q", 4, "string", "z"), field("p", 3, "string", "p")]}
    fields = [field("a", 1, "long", "x"), field("b", 2, nested, "y"), field("new", 5, "string", "w")]
    size = Path(table, "f.parquet").stat().st_size
    logs.commit(
        Path(table),
        0,
        {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
        logs.metadata(
            json.dumps({"type": "struct", "fields": fields}),
            **{"delta.columnMapping.mode": "id", "delta.columnMapping.maxColumnId": "5"},
        ),
        logs.add("f.parquet", size=size),
    )
    frame = read(spark, table)
    assert rows(frame.select("a", "b.q", "b.p", "new")) == [(7, "four", "three", None), (8, None, None, None)]
    assert rows(frame.where("b.p = 'three' and a = 7").select("b.q")) == [("four",)]
    with pytest.raises(UnsupportedTableFeature, match="other names for its columns"):
        DeltaTable.forPath(spark, table).generate("symlink_format_manifest")


def test_only_files_that_can_match_are_read(spark, table):
    for start in range(0, 30, 10):
        write(spark.range(start, start + 10), table, "append")
    frame = read(spark, table).where("id between 12 and 14")
    assert rows(frame) == [(12,), (13,), (14,)]
    plan = frame._jdf.queryExecution().executedPlan()
    assert "numFiles" in plan.collectLeaves().head().metrics().toString()
    assert plan.collectLeaves().head().metrics().apply("numFiles").value() == 1


def test_what_deltalake_wrote_is_read_and_appended_to(spark, table):
    when = dt.datetime(2024, 2, 29, 12, 30, 1, 123456, dt.UTC)
    data = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "p": ["x y", None],
            "t": pa.array([when, None], pa.timestamp("us", "UTC")),
            "d": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        }
    )
    write_deltalake(table, data, partition_by=["p"])
    assert rows(read(spark, table).select("id", "p", "d")) == [(1, "x y", Decimal("1.50")), (2, None, None)]
    write(read(spark, table), table, "append")
    assert Deltalake(table).to_pyarrow_table().num_rows == 4


def test_delta_spark_reads_what_we_write_and_keeps_its_statistics(spark, delta_spark, table):
    frame = spark.sql(
        "select id, cast(id as decimal(20, 3)) d, timestamp_micros(id) t, cast(id % 2 as string) p from range(6)"
    )
    write(frame, table, partition_by="p", user_metadata="by hand")
    theirs = delta_spark.run(
        """
        frame = spark.read.format("delta").load(table)
        history = DeltaTable.forPath(spark, table).history().collect()[0]
        result = [frame.count(), frame.where("id = 3 and p = '1'").count(), history.userMetadata, history.operation]
        """,
        table=table,
    )
    assert theirs == [6, 1, "by hand", "WRITE"]
    stats = [json.loads(add.stats or "") for add in DeltaLog.for_path(table).update().files().adds()]
    assert sum(stat["numRecords"] for stat in stats) == 6


def test_a_void_column_is_null_and_lies_in_no_file(spark, table):
    write(spark.sql("select 1 as id, null as nothing"), table)
    assert rows(read(spark, table)) == [(1, None)]
    assert isinstance(read(spark, table).schema, StructType)
