"""A change of few rows in one small file takes one Spark job; if it can't decide, two jobs give the same result."""

from __future__ import annotations

import pytest

from tests.pyspark_delta.small_tables import commit, data_files, frame, job_count, make_table, metrics, rows

pytestmark = pytest.mark.slow


def test_an_upsert_is_one_job_and_one_file(spark, table):
    target = make_table(spark, table, {}, id=[1, 2, 3], v=["a", "b", "c"])
    source = frame(spark, id=[2, 3, 4], v=["B", "C", "D"]).alias("s")
    merge = target.alias("t").merge(source, "t.id = s.id").whenMatchedUpdate("s.v = 'B'", {"v": "s.v"})
    before = job_count(spark)
    merge.whenMatchedDelete().whenNotMatchedInsertAll().execute()
    assert job_count(spark) == before + 1
    assert len(commit(table)["add"]) == len(commit(table)["remove"]) == 1
    assert rows(table, spark) == [(1, "a"), (2, "B"), (4, "D")]
    counts = metrics(table)
    assert [
        counts[f"numTargetRows{kind}"] for kind in ("Inserted", "MatchedUpdated", "MatchedDeleted", "Copied")
    ] == [1, 1, 1, 1]


def test_what_an_insertion_would_fail_for_may_match(spark, table):
    target = make_table(spark, table, {}, id=[1, 2], v=[10, 20])
    source = frame(spark, id=[1, 5], w=["no number", "50"]).alias("s")
    merge = target.alias("t").merge(source, "t.id = s.id").whenMatchedUpdate(set={"v": "t.v + 1"})
    merge.whenNotMatchedInsert(values={"id": "s.id", "v": "cast(s.w as bigint)"}).execute()
    assert rows(table, spark) == [(1, 11), (2, 20), (5, 50)]


def test_a_file_none_of_whose_rows_change_stays(spark, table):
    target = make_table(spark, table, {}, id=[1, 2])
    source = frame(spark, id=[3, 3]).alias("s")
    merge = target.alias("t").merge(source, "t.id = s.id").whenMatchedDelete().whenNotMatchedInsertAll()
    merge.execute()
    assert rows(table, spark) == [(1,), (2,), (3,), (3,)]
    assert commit(table)["remove"] == []
    assert len(data_files(table)) == 1 + len(commit(table)["add"])


def test_rows_may_meet_by_more_than_equality(spark, table):
    target = make_table(spark, table, {}, low=[0, 10, 20], v=["a", "b", "c"])
    source = frame(spark, at=[13, 47], w=["B", "D"]).alias("s")
    merge = target.alias("t").merge(source, "s.at >= t.low and s.at < t.low + 10")
    merge = merge.whenMatchedUpdate(set={"v": "s.w"}).whenNotMatchedBySourceDelete("t.v = 'c'")
    merge.whenNotMatchedInsert(values={"low": "at", "v": "w"}).execute()
    assert rows(table, spark) == [(0, "a"), (10, "B"), (47, "D")]


def test_all_columns_of_a_source_of_other_types_become_those_of_the_table(spark, table):
    target = make_table(spark, table, {}, id=[1, 2], v=["a", "b"])
    source = frame(spark, ID=[2, 3], v=[20, 30]).alias("s")
    merge = target.alias("t").merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll()
    before = job_count(spark)
    merge.execute()
    assert job_count(spark) == before + 1
    assert rows(table, spark) == [(1, "a"), (2, "20"), (3, "30")]


def test_an_update_of_one_small_file_is_one_job_too(spark, table):
    target = make_table(spark, table, {}, id=[1, 2, None], v=["a", "b", "c"])
    before = job_count(spark)
    target.alias("t").update("t.id > 1", {"v": "concat(upper(t.v), t.id)", "t.id": "t.id + 0.0"})
    assert job_count(spark) == before + 1
    assert rows(table, spark) == [(1, "a"), (2, "B2"), (None, "c")]
