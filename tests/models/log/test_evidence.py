"""Each rule of the log holds for honest tables, and counts once for every thing that it judges."""

from __future__ import annotations

from collections import Counter

import pytest

from delta_models.log import validity
from delta_models.requirements import OF_THE_LOG
from tests.damaged_logs.damages import PROTOCOL
from tests.models.log import honest
from tests.models.log.conftest import LogTable

# How often each rule is judged: all of a table with one file and its vector, and parts of two others.
OF_A_VECTOR = {
    1: (
        "dv.cardinality", "dv.file-exists", "dv.needs-feature", "dv.needs-property", "dv.num-records-present",
        "dv.rows-in-file", "dv.well-formed", "log.added-file-columns-known", "log.added-file-exists",
        "log.added-file-readable", "log.added-file-size", "log.column-names-unique", "log.commit-never-changes",
        "log.data-file-not-hidden", "log.data-files-not-overwritten", "log.data-pages",
        "log.feature-dependencies", "log.file-names-padded", "log.first-commit-has-metadata",
        "log.first-commit-has-protocol", "log.format-is-parquet", "log.page-format-legal",
        "log.partition-columns-atomic", "log.partition-columns-in-schema",
        "log.partition-value-agrees-with-file", "log.partition-value-readable", "log.partition-values-complete",
        "log.path-added-once", "log.path-removed-once", "log.reader-3-needs-writer-7",
        "log.reader-features-are-writer-features", "log.reader-features-iff-version-3",
        "log.reader-writer-feature-in-both-lists", "log.remove-carries-vector", "log.remove-has-timestamp",
        "log.remove-names-live-file", "log.schema-readable", "log.texts-are-utf8", "log.timestamps-adjusted",
        "log.versions-contiguous", "log.writer-feature-in-writer-list-only",
        "log.writer-features-iff-version-7", "stats.max-values", "stats.min-values", "stats.null-count",
        "stats.num-records", "stats.well-formed",
    ),
    2: (
        "dv.descriptor-well-formed", "log.path-is-uri",
    ),
    3: (
        "log.commit-is-json-lines", "log.field-type", "log.no-checkpoint-actions", "log.one-action-a-line",
        "log.one-metadata-a-commit", "log.one-protocol-a-commit", "log.required-field",
    ),
}  # fmt: skip
OF_CHANGE_DATA = {
    1: (
        "cdc.change-types", "cdc.equals-difference", "cdc.file-exists", "cdc.file-size",
        "cdc.partition-values-complete", "cdc.path-is-uri", "cdc.readable", "log.cdc-no-data-change",
        "log.remove-has-timestamp", "log.remove-names-live-file",
    ),
}  # fmt: skip
OF_A_FOLDER = {
    1: (
        "checkpoint.actions-well-formed", "checkpoint.adds-once", "checkpoint.after-commit",
        "checkpoint.data-pages", "checkpoint.equals-replay", "checkpoint.feature-lists",
        "checkpoint.hint-keys-once", "checkpoint.hint-names-checkpoint", "checkpoint.hint-size",
        "checkpoint.hint-well-formed", "checkpoint.keeps-clustering-provider", "checkpoint.keeps-removal-times",
        "checkpoint.keeps-stats", "checkpoint.keeps-tags", "checkpoint.keeps-tombstones",
        "checkpoint.no-provenance", "checkpoint.no-removed-domains", "checkpoint.omits-parsed-stats",
        "checkpoint.one-metadata", "checkpoint.one-protocol", "checkpoint.readable",
        "checkpoint.removes-without-stats", "checksum.after-commit", "checksum.agrees-with-state",
        "checksum.in-commit-timestamp", "checksum.metadata", "checksum.never-changes", "checksum.protocol",
        "checksum.well-formed",
    ),
}  # fmt: skip
OBSERVABLE = [requirement.id for requirement in OF_THE_LOG if requirement.unobservable is None]


def counts(table: LogTable) -> Counter[str]:
    return Counter(judgement.requirement for judgement in table.result())


@pytest.fixture(scope="session")
def held(tmp_path_factory):
    """How often each rule is judged in all honest tables."""
    total: Counter[str] = Counter()
    for write in honest.TABLES:
        table = LogTable(tmp_path_factory.mktemp(write.__name__) / "table")
        write(table)
        assert [checked for checked in table.result() if checked.violation is not None] == []
        total += counts(table)
    return total


@pytest.mark.parametrize("requirement", OBSERVABLE)
def test_an_honest_table_holds_the_rule(held, requirement):
    assert held[requirement] > 0


def test_only_rules_of_the_log_are_judged(held):
    assert set(held) <= set(OBSERVABLE)


@pytest.mark.parametrize(
    ("write", "pinned", "prefixes"),
    (
        (honest.vector_that_goes, OF_A_VECTOR, ("",)),
        (honest.change_data, OF_CHANGE_DATA, ("cdc.", "log.cdc", "log.remove")),
        (honest.every_file_of_a_log, OF_A_FOLDER, ("checkpoint.", "checksum.")),
    ),
    ids=("vector", "change data", "folder"),
)
def test_evidence_has_the_expected_counts(table, write, pinned, prefixes):
    write(table)
    result = {rule: times for rule, times in counts(table).items() if rule.startswith(prefixes)}
    assert result == {rule: times for times, rules in pinned.items() for rule in rules}


def test_violations_count_beside_what_holds(table):
    table.create()
    table.write(table.add("a.parquet"), table.add("b.parquet", size=1))
    result = [checked for checked in table.result() if checked.requirement == "log.added-file-size"]
    assert [checked.violation is None for checked in result] == [True, False]


def test_a_file_counts_once_for_a_column_rule_and_every_violation_is_reported(table):
    table.create()
    wrong_counts = {"nullCount": {"id": 7, "name": 7, "price": 1, "at": 1}}
    table.write(table.add("a.parquet"), table.add("b.parquet", stats=wrong_counts))
    result = [checked.violation for checked in table.result() if checked.requirement == "stats.null-count"]
    assert [None if violation is None else violation.columns for violation in result] == [
        None,
        ("id",),
        ("name",),
    ]


def test_log_files_that_already_counted_are_reported_only_if_wrong(table):
    honest.every_file_of_a_log(table)
    table.checkpoint({"protocol": PROTOCOL}, version=1)
    again = validity.judge_folder(table.reader, "reference", since=3)
    broken = {checked.requirement for checked in again if checked.violation is not None}
    assert broken == {"checkpoint.one-metadata"}
    of_files = {
        checked.requirement
        for checked in again
        if checked.requirement.startswith(("checkpoint.", "checksum."))
    }
    assert {of_file for of_file in of_files if ".hint-" not in of_file} == {*broken, "checksum.never-changes"}
