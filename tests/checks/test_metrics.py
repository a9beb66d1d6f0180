"""Counts that a commit gives of itself, in the spellings of the engines, and where they are not judged."""

from __future__ import annotations

from dataclasses import replace

from conformance.checks.metrics import metrics_of, plain
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log.actions import CommitInfo
from delta_models.log.commits import Commit
from delta_models.values import Rows
from tests.mutants import stories
from tests.mutants.counters import Miscounts
from tests.mutants.stage import ALWAYS, play

VECTORS = ops.Create(stories.SCHEMA, (), (("delta.enableDeletionVectors", "true"),))
ONE_GOES = ops.Delete(stories.compare(stories.ID, "=", stories.number(1)))


class MiscountsRemovedFiles(Miscounts):
    """Says of every commit that it removed a file more."""

    names = ("numRemovedFiles",)


def test_counts_are_found_under_any_spelling_and_other_values_are_left_out():
    said = {
        "num_added_rows": 3,
        "numDeletedRows": "4",
        "executionTimeMs": "1.5",
        "filesAdded": '{"a":1}',
        "ok": True,
    }
    assert metrics_of(Commit(0, "0", infos=(CommitInfo({"operationMetrics": said}),))) == {
        "numaddedrows": 3, "numdeletedrows": 4,
    }  # fmt: skip
    assert metrics_of(Commit(0, "0", infos=(CommitInfo({"operationMetrics": [1]}),))) == {}
    assert metrics_of(Commit(0, "0")) == {}
    assert plain("num_added_rows") == plain("numAddedRows")


def test_what_deltalake_counts_is_right_where_it_writes_data_files_alone(tmp_path):
    told: tuple[tuple[ops.Operation, ...], ...] = (
        stories.DELETE,
        stories.UPDATE,
        stories.MERGE,
        stories.MERGE_DELETES_ONCE,
    )
    for at, story in enumerate(told):
        played = play(DeltaRs(), tmp_path / f"{at}" / "table", story)
        assert played.broken == ALWAYS, played.told()
        assert played.evidence["metrics.files"] > 0


def test_counts_of_files_are_not_judged_where_one_stays_with_another_vector(tmp_path):
    played = play(MiscountsRemovedFiles(), tmp_path / "table", (VECTORS, stories.FILL, ONE_GOES))
    assert played.broken == set(), played.told()
    played = play(MiscountsRemovedFiles(), tmp_path / "other" / "table", (*stories.PLAIN, ONE_GOES))
    assert played.broken == {"metrics.files"}


def test_a_file_without_rows_may_be_counted_though_it_is_not_added(tmp_path):
    class MiscountsOverwrites(Reference):
        def count_operation(self, operation, before, after, draft):
            more = isinstance(operation, ops.Overwrite)
            return {
                name: n + more * (name == "numFiles")
                for name, n in super().count_operation(operation, before, after, draft).items()
            }

    nothing, something = ops.Overwrite(Rows(stories.SCHEMA, ())), ops.Overwrite(stories.FILL.rows)
    played = play(MiscountsOverwrites(), tmp_path / "table", (*stories.PLAIN, nothing))
    assert played.broken == set(), played.told()
    played = play(MiscountsOverwrites(), tmp_path / "other" / "table", (*stories.PLAIN, something))
    assert played.broken == {"metrics.files"}
    in_more = replace(something, files=len(something.rows.rows) + 1)
    played = play(MiscountsOverwrites(), tmp_path / "more" / "table", (*stories.PLAIN, in_more))
    assert played.broken == set(), played.told()


def test_an_overwrite_of_some_rows_is_not_judged(tmp_path):
    played = play(Reference(), tmp_path / "table", stories.REPLACE_WHERE)
    assert played.broken == set()
    assert "metrics.rows-written" in played.evidence
