"""DELETE, UPDATE and MERGE, by new files and by deletion vectors; deltalake reads the same result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from pyspark_delta import DeltaTable, write
from pyspark_delta.exceptions import (
    AmbiguousMerge,
    AppendOnlyTable,
    ConstraintViolated,
    DeltaAnalysisError,
    InvalidArgument,
    NotADeltaTable,
    SchemaMismatch,
)
from tests.pyspark_delta.small_tables import (
    VECTORS,
    commit,
    data_files,
    frame,
    make_table,
    metrics,
    rows,
    version,
)

pytestmark = pytest.mark.slow


@pytest.fixture(params=({}, VECTORS), ids=("rewriting", "vectors"))
def properties(request):
    return request.param


class TestDelete:
    def test_null_is_not_picked(self, spark, table, properties):
        make_table(spark, table, properties, id=[1, 2, None, 4]).delete("id > 1")
        assert rows(table, spark) == [(1,), (None,)]
        assert metrics(table)["numDeletedRows"] == 2

    def test_a_second_one_adds_to_what_the_first_deleted(self, spark, table, properties):
        target = make_table(spark, table, properties, id=list(range(10)))
        for number in (3, 5, 7):
            target.delete(F.col("ID") == number)
        assert [row[0] for row in rows(table, spark)] == [0, 1, 2, 4, 6, 8, 9]
        assert metrics(table)["numDeletedRows"] == 1

    def test_only_touched_files_are_replaced(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2])
        write(frame(spark, id=[2, 5]).coalesce(1), table, mode="append")
        write(frame(spark, id=[6, 9]).coalesce(1), table, mode="append")
        target.delete("id = 5 or id = 9")
        assert rows(table, spark) == [(1,), (2,), (2,), (6,)]
        assert len(commit(table)["remove"]) == len(commit(table)["add"]) == 2
        assert bool(commit(table)["add"][0].get("deletionVector")) is bool(properties)

    def test_a_file_without_rows_left_is_removed_and_not_replaced(self, spark, table, properties):
        make_table(spark, table, properties, id=[1, 2]).delete("id < 9")
        assert commit(table)["add"] == []
        assert metrics(table)["numRemovedFiles"] == 1
        assert rows(table, spark) == []

    def test_what_picks_no_row_commits_nothing_and_leaves_no_file(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2, 5])
        before = data_files(table)
        target.delete("id = 4")
        target.delete("id = 77")
        target.delete("cast(null as boolean)")
        target.delete("1 = 2")
        assert (version(table), data_files(table)) == (0, before)

    def test_whole_partitions_go_without_a_look_at_their_files(self, spark, table, properties):
        target = make_table(spark, table, properties, ("p",), id=[1, 2, 3], p=["x", "y", None])
        for data_file in data_files(table):
            if "p=y" in data_file:
                Path(data_file).unlink()
        target.delete("substring(p, 1, 1) = 'y'")
        assert rows(table, spark) == [(1, "x"), (3, None)]
        target.delete()
        assert rows(table, spark) == []

    def test_an_alias_and_a_subquery_can_be_used(self, spark, table, properties):
        make_table(spark, table, properties, id=[1, 2, 3])
        frame(spark, other=[2, 3]).createOrReplaceTempView("others")
        DeltaTable.forPath(spark, table).alias("t").delete("t.id = 3")
        DeltaTable.forPath(spark, table).delete("id in (select other from others)")
        assert rows(table, spark) == [(1,)]

    def test_refusals_leave_the_table_as_it_is(self, spark, table, properties):
        target = make_table(spark, table, {**properties, "delta.appendOnly": "true"}, id=[1])
        with pytest.raises(AppendOnlyTable):
            target.delete("id = 1")
        with pytest.raises(AppendOnlyTable):
            target.update(set={"id": "2"})
        with pytest.raises(NotADeltaTable):
            DeltaTable.forPath(spark, table + "/nowhere")
        assert version(table) == 0

    def test_a_condition_that_makes_no_sense_is_refused_as_spark_says_it(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1])
        with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
            target.delete("nope = 1")
        with pytest.raises(InvalidArgument, match="another answer each time"):
            target.delete("rand() > 0.5")
        with pytest.raises(TypeError):
            target.delete(1)


class TestUpdate:
    def test_picked_rows_take_values_computed_from_the_old_row(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2, None], n=["a", None, "c"])
        target.update("id >= 2 or n = 'c'", {"id": "coalesce(id, 0) + 10", "N": F.concat("n", F.lit("!"))})
        assert rows(table, spark) == [(1, "a"), (10, "c!"), (12, None)]
        assert metrics(table)["numUpdatedRows"] == 2
        assert metrics(table)["numCopiedRows"] == (0 if properties else 1)

    def test_without_a_condition_all_rows_are_updated(self, spark, table, properties):
        make_table(spark, table, properties, id=[1, 2]).update(set={"id": "id * 2"})
        assert rows(table, spark) == [(2,), (4,)]
        assert metrics(table)["numUpdatedRows"] == 2

    def test_a_row_can_move_to_another_partition(self, spark, table, properties):
        target = make_table(spark, table, properties, ("p",), id=[1, 2, 3], p=["x", "y", "y"])
        target.update("id = 2", {"p": "'a=b/c'"})
        target.update("p = 'x'", {"p": "null"})
        assert rows(table, spark) == [(1, None), (2, "a=b/c"), (3, "y")]

    def test_values_are_cast_and_what_does_not_fit_is_refused(self, spark, table, properties):
        schema = "id int, s struct<a: int, b: string>"
        spark.sql("select cast(1 as int) id, named_struct('a', 1, 'b', 'x') s").select("id", "s").to(
            spark.createDataFrame([], schema).schema
        ).coalesce(1).transform(lambda it: write(it, table, properties=properties) or it)
        target = DeltaTable.forPath(spark, table)
        target.update(set={"id": "2L", "s.b": "concat(s.b, id)"})
        assert DeltaTable.forPath(spark, table).toDF().collect() == [(2, (1, "x1"))]
        with pytest.raises(Exception, match=r"CAST_OVERFLOW|ARITHMETIC_OVERFLOW|does not fit"):
            target.update(set={"id": "3000000000L"})
        with pytest.raises(SchemaMismatch, match="has no field b"):
            target.update(set={"s": "named_struct('a', 5, 'c', 'y')"})
        with pytest.raises(DeltaAnalysisError, match="assigned twice"):
            target.update(set={"id": "1", "ID": "2"})
        with pytest.raises(DeltaAnalysisError, match="no column nope"):
            target.update(set={"nope": "1"})
        assert version(table) == 1

    def test_an_expression_is_only_evaluated_for_picked_rows(self, spark, table, properties):
        make_table(spark, table, properties, id=[0, 1, 2]).update("id > 0", {"id": "cast(2 / id as bigint)"})
        assert rows(table, spark) == [(0,), (1,), (2,)]

    def test_constraints_hold(self, spark, table, properties):
        target = make_table(spark, table, {**properties, "delta.constraints.small": "id < 10"}, id=[1, 2])
        before = data_files(table)
        with pytest.raises(ConstraintViolated):
            target.update("id = 2", {"id": "id + 10"})
        assert (rows(table, spark), data_files(table)) == ([(1,), (2,)], before)

    def test_hostile_names_and_values(self, spark, table, properties):
        columns: dict[str, list[Any]] = {"id": [1, 2], "a.b": ["x", "y"], "`": ["'", None]}
        columns |= {"__file": [5, 6], "__row": [7, 8]}  # a class would rename such keywords
        odd = frame(spark, **columns)
        write(odd.coalesce(1), table, properties=properties)
        target = DeltaTable.forPath(spark, table)
        target.update("`a.b` = 'x'", {"`a.b`": "concat('\\\\', ````, `__file`)", "````": "`__row`"})
        target.delete("`__file` = 6")
        assert rows(table, spark) == [(1, "\\'5", "7", 5, 7)]


class TestMerge:
    def test_an_upsert(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2, 3], v=["a", "b", None])
        source = frame(spark, V=["B", "D", None], ID=[2, 4, None]).alias("s")
        result = (
            target.alias("t")
            .merge(source, "t.id = s.id")
            .whenMatchedUpdateAll()
            .whenNotMatchedInsertAll()
            .execute()
        )
        assert rows(table, spark) == [(1, "a"), (2, "B"), (3, None), (4, "D"), (None, None)]
        assert result.collect() == [(3, 1, 0, 2)]
        counts = metrics(table)
        assert (counts["numSourceRows"], counts["numTargetRowsInserted"], counts["numTargetRowsUpdated"]) == (
            3,
            2,
            1,
        )
        assert counts["numTargetRowsCopied"] == (0 if properties else 2)

    def test_the_first_clause_that_applies_acts(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2, 3, 4, 5, 6], v=[1, 2, 3, 4, 5, None])
        source = frame(spark, id=[1, 2, 3, 4, 9, 10, 11], w=[10, 20, 30, None, 90, 100, 110]).alias("s")
        (
            target.alias("t")
            .merge(source, F.expr("t.id = s.id"))
            .whenMatchedDelete("s.w = 10")
            .whenMatchedUpdate("s.w > 25", {"v": "s.w + t.v"})
            .whenMatchedUpdate(set={"t.v": "-1"})
            .whenNotMatchedInsert("w = 90", {"id": "s.id", "v": "0"})
            .whenNotMatchedInsert("w = 100", {"id": "id * 2"})
            .whenNotMatchedBySourceDelete("v is null")
            .whenNotMatchedBySourceUpdate("t.v = 5", {"v": "v * 100"})
            .execute()
        )
        assert rows(table, spark) == [(2, -1), (20, None), (3, 33), (4, -1), (5, 500), (9, 0)]
        counts = metrics(table)
        assert counts["numTargetRowsMatchedDeleted"] == counts["numTargetRowsNotMatchedBySourceDeleted"] == 1
        assert (counts["numTargetRowsMatchedUpdated"], counts["numTargetRowsNotMatchedBySourceUpdated"]) == (
            3,
            1,
        )
        assert counts["numTargetRowsInserted"] == 2

    def test_several_matches_are_refused_where_they_would_act(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2], v=["a", "b"])
        twice = frame(spark, id=[1, 1, 3], v=["x", "y", "z"]).alias("s")
        merge = target.alias("t").merge(twice, "t.id = s.id")
        with pytest.raises(AmbiguousMerge):
            merge.whenMatchedUpdateAll().execute()
        with pytest.raises(AmbiguousMerge):
            merge.whenMatchedDelete("s.v > 'a'").execute()
        assert version(table) == 0
        merge.whenMatchedUpdate("s.v = 'y'", {"v": "s.v"}).execute()
        merge.whenNotMatchedInsertAll().execute()
        assert rows(table, spark) == [(1, "y"), (2, "b"), (3, "z")]
        merge.whenMatchedDelete().execute()
        assert rows(table, spark) == [(2, "b")]

    def test_only_touched_files_are_replaced(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2])
        write(frame(spark, id=[3, 4]).coalesce(1), table, mode="append")
        source = frame(spark, id=[4]).alias("s")
        target.alias("t").merge(source, "t.id = s.id").whenMatchedDelete().execute()
        assert len(commit(table)["remove"]) == 1
        assert rows(table, spark) == [(1,), (2,), (3,)]

    def test_a_merge_that_does_nothing_commits_nothing(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1])
        before = data_files(table)
        source = frame(spark, id=[7]).alias("s")
        target.alias("t").merge(source, "t.id = s.id").whenMatchedDelete().execute()
        target.alias("t").merge(source, "t.id = s.id").whenNotMatchedInsertAll("s.id > 9").execute()
        assert (version(table), data_files(table)) == (0, before)

    def test_a_source_that_is_computed_is_computed_once(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1, 2, 3])
        source = spark.range(1, 9).select("id", F.rand().alias("r")).repartition(3).alias("s")
        target.alias("t").merge(source, "t.id = s.id").whenMatchedUpdate(
            set={"id": "t.id * 10"}
        ).whenNotMatchedInsert(values={"id": "s.id"}).execute()
        assert sorted(row[0] for row in rows(table, spark)) == [4, 5, 6, 7, 8, 10, 20, 30]

    def test_what_can_not_be_is_refused_before_anything_is_written(self, spark, table, properties):
        target = make_table(spark, table, properties, id=[1], v=["a"])
        source = frame(spark, id=[1]).alias("s")
        merge = target.alias("t").merge(source, "t.id = s.id")
        with pytest.raises(InvalidArgument, match="without clauses"):
            merge.execute()
        with pytest.raises(InvalidArgument, match="could never act"):
            merge.whenMatchedDelete().whenMatchedUpdate(set={"v": "'x'"}).execute()
        with pytest.raises(AnalysisException):
            merge.whenMatchedUpdateAll().execute()
        with pytest.raises(AnalysisException):
            merge.whenNotMatchedInsert(values={"id": "t.id"}).execute()
        with pytest.raises(ValueError, match="set is missing"):
            merge.whenMatchedUpdate("true")
        assert version(table) == 0
