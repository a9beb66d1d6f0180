"""A merge with schema evolution adds the source's columns that its clauses assign, and no others."""

from __future__ import annotations

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_delta import DeltaTable, write
from pyspark_delta.commands.merge_clauses import BY_SOURCE, MATCHED, NOT_MATCHED, Clause
from pyspark_delta.commands.merge_schema import grown_schema
from tests.pyspark_delta.small_tables import VECTORS, commit, frame, make_table, rows, version

BIG, TEXT = LongType(), StringType()
TABLE = StructType([StructField("id", BIG), StructField("s", StructType([StructField("a", BIG)]))])
SOURCE = StructType(
    [
        StructField("ID", TEXT),
        StructField("S", StructType([StructField("a", BIG), StructField("b", TEXT), StructField("c", TEXT)])),
        StructField("n", BIG, nullable=False),
        StructField("t", BIG),
    ]
)


@pytest.mark.parametrize(
    ("clauses", "added"),
    (
        ((), []),
        ((Clause(MATCHED, "update"),), ["s.b", "s.c", "n", "t"]),
        ((Clause(NOT_MATCHED, "insert"),), ["s.b", "s.c", "n", "t"]),
        ((Clause(MATCHED, "update", None, {"N": "1"}),), ["n"]),
        ((Clause(MATCHED, "update", None, {"t.n": "1", "t": "2"}),), ["n", "t"]),
        ((Clause(NOT_MATCHED, "insert", None, {"s.c": "1", "nowhere": "2"}),), ["s.c"]),
        ((Clause(BY_SOURCE, "update", None, {"n": "1"}), Clause(MATCHED, "delete")), []),
    ),
)
def test_what_is_assigned_to_is_added_as_nullable(clauses, added):
    after = grown_schema(TABLE, SOURCE, clauses, "t")
    inner = after["s"].dataType
    assert isinstance(inner, StructType)
    assert [f"s.{name}" for name in inner.names[1:]] + after.names[2:] == added
    assert all(field.nullable for field in after.fields)
    assert (after["id"].dataType, after.names[:2]) == (BIG, ["id", "s"])


@pytest.mark.slow
class TestMerge:
    @pytest.fixture(params=({}, VECTORS), ids=("rewriting", "vectors"))
    def properties(self, request):
        return request.param

    def merge(self, target, source):
        return target.alias("t").merge(source.alias("s"), "t.id = s.id").withSchemaEvolution()

    def test_columns_of_the_source_are_added_and_those_that_it_lacks_are_kept(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2], v=["a", "b"])
        source = frame(spark, id=[2, 3], n=[5, 6])
        self.merge(target, source).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
        assert rows(table, spark) == [(1, "a", None), (2, "b", 5), (3, None, 6)]
        assert len(commit(table)["metaData"]) == 1

    def test_a_clause_may_name_a_column_that_only_the_source_has(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2], v=["a", "b"])
        source = frame(spark, id=[2, 3], n=[5, 6], other=["x", "y"])
        merge = self.merge(target, source).whenMatchedUpdate("n > 1", {"t.n": "s.n + t.id"})
        merge.whenNotMatchedInsert(values={"id": "s.id", "v": "s.other"}).execute()
        assert rows(table, spark) == [(1, "a", None), (2, "b", 7), (3, "y", None)]

    def test_fields_of_structs_are_added_and_kept_too(self, spark, table, properties):
        target = spark.sql(
            "select 1L id, named_struct('a', 1, 'b', 2) st union all select 2L, null union all "
            "select 4L, named_struct('a', 1, 'b', 2) union all select 5L, null union all "
            "select 6L, named_struct('a', cast(null as int), 'b', 2)"
        ).coalesce(1)
        write(target, table, properties=properties)
        source = spark.sql(
            "select 1L id, named_struct('b', 20, 'c', 30) st union all select 2L, named_struct('b', 21, 'c', 31) "
            "union all select 3L, named_struct('b', 22, 'c', 32) "
            "union all select id + 4, cast(null as struct<b:int,c:int>) from range(3)"
        )
        merge = self.merge(DeltaTable.forPath(spark, table), source)
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
        rows = DeltaTable.forPath(spark, table).toDF().orderBy("id").collect()
        assert [row["st"] and tuple(row["st"]) for row in rows] == [
            (1, 20, 30),
            (None, 21, 31),
            (None, 22, 32),
            # as delta-spark 4.4.0: nothing for a struct that the source knows in part takes that part
            (1, None, None),
            None,
            (None, None, None),
        ]
        whole = spark.sql("select id, cast(null as struct<a:int,b:int,c:int,d:int>) st from range(1, 7)")
        self.merge(DeltaTable.forPath(spark, table), whole).whenMatchedUpdateAll().execute()
        assert {row["st"] for row in DeltaTable.forPath(spark, table).toDF().collect()} == {None}

    def test_the_schema_grows_also_where_no_row_changes(self, spark, table):
        target = make_table(spark, table, {}, id=[1], v=["a"])
        self.merge(target, frame(spark, id=[9], n=[5])).whenMatchedUpdateAll().execute()
        assert (version(table), rows(table, spark)) == (1, [(1, "a", None)])
        self.merge(target, frame(spark, id=[9], n=[5])).whenMatchedUpdateAll().execute()
        assert version(table) == 1
