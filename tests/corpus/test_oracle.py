"""The oracle answers every kind of spec, and a wrong expectation is noticed."""

from __future__ import annotations

import json

import pytest

from conformance.corpus.cases import find
from conformance.corpus.oracle import Oracle
from tests.corpus.conftest import METADATA, PROTOCOL, write_rows


def verdicts(folder):
    oracle = Oracle()
    return {each.spec: oracle.judge(each) for each in find([folder])}


def results(folder):
    return {spec: verdict.result for spec, verdict in verdicts(folder).items()}


def test_reads_are_judged_by_their_rows(acceptance):
    acceptance.table.create().append((1, "a"), (2, "b")).append((3, None))
    acceptance.spec("all", {"type": "read", "expected": {"rowCount": 3}}, (3, None), (1, "a"), (2, "b"))
    acceptance.spec("before", {"type": "read", "version": 1}, (1, "a"), (2, "b"))
    acceptance.spec(
        "picked", {"type": "read", "predicate": "name like 'a%' OR name IS NULL"}, (1, "a"), (3, None)
    )
    acceptance.spec("in_time", {"type": "read", "timestamp": "2023-11-14 14:14:30"}, (1, "a"), (2, "b"))
    acceptance.spec("wrong_row", {"type": "read"}, (1, "a"), (2, "x"), (3, None))
    acceptance.spec(
        "wrong_count", {"type": "read", "expected": {"rowCount": 4}}, (1, "a"), (2, "b"), (3, None)
    )
    acceptance.spec("twice", {"type": "read"}, (1, "a"), (1, "a"), (2, "b"), (3, None))
    assert results(acceptance.folder) == {
        "all": "passed", "before": "passed", "picked": "passed", "in_time": "passed", "wrong_row": "failed",
        "wrong_count": "failed", "twice": "failed",
    }  # fmt: skip


def test_a_projection_is_judged_by_its_columns(acceptance):
    acceptance.table.create().append((1, "a"))
    acceptance.spec("both", {"type": "read", "columns": ["name", "id"]}, (1, "a"))
    acceptance.spec("one", {"type": "read", "columns": ["id"]}, (1, "a"))
    found = verdicts(acceptance.folder)
    assert found["both"].result == "passed"
    assert found["one"].result == "failed"
    assert "name" in found["one"].why


def test_states_are_judged_by_protocol_and_metadata(acceptance):
    acceptance.table.create(**{"delta.appendOnly": "true"})
    right = {"protocol": PROTOCOL, "metadata": {**METADATA, "configuration": {"delta.appendOnly": "true"}}}
    acceptance.spec("right", {"type": "snapshot", "version": 0, "expected": right})
    acceptance.spec(
        "built", {"type": "snapshotConstruction", "version": 0, "expected": {"version": 0, **right}}
    )
    acceptance.spec("wrong", {"type": "snapshot", "expected": {**right, "metadata": METADATA}})
    acceptance.spec(
        "newer", {"type": "snapshot", "expected": {**right, "protocol": {**PROTOCOL, "minReaderVersion": 2}}}
    )
    assert results(acceptance.folder) == {
        "right": "passed", "built": "passed", "wrong": "failed", "newer": "failed",
    }  # fmt: skip


def test_a_predicate_may_ask_where_a_row_comes_from(acceptance):
    properties = {"delta.enableRowTracking": "true"}
    table = acceptance.table.create(**properties).append((1, "a"), (2, "b"))
    write_rows(table.folder / "part-2.parquet", [(3, "c"), (4, "d")])
    tracked = {**table.added("part-2.parquet", 2), "baseRowId": 10, "defaultRowCommitVersion": 2}
    table.commit({"add": tracked})
    acceptance.spec("by_id", {"type": "read", "predicate": "_metadata.row_id = 11"}, (4, "d"))
    acceptance.spec(
        "by_version", {"type": "read", "predicate": "_metadata.row_commit_version >= 2"}, (3, "c"), (4, "d")
    )
    acceptance.spec(
        "by_file", {"type": "read", "predicate": "_metadata.file_name = 'part-1.parquet'"}, (1, "a"), (2, "b")
    )
    assert set(results(acceptance.folder).values()) == {"passed"}


def test_transactions_and_domains_are_judged(acceptance):
    acceptance.table.create().commit(
        {"txn": {"appId": "app", "version": 7}},
        {"domainMetadata": {"domain": "d", "configuration": "{}", "removed": False}},
    )
    acceptance.spec("txn", {"type": "txn", "expected": {"appId": "app", "txnVersion": 7}})
    acceptance.spec("txn_wrong", {"type": "txn", "expected": {"appId": "app", "txnVersion": 6}})
    domain = {"domain": "d", "configuration": "{}", "removed": False}
    acceptance.spec("domain", {"type": "domain_metadata", "expected": domain})
    acceptance.spec("domain_wrong", {"type": "domain_metadata", "expected": {**domain, "removed": True}})
    assert results(acceptance.folder) == {
        "txn": "passed", "txn_wrong": "failed", "domain": "passed", "domain_wrong": "failed",
    }  # fmt: skip


def test_change_feeds_are_judged_and_without_an_expectation_against_the_states(acceptance):
    acceptance.table.create(**{"delta.enableChangeDataFeed": "true"}).append((1, "a")).append((2, "b"))
    acceptance.spec(
        "counted", {"type": "cdf", "startVersion": 0, "endVersion": 1, "expected": {"rowCount": 1}}
    )
    acceptance.spec("wrong", {"type": "cdf", "startVersion": 0, "expected": {"rowCount": 3}})
    acceptance.spec("open", {"type": "cdf", "startVersion": 2})
    error = {"errorCode": "DELTA_INVALID_CDC_RANGE", "errorMessage": ""}
    acceptance.spec("backward", {"type": "cdf", "startVersion": 2, "endVersion": 1, "error": error})
    acceptance.spec(
        "beyond", {"type": "cdf", "startVersion": 2, "endVersion": 9, "expected": {"rowCount": 1}}
    )
    acceptance.spec(
        "after", {"type": "cdf", "startVersion": 3, "error": {"errorCode": "DELTA_INVALID_CDC_RANGE"}}
    )
    assert results(acceptance.folder) == {
        "beyond": "passed", "after": "passed", "counted": "passed", "wrong": "failed",
        "open": "passed", "backward": "passed",
    }  # fmt: skip


def test_a_change_feed_that_was_off_is_refused_for_that(acceptance):
    acceptance.table.create().append((1, "a"))
    acceptance.spec(
        "off", {"type": "cdf", "startVersion": 0, "error": {"errorCode": "DELTA_MISSING_CHANGE_DATA"}}
    )
    assert results(acceptance.folder) == {"off": "passed"}


def test_a_folder_without_a_table_is_the_state_before_the_first_commit(acceptance):
    (acceptance.folder / "delta" / "_delta_log").rmdir()
    empty = {"protocol": PROTOCOL, "metadata": {"partitionColumns": [], "configuration": {}}}
    acceptance.spec("empty", {"type": "snapshot", "version": -1, "expected": empty})
    acceptance.spec("error", {"type": "snapshot", "error": {"errorCode": "DELTA_TABLE_NOT_FOUND"}})
    assert results(acceptance.folder) == {"empty": "passed", "error": "passed"}


NEW_FEATURE = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["new"],
    "writerFeatures": ["new"],
}


def broken(*actions):
    return lambda table: table.create().append((1, "a")).commit(*actions)


def without(version):
    def break_it(table):
        table.create().append((1, "a")).append((2, "b"))
        (table.log / f"{version:020}.json").unlink()

    return break_it


def torn(table):
    table.create().append((1, "a"))
    path = table.log / f"{1:020}.json"
    path.write_text(path.read_text()[:-30])


def without_file(table):
    table.create().append((1, "a"))
    (table.folder / "part-1.parquet").unlink()


def twice(table):
    table.create().append((1, "a"))
    add = table.added("part-1.parquet", 1)
    table.commit({"add": add}, {"add": add})


@pytest.mark.parametrize(
    ("break_it", "code"),
    (
        (broken({"metaData": METADATA}, {"metaData": METADATA}), "DELTA_DUPLICATE_METADATA"),
        (broken({"protocol": PROTOCOL}, {"protocol": PROTOCOL}), "DELTA_STATE_RECOVER_ERROR"),
        (twice, "DELTA_DUPLICATE_ADD_IN_COMMIT"),
        (broken({"metaData": {**METADATA, "schemaString": "{}x"}}), "DELTA_INVALID_SCHEMA"),
        (
            broken({"metaData": {**METADATA, "schemaString": '{"type":"struct","fields":[]}'}}),
            "DELTA_READ_TABLE_WITHOUT_COLUMNS",
        ),
        (without(1), "DELTA_VERSIONS_NOT_CONTIGUOUS"),
        (without(0), "DELTA_TRUNCATED_TRANSACTION_LOG"),
        (torn, "DELTA_INVALID_JSON_COMMIT_FILE"),
        (without_file, "DELTA_FILE_NOT_FOUND_DETAILED"),
        (
            broken({"protocol": NEW_FEATURE}),
            "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
        ),
        (broken({"protocol": {"minReaderVersion": 4, "minWriterVersion": 7}}), "DELTA_INVALID_PROTOCOL_VERSION"),
        (
            broken({"metaData": {**METADATA, "configuration": {"delta.columnMapping.mode": "odd"}}}),
            "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE",
        ),
    ),
    ids=(
        "two metadata", "two protocols", "one file twice", "no schema", "no columns", "a gap", "no beginning", "torn",
        "no file", "an unknown feature", "a new version", "an odd mapping",
    ),
)  # fmt: skip
def test_a_damaged_table_is_refused_for_the_reason_of_its_code_and_for_no_other(acceptance, break_it, code):
    break_it(acceptance.table)
    acceptance.spec("right", {"type": "snapshot", "error": {"errorCode": code}})
    acceptance.spec(
        "other", {"type": "snapshot", "error": {"errorCode": "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH"}}
    )
    assert results(acceptance.folder) == {"right": "passed", "other": "failed"}


@pytest.mark.parametrize(
    ("form", "code"),
    (
        ({"type": "snapshot", "version": 9}, "DELTA_VERSION_NOT_FOUND"),
        ({"type": "snapshot", "version": -1}, "DELTA_TABLE_RESTORE_VERSION_INVALID"),
        (
            {"type": "snapshot", "timestamp": "2018-10-24 14:24:18.0"},
            "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
        ),
        ({"type": "snapshot", "timestamp": "2088-10-24"}, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"),
        ({"type": "read", "timestamp": "yesterday, or so"}, "INVALID_TIMESTAMP"),
        ({"type": "read", "predicate": "_metadata.odd > 1"}, "FIELD_NOT_FOUND"),
        ({"type": "read", "predicate": "odd > 1"}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ({"type": "read", "predicate": "id >"}, "PARSE_SYNTAX_ERROR"),
    ),
)
def test_a_question_without_an_answer_is_refused_for_its_reason(acceptance, form, code):
    acceptance.table.create().append((1, "a"))
    acceptance.spec("right", {**form, "error": {"errorCode": code}})
    acceptance.spec("wrong", {**form, "error": {"errorCode": "DELTA_FILE_NOT_FOUND"}})
    assert results(acceptance.folder) == {"right": "passed", "wrong": "failed"}


def test_a_sound_table_that_should_be_refused_fails(acceptance):
    acceptance.table.create().append((1, "a"))
    acceptance.spec("sound", {"type": "snapshot", "error": {"errorCode": "DELTA_VERSIONS_NOT_CONTIGUOUS"}})
    assert results(acceptance.folder) == {"sound": "failed"}


def test_a_dat_version_is_judged_by_rows_and_metadata(tmp_path, make_table):
    case = tmp_path / "case"
    make_table(case / "delta").create().append((1, "a"))
    (case / "test_case_info.json").write_text("{}")
    metadata = {"version": 1, "properties": {}, "min_reader_version": 1, "min_writer_version": 2}
    for state, change, rows in (
        ("latest", {}, [(1, "a")]),
        ("v1", {}, []),
        ("v2", {"min_writer_version": 7}, [(1, "a")]),
    ):
        place = case / "expected" / state
        write_rows(place / "table_content" / "part.parquet", rows)
        (place / "table_version_metadata.json").write_text(json.dumps({**metadata, **change}))
    assert results(tmp_path) == {"latest": "passed", "v1": "failed", "v2": "failed"}


def golden(make_table, folder, name, rows=None):
    table = make_table(folder / name / "delta")
    if rows is not None:
        write_rows(folder / name / "expected" / "part.parquet", rows)
    return table


def test_golden_tables_are_judged_by_rows_or_by_their_log(tmp_path, make_table):
    golden(make_table, tmp_path, "right", [(1, "a")]).create().append((1, "a"))
    golden(make_table, tmp_path, "wrong", [(2, "a")]).create().append((1, "a"))
    golden(make_table, tmp_path, "open").create().append((1, "a"))
    miscounted = golden(make_table, tmp_path, "miscounted").create().append((1, "a"))
    miscounted.commit({"add": {**miscounted.added("part-1.parquet", 9), "path": "./part-1.parquet"}})
    placeholders = golden(make_table, tmp_path, "placeholders").create()
    placeholders.commit({"add": placeholders.added("foo", 1)})
    golden(make_table, tmp_path, "gap").create().append((1, "a")).append((2, "b"))
    (tmp_path / "gap" / "delta" / "_delta_log" / f"{1:020}.json").unlink()
    golden(make_table, tmp_path, "refused_but_expected", [(1, "a")]).commit({"metaData": METADATA})
    found = verdicts(tmp_path)
    assert {spec: each.result for spec, each in found.items()} == {
        "right": "passed", "wrong": "failed", "open": "passed", "miscounted": "failed", "placeholders": "passed",
        "gap": "passed", "refused_but_expected": "failed",
    }  # fmt: skip
    assert "log.versions-contiguous" in found["gap"].why
    assert "placeholders" in found["placeholders"].why
