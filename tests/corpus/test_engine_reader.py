"""An engine's answers about states and change feeds are compared with the expected ones.

The engine is deltalake, and `mutants.py` gives it faults.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.corpus import expected_states
from conformance.corpus.cases import find
from conformance.corpus.engine_reader import HostReader
from delta_adapters.registry import parse_engine, with_adapter
from tests.corpus.conftest import METADATA, PROTOCOL, SCHEMA, write_rows

FEED = "delta.enableChangeDataFeed"
LISTED = {
    "minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["changeDataFeed", "appendOnly"],
}  # fmt: skip
STATE = {"protocol": LISTED, "metadata": {**METADATA, "configuration": {FEED: "true"}}}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """deltalake, with a fault only if a test names it in a file beside the table."""
    spec = with_adapter(parse_engine("delta-rs"), f"{Path(__file__).with_name('mutants.py')}:DeltaRsMutant")
    reader = HostReader(spec, tmp_path_factory.mktemp("host"))
    yield reader
    reader.close()


@pytest.fixture
def recorded(acceptance):
    """Two rows, of which one is updated, on a table with a change feed and features in a list."""
    table = acceptance.table
    table.commit({"protocol": LISTED}, {"metaData": STATE["metadata"]}).append((1, "a"), (2, "b"))
    write_rows(table.folder / "part-2.parquet", [(1, "a"), (2, "B")])
    changes = [(2, "b", "update_preimage"), (2, "B", "update_postimage")]
    ids, names, kinds = zip(*changes, strict=True)
    (table.folder / "_change_data").mkdir()
    cdc = {"id": pa.array(ids, pa.int64()), "name": list(names), "_change_type": list(kinds)}
    file = table.folder / "_change_data" / "cdc-2.parquet"
    pq.write_table(pa.table(cdc), file)
    gone = {
        "path": "part-1.parquet",
        "deletionTimestamp": 1,
        "dataChange": True,
        "partitionValues": {},
        "size": 1,
    }
    change = {"path": "_change_data/cdc-2.parquet", "partitionValues": {}, "dataChange": False}
    table.commit(
        {"remove": gone},
        {"add": table.added("part-2.parquet", 2)},
        {"cdc": change | {"size": file.stat().st_size}},
    )
    return acceptance


def feed(acceptance, *changes):
    """A spec of the feed from version 1 on, with these rows as what is expected."""
    folder = acceptance.folder / "expected" / "feed" / "expected_data"
    folder.mkdir(parents=True)
    ids, names, kinds, versions = zip(*changes, strict=True)
    times = pa.array([0] * len(ids), pa.timestamp("us", "UTC"))
    columns = {
        "id": pa.array(ids, pa.int64()), "name": list(names), "_change_type": list(kinds),
        "_commit_version": pa.array(versions, pa.int64()), "_commit_timestamp": times,
    }  # fmt: skip
    pq.write_table(pa.table(columns), folder / "part-0.parquet")
    expected = {"rowCount": len(changes)}
    acceptance.spec("feed", {"type": "cdf", "startVersion": 1, "endVersion": 2, "expected": expected})


CHANGES = (
    (1, "a", "insert", 1), (2, "b", "insert", 1), (2, "b", "update_preimage", 2), (2, "B", "update_postimage", 2),
)  # fmt: skip


def verdict(case, engine, fault=""):
    if fault:
        (case.folder / "fault").write_text(fault)
    (question,) = find([case.folder])
    return engine.judge(question)


# Change feeds


def test_a_change_feed_is_compared_row_by_row_without_the_times_of_commits(recorded, engine):
    feed(recorded, *CHANGES)
    assert verdict(recorded, engine).result == "passed"


def test_a_change_that_is_expected_and_missing_is_a_failure(recorded, engine):
    feed(recorded, *CHANGES[:3], (9, "B", "update_postimage", 2))
    judged = verdict(recorded, engine)
    assert judged.result == "failed"
    assert "1 row missing" in judged.why


@pytest.mark.parametrize(
    "fault", ("the last change is kept back", "all changes are inserts", "a recorded feed is refused")
)
def test_a_fault_in_changes_is_caught(recorded, engine, fault):
    feed(recorded, *CHANGES)
    assert verdict(recorded, engine, fault).result == "failed"


@pytest.mark.parametrize(("fault", "result"), (("", "passed"), ("the last change is kept back", "failed")))
def test_without_an_expectation_the_changes_must_lead_from_state_to_state(recorded, engine, fault, result):
    recorded.spec("feed", {"type": "cdf", "startVersion": 1})
    assert verdict(recorded, engine, fault).result == result


def test_what_was_not_recorded_must_be_refused(acceptance, engine):
    acceptance.table.create().append((1, "a"))
    error = {"errorCode": "DELTA_CHANGE_TABLE_FEED_DISABLED"}
    acceptance.spec("feed", {"type": "cdf", "startVersion": 0, "error": error})
    assert verdict(acceptance, engine).why.startswith("refused: ")


@pytest.mark.parametrize(
    "protocol",
    (
        {"minReaderVersion": 2, "minWriterVersion": 5},
        {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["columnMapping"],
         "writerFeatures": ["columnMapping", "changeDataFeed"]},
    ),
)  # fmt: skip
def test_a_feed_that_is_refused_for_a_feature_that_is_not_claimed_is_out_of_scope(
    acceptance, engine, protocol
):
    mapped = {FEED: "true", "delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
    fields = [
        field
        | {"metadata": {"delta.columnMapping.id": at, "delta.columnMapping.physicalName": field["name"]}}
        for at, field in enumerate(SCHEMA["fields"], 1)
    ]
    text = json.dumps({"type": "struct", "fields": fields})
    table = acceptance.table.commit(
        {"protocol": protocol}, {"metaData": {**METADATA, "configuration": mapped, "schemaString": text}}
    )
    table.append((1, "a"))
    acceptance.spec("feed", {"type": "cdf", "startVersion": 0, "expected": {"rowCount": 1}})
    assert verdict(acceptance, engine).why == "does not claim to read columnMapping"


def test_a_feed_that_must_fail_and_is_answered_is_a_failure(recorded, engine):
    error = {"errorCode": "DELTA_CHANGE_TABLE_FEED_DISABLED"}
    recorded.spec("feed", {"type": "cdf", "startVersion": 1, "error": error})
    assert verdict(recorded, engine).why == "told, expected DELTA_CHANGE_TABLE_FEED_DISABLED"


# States


def test_a_state_is_compared_in_all_that_the_engine_tells_of_it(recorded, engine):
    recorded.spec("state", {"type": "snapshot", "version": 2, "expected": STATE})
    assert (verdict(recorded, engine).result, verdict(recorded, engine).why) == ("passed", "")


@pytest.mark.parametrize(
    ("part", "why"),
    (
        ("id", "id '0', expected '1'"),
        ("createdTime", "createdTime 1700000000000, expected 1"),
        ("configuration", "configuration {'delta.enableChangeDataFeed': 'true'}, expected {}"),
        ("partitionColumns", "partitionColumns [], expected ['id']"),
    ),
)
def test_a_state_that_is_expected_otherwise_is_a_failure(recorded, engine, part, why):
    other = {"id": "1", "createdTime": 1, "configuration": {}, "partitionColumns": ["id"]}
    expected = {**STATE, "metadata": {**STATE["metadata"], part: other[part]}}
    recorded.spec("state", {"type": "snapshot", "version": 2, "expected": expected})
    assert (verdict(recorded, engine).result, verdict(recorded, engine).why) == ("failed", why)


@pytest.mark.parametrize(
    "fault",
    (
        "the table has no properties",
        "the writer version is 1",
        "no features are listed",
        "there are no columns",
        "the state is refused",
    ),
)
def test_a_fault_in_a_state_is_caught(recorded, engine, fault):
    recorded.spec("state", {"type": "snapshotConstruction", "version": 2, "expected": STATE})
    assert verdict(recorded, engine).result == "passed"
    assert verdict(recorded, engine, fault).result == "failed"


def test_an_engine_never_meets_the_checksums_that_hadoop_left_beside_a_table(recorded, engine):
    beside = recorded.table.log / f".{0:020}.json.crc"
    beside.write_bytes(b"crc\x00 of another text")
    recorded.spec("state", {"type": "snapshot", "version": 2, "expected": STATE})
    assert verdict(recorded, engine).result == "passed"
    (asked,) = [path for path in engine.work.iterdir() if path.name.startswith("table")]
    there = {path.name for path in (asked / "_delta_log").iterdir()}
    assert there == {path.name for path in recorded.table.log.iterdir()} - {beside.name}


def test_an_older_state_is_asked_for_by_its_version(acceptance, engine):
    acceptance.table.create(older="yes").append((1, "a")).commit({"metaData": {**METADATA, "id": "9"}})
    expected = {"protocol": PROTOCOL, "metadata": {**METADATA, "configuration": {"older": "yes"}}}
    acceptance.spec("state", {"type": "snapshot", "version": 1, "expected": expected})
    assert verdict(acceptance, engine).result == "passed"
    assert verdict(acceptance, engine, "the newest version is meant").why == "version 2, expected 1"


def test_where_there_is_no_table_none_must_be_described(acceptance, engine):
    (acceptance.table.folder / "_delta_log").rmdir()
    nothing: dict[str, object] = {"protocol": {}, "metadata": {"configuration": {}}}
    acceptance.spec("state", {"type": "snapshot", "version": -1, "expected": nothing})
    assert verdict(acceptance, engine).why == "refused: there is no table"
    assert verdict(acceptance, engine, "a table is described that is not there").result == "failed"


def test_the_properties_of_a_version_of_dat_are_asked_for_beside_its_rows(make_table, tmp_path, engine):
    case = tmp_path / "corpus" / "a_case"
    there = SimpleNamespace(folder=case)
    make_table(case / "delta").create(owner="me").append((1, "a"))
    (case / "test_case_info.json").write_text("{}")
    write_rows(case / "expected" / "latest" / "table_content" / "part-0.parquet", [(1, "a")])
    form = {"version": 1, "properties": {"owner": "me"}, "min_reader_version": 1, "min_writer_version": 2}
    (case / "expected" / "latest" / "table_version_metadata.json").write_text(json.dumps(form))
    assert verdict(there, engine).result == "passed"
    assert verdict(there, engine, "the table has no properties").result == "failed"


def test_a_table_without_a_schema_must_not_be_read(make_table, tmp_path, engine):
    table = SimpleNamespace(folder=tmp_path / "corpus")
    make_table(table.folder / "bare").commit(
        {"protocol": PROTOCOL}, {"metaData": {**METADATA, "schemaString": ""}}
    )
    assert verdict(table, engine).result == "out of scope"
    judged = verdict(table, engine, "rows are read where there is no schema")
    assert judged.why.startswith(
        "read, though the oracle refuses the table: the table's schema cannot be read"
    )


@pytest.mark.parametrize("kind", ("txn", "domain_metadata"))
def test_what_no_adapter_can_be_asked_is_out_of_scope_and_says_why(acceptance, engine, kind):
    acceptance.table.create()
    acceptance.spec("spec", {"type": kind, "expected": {}})
    assert verdict(acceptance, engine).why.startswith("the alphabet has no question for the ")


# Answers that have only parts of a state


def compared(**parts):
    return expected_states.compare_reported(parts, expected_states.facts_of_spec(STATE))


def test_what_an_engine_leaves_out_is_named_and_is_no_failure():
    comparison = compared(id="0", minWriterVersion=7, numFiles=None)
    assert comparison.differences == ()
    assert set(comparison.reported) == {"id", "minWriterVersion"}
    assert set(comparison.unreported) == {
        "minReaderVersion", "writerFeatures", "createdTime", "schemaString", "configuration",
    }  # fmt: skip


def test_features_in_one_list_must_be_those_of_both():
    assert not compared(tableFeatures=["appendOnly", "changeDataFeed"]).differences
    assert compared(tableFeatures=["appendOnly"]).differences
    assert compared(tableFeatures=["appendOnly", "changeDataFeed", "invariants"]).differences


def test_a_protocol_without_lists_may_be_given_by_what_its_version_implies():
    asked = expected_states.facts_of_spec({"protocol": PROTOCOL})
    assert not expected_states.compare_reported(
        {"tableFeatures": ["appendOnly", "invariants"]}, asked
    ).differences
    assert not expected_states.compare_reported({"tableFeatures": []}, asked).differences
    assert expected_states.compare_reported({"tableFeatures": ["changeDataFeed"]}, asked).differences


def test_columns_are_compared_without_what_is_noted_beside_them():
    noted = json.loads(json.dumps(SCHEMA))
    noted["fields"][0]["metadata"] = {"delta.columnMapping.id": 1}
    asked = expected_states.facts_of_spec({"metadata": {**METADATA, "schemaString": json.dumps(noted)}})
    assert not expected_states.compare_reported({"columns": json.dumps(SCHEMA)}, asked).differences
    assert expected_states.compare_reported({"schemaString": json.dumps(SCHEMA)}, asked).differences
    noted["fields"][0]["type"] = "integer"
    assert expected_states.compare_reported({"columns": json.dumps(noted)}, asked).differences
