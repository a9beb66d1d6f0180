"""Operation metrics of commits, as the engines spell them, and where the check does not judge them."""

from __future__ import annotations

from dataclasses import replace

from conformance.checks.metrics import operation_metrics, plain_name
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log.actions import CommitInfo
from delta_models.log.commits import Commit
from delta_models.values import Rows
from tests.mutants import stories
from tests.mutants.metrics import Miscounts
from tests.mutants.stage import ALWAYS, play

VECTORS = ops.Create(stories.SCHEMA, (), (("delta.enableDeletionVectors", "true"),))
ONE_GOES = ops.Delete(stories.compare(stories.ID, "=", stories.number(1)))


class MiscountsRemovedFiles(Miscounts):
    """Adds one to the number of removed files."""

    names = ("numRemovedFiles",)


def test_metrics_are_whole_numbers_under_any_spelling():
    metrics = {
        "num_added_rows": 3,
        "numDeletedRows": "4",
        "executionTimeMs": "1.5",
        "filesAdded": '{"a":1}',
        "ok": True,
    }
    assert operation_metrics(Commit(0, "0", infos=(CommitInfo({"operationMetrics": metrics}),))) == {
        "numaddedrows": 3, "numdeletedrows": 4,
    }  # fmt: skip
    assert operation_metrics(Commit(0, "0", infos=(CommitInfo({"operationMetrics": [1]}),))) == {}
    assert operation_metrics(Commit(0, "0")) == {}
    assert plain_name("num_added_rows") == plain_name("numAddedRows")


def test_the_metrics_of_deltalake_are_right_without_change_data(tmp_path):
    histories: tuple[tuple[ops.Operation, ...], ...] = (
        stories.DELETE,
        stories.UPDATE,
        stories.MERGE,
        stories.MERGE_DELETES_ONCE,
    )
    for number, story in enumerate(histories):
        played = play(DeltaRs(), tmp_path / f"{number}" / "table", story)
        assert played.broken == ALWAYS, played.describe()
        assert played.evidence["metrics.files"] > 0


def test_metrics_of_files_are_not_judged_if_one_gets_a_new_vector(tmp_path):
    played = play(MiscountsRemovedFiles(), tmp_path / "table", (VECTORS, stories.FILL, ONE_GOES))
    assert played.broken == set(), played.describe()
    played = play(MiscountsRemovedFiles(), tmp_path / "other" / "table", (*stories.PLAIN, ONE_GOES))
    assert played.broken == {"metrics.files"}


def test_a_file_without_rows_may_count_although_it_is_not_added(tmp_path):
    class MiscountsOverwrites(Reference):
        def count_operation(self, operation, before, after, draft):
            more = isinstance(operation, ops.Overwrite)
            return {
                name: n + more * (name == "numFiles")
                for name, n in super().count_operation(operation, before, after, draft).items()
            }

    nothing, something = ops.Overwrite(Rows(stories.SCHEMA, ())), ops.Overwrite(stories.FILL.rows)
    played = play(MiscountsOverwrites(), tmp_path / "table", (*stories.PLAIN, nothing))
    assert played.broken == set(), played.describe()
    played = play(MiscountsOverwrites(), tmp_path / "other" / "table", (*stories.PLAIN, something))
    assert played.broken == {"metrics.files"}
    in_more = replace(something, files=len(something.rows.rows) + 1)
    played = play(MiscountsOverwrites(), tmp_path / "more" / "table", (*stories.PLAIN, in_more))
    assert played.broken == set(), played.describe()


def test_metrics_of_an_overwrite_of_some_rows_are_not_judged(tmp_path):
    played = play(Reference(), tmp_path / "table", stories.REPLACE_WHERE)
    assert played.broken == set()
    assert "metrics.rows-written" in played.evidence
