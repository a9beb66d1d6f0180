"""A commit happens once and completely, and the transaction recognises its own commit, whatever the storage answers."""

from __future__ import annotations

import errno
import json
import multiprocessing
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import (
    AppendOnlyTable,
    CommitOutcomeUnknown,
    InvalidArgument,
    NotADeltaTable,
    StorageFailure,
    UnsupportedTableFeature,
)
from pyspark_delta.log.actions import Add, DomainMetadata, Metadata, Txn
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.log.store import LocalStore
from tests.pyspark_delta import logs

SCHEMA = StructType([StructField("id", LongType()), StructField("p", StringType())])


def create(table: Path, partitions: tuple[str, ...] = (), **properties: str) -> DeltaLog:
    log = DeltaLog.for_path(table)
    transaction = log.begin()
    configuration = {name.replace("__", "."): value for name, value in properties.items()}
    transaction.new_table(
        Metadata("an-id", schemas.to_json(SCHEMA), partitions, configuration, created_time=1)
    )
    assert transaction.commit([], "CREATE TABLE") == 0
    return log


def file(name: str, **more: object) -> Add:
    return Add(name, more.pop("partition_values", {}), 10, 1, **more)  # type: ignore[arg-type]


def names(table: Path) -> set[str]:
    return {entry.name for entry in (table / "_delta_log").iterdir() if not entry.name.endswith(".crc")}


def test_a_table_that_is_made_here_is_read_by_deltalake(tmp_path):
    table = tmp_path / "t"
    log = create(table)
    pq.write_table(pa.table({"id": [1, 2], "p": ["a", None]}), table / "f1.parquet")
    size = (table / "f1.parquet").stat().st_size
    stats = '{"numRecords":2}'
    assert log.begin().commit([Add("f1.parquet", {}, size, 1, stats=stats)], "WRITE", {"mode": "Append"}) == 1
    theirs = deltalake.DeltaTable(table)
    assert theirs.version() == 1
    assert theirs.to_pyarrow_table().to_pydict() == {"id": [1, 2], "p": ["a", None]}
    assert theirs.history(1)[0]["operation"] == "WRITE"
    assert log.update().files().total_rows() == 2


def test_the_commit_says_who_did_what_first(tmp_path):
    log = create(tmp_path)
    metrics = {"numFiles": 1}
    log.begin().commit(
        [file("a")], "WRITE", {"mode": "Append", "partitionBy": []}, metrics, user_metadata="mine"
    )
    first, second = (tmp_path / "_delta_log" / f"{1:020d}.json").read_text().splitlines()
    info = json.loads(first)["commitInfo"]
    assert info["operationParameters"] == {"mode": "Append", "partitionBy": "[]"}
    assert info["operationMetrics"] == {"numFiles": "1"}
    assert info["readVersion"] == 0
    assert info["isBlindAppend"] is True
    assert info["userMetadata"] == "mine"
    assert json.loads(second)["add"]["path"] == "a"
    assert log.history(1)[0].commit_info.raw == info


def test_the_checksum_of_each_version_is_that_of_its_state(tmp_path):
    log = create(tmp_path)
    log.begin().commit([file("a"), file("b"), Txn("app", 3, 1)], "WRITE")
    log.begin().commit([log.update().files().adds()[0].remove(1)], "DELETE")
    body: dict[str, Any] = {}
    for version, files in ((0, 0), (1, 2), (2, 1)):
        body = json.loads((tmp_path / "_delta_log" / f"{version:020d}.crc").read_text())
        assert (body["numFiles"], body["tableSizeBytes"]) == (files, 10 * files)
        assert body["metadata"]["id"] == "an-id"
        assert (body["numMetadata"], body["numProtocol"]) == (1, 1)
    assert body["setTransactions"] == [{"appId": "app", "version": 3, "lastUpdated": 1}]


def test_nothing_is_committed_where_there_is_no_table(tmp_path):
    with pytest.raises(NotADeltaTable):
        DeltaLog.for_path(tmp_path).begin().commit([file("a")], "WRITE")
    assert list(tmp_path.iterdir()) == []


def test_a_transaction_commits_once(tmp_path):
    transaction = create(tmp_path).begin()
    transaction.commit([file("a")], "WRITE")
    with pytest.raises(InvalidArgument, match="committed as version 1"):
        transaction.commit([file("b")], "WRITE")


def test_blind_appends_come_one_after_another(tmp_path):
    log = create(tmp_path)
    transactions = [log.begin() for _ in range(4)]
    assert [transaction.commit([file(f"f{n}")], "WRITE") for n, transaction in enumerate(transactions)] == [
        1,
        2,
        3,
        4,
    ]
    assert log.update().num_files == 4


def append_many(who: str, table: Path, count: int, versions: Any) -> None:
    log = DeltaLog.for_path(table)
    for number in range(count):
        versions.put(log.begin().commit([file(f"{who}-{number}")], "WRITE"))


def test_no_commit_of_several_processes_is_lost(tmp_path):
    create(tmp_path)
    processes = multiprocessing.get_context("fork")
    versions = processes.Queue()
    workers = [processes.Process(target=append_many, args=(who, tmp_path, 25, versions)) for who in "abc"]
    for worker in workers:
        worker.start()
    acknowledged = [versions.get(timeout=60) for _ in range(75)]
    for worker in workers:
        worker.join(60)
    assert sorted(acknowledged) == list(range(1, 76))
    snapshot = DeltaLog.for_path(tmp_path).update()
    assert sorted(snapshot.files().raw_paths()) == sorted(f"{who}-{n}" for who in "abc" for n in range(25))
    assert not [name for name in names(tmp_path) if name.endswith(".tmp")]
    assert len(list((tmp_path / "_delta_log").glob("*.crc"))) == 76


class Unclear(LocalStore):
    """A disk that does or does not do what it should, and then reports an error."""

    done = True
    readable = True

    def put_if_absent(self, name: str, data: bytes) -> None:
        if self.done:
            super().put_if_absent(name, data)
        raise OSError(errno.EIO, "Input/output error")

    def read(self, name: str) -> bytes:
        if not self.readable:
            raise OSError(errno.EIO, "Input/output error")
        return super().read(name)


def unclear(log: DeltaLog, **how: bool) -> Unclear:
    store = Unclear(log.path)
    for name, value in how.items():
        setattr(store, name, value)
    return store


def test_a_commit_whose_answer_was_lost_is_recognised_and_not_repeated(tmp_path):
    log = create(tmp_path)
    transaction = log.begin()
    log.store = unclear(log)
    assert transaction.commit([file("a")], "WRITE") == 1
    DeltaLog.forget(tmp_path)
    assert DeltaLog.for_path(tmp_path).update().version == 1


def test_a_commit_that_the_storage_refused_has_not_happened(tmp_path):
    log = create(tmp_path)
    transaction = log.begin()
    log.store = unclear(log, done=False)
    with pytest.raises(StorageFailure, match=r"version 1 .* can't be committed"):
        transaction.commit([file("a")], "WRITE")
    assert names(tmp_path) == {f"{0:020d}.json"}


def test_a_commit_with_an_unknown_outcome_says_so(tmp_path):
    log = create(tmp_path)
    transaction = log.begin()
    log.store = unclear(log, readable=False)
    with pytest.raises(CommitOutcomeUnknown, match="did not say whether version 1"):
        transaction.commit([file("a")], "WRITE")


class Twice(LocalStore):
    """A storage that repeats a request whose answer was lost, so that its own file is in the way."""

    def put_if_absent(self, name: str, data: bytes) -> None:
        super().put_if_absent(name, data)
        if name.endswith(".json"):
            super().put_if_absent(name, data)


def test_ones_own_file_in_the_way_is_ones_own_commit(tmp_path):
    log = create(tmp_path)
    transaction = log.begin()
    log.store = Twice(log.path)
    assert transaction.commit([file("a")], "WRITE") == 1
    assert log.update().version == 1


class Interrupted(LocalStore):
    """A storage that raises Ctrl-C right after the commit."""

    def put_if_absent(self, name: str, data: bytes) -> None:
        super().put_if_absent(name, data)
        raise KeyboardInterrupt


def test_after_ctrl_c_the_transaction_knows_whether_it_was_too_late(tmp_path):
    log = create(tmp_path)
    transaction = log.begin()
    log.store = Interrupted(log.path)
    with pytest.raises(KeyboardInterrupt):
        transaction.commit([file("a")], "WRITE")
    assert transaction.committed_version == 1


def test_a_disk_that_fills_up_in_the_middle_of_a_commit_leaves_nothing_behind(tmp_path):
    log = create(tmp_path)
    transaction = log.begin()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(StorageFailure, match="can't be committed"):
            transaction.commit([file("a" * 5000)], "WRITE")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(tmp_path) == {f"{0:020d}.json"}
    assert log.begin().commit([file("b")], "WRITE") == 1


def test_a_folder_that_can_not_be_written_is_named(tmp_path):
    place = tmp_path / "file"
    place.write_text("in the way")
    transaction = DeltaLog.for_path(place / "t").begin()
    transaction.new_table(Metadata("x", schemas.to_json(SCHEMA)))
    with pytest.raises(StorageFailure, match="can't be committed"):
        transaction.commit([], "CREATE TABLE")


def test_failing_upkeep_does_not_fail_a_commit(tmp_path, caplog):
    log = create(tmp_path, delta__checkpointInterval="2")
    (tmp_path / "_delta_log" / f"{2:020d}.checkpoint.parquet").mkdir()
    for number in range(2):
        log.begin().commit([file(f"f{number}")], "WRITE")
    assert log.update().version == 2
    assert "upkeep after version 2 failed" in caplog.text


def test_an_append_only_table_takes_no_removal_of_rows_but_a_rearrangement(tmp_path):
    log = create(tmp_path, delta__appendOnly="true")
    log.begin().commit([file("a")], "WRITE")
    (add,) = log.update().files().adds()
    with pytest.raises(AppendOnlyTable):
        log.begin().commit([add.remove(1)], "DELETE")
    assert (
        log.begin().commit([add.remove(1, data_change=False), file("b", data_change=False)], "OPTIMIZE") == 2
    )


def test_what_an_append_only_table_takes_depends_on_its_property_before_the_commit(tmp_path):
    log = create(tmp_path)
    log.begin().commit([file("a")], "WRITE")

    def redefine(value: str) -> None:
        transaction = log.begin()
        snapshot = transaction.snapshot
        transaction.update_metadata(replace(snapshot.metadata, configuration={"delta.appendOnly": value}))
        removes = [add.remove(1) for add in snapshot.files().adds()]
        transaction.commit([*removes, file(f"then-{value}")], "CREATE OR REPLACE TABLE")

    redefine("true")
    with pytest.raises(AppendOnlyTable):
        redefine("false")
    assert [add.path for add in log.update().files().adds()] == ["then-true"]


@pytest.mark.parametrize(
    ("actions", "message"),
    (
        ([file("a"), file("a")], "added twice"),
        ([file("a"), file("a").remove(1)], "added and removed"),
        ([file("a", partition_values={"p": "1"})], r"has values for \['p'\]"),
        ([Txn("a", 1), Txn("a", 2)], "transaction id appears twice"),
        ([DomainMetadata("d", "{}")], "domainMetadata"),
    ),
    ids=str,
)
def test_a_commit_that_no_reader_could_make_sense_of_is_refused(tmp_path, actions, message):
    log = create(tmp_path)
    with pytest.raises(InvalidArgument, match=message):
        log.begin().commit(actions, "WRITE")
    assert log.update().version == 0


def test_properties_raise_the_protocol_as_far_as_needed(tmp_path):
    assert create(tmp_path / "plain").update().protocol.to_json() == {
        "minReaderVersion": 1,
        "minWriterVersion": 2,
    }
    constrained = create(tmp_path / "constrained", delta__constraints__c="id > 0").update()
    assert constrained.protocol.to_json() == {"minReaderVersion": 1, "minWriterVersion": 3}
    vectors = create(tmp_path / "vectors", delta__enableDeletionVectors="true").update()
    assert vectors.protocol.to_json() == {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["appendOnly", "deletionVectors", "invariants"],
    }
    requested = create(tmp_path / "asked", delta__feature__domainMetadata="supported").update()
    assert requested.protocol.writer_features == frozenset({"appendOnly", "domainMetadata", "invariants"})
    assert requested.protocol.min_reader == 1
    assert requested.properties == {}


@pytest.mark.parametrize(
    ("name", "value", "feature"),
    (
        ("delta__enableChangeDataFeed", "true", "changeDataFeed"),
        ("delta__columnMapping__mode", "name", "columnMapping"),
        ("delta__enableRowTracking", "true", "rowTracking"),
        ("delta__enableInCommitTimestamps", "true", "inCommitTimestamp"),
        ("delta__enableTypeWidening", "true", "typeWidening"),
        ("delta__enableIcebergCompatV2", "true", "icebergCompatV2"),
        ("delta__checkpointPolicy", "v2", "v2Checkpoint"),
        ("delta__feature__clustering", "supported", "clustering"),
    ),
)
def test_what_can_not_be_written_is_refused_by_name_when_asked_for(tmp_path, name, value, feature):
    with pytest.raises(UnsupportedTableFeature, match=feature):
        create(tmp_path, **{name: value})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("protocol", "properties", "field_metadata", "feature"),
    (
        ((1, 4), {"delta__enableChangeDataFeed": "true"}, {}, "changeDataFeed"),
        ((1, 4), {}, {"delta.generationExpression": "1"}, "generatedColumns"),
        ((1, 6), {}, {"delta.identity.start": 1}, "identityColumns"),
        ((2, 5), {"delta__columnMapping__mode": "name"}, {}, "columnMapping"),
        (["rowTracking", "domainMetadata"], {}, {}, "rowTracking"),
        (["allowColumnDefaults"], {}, {"CURRENT_DEFAULT": "1"}, "allowColumnDefaults"),
        (["icebergCompatV1"], {}, {}, "icebergCompatV1"),
        (["somethingNew"], {}, {}, "somethingNew"),
    ),
    ids=str,
)
def test_a_table_that_uses_what_this_engine_can_not_write_is_refused_by_name(
    tmp_path, protocol, properties, field_metadata, feature
):
    if isinstance(protocol, tuple):
        body: dict[str, object] = {"minReaderVersion": protocol[0], "minWriterVersion": protocol[1]}
    else:
        body = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": protocol}
    field = {"name": "id", "type": "long", "nullable": True, "metadata": field_metadata}
    text = json.dumps({"type": "struct", "fields": [field]})
    logs.commit(tmp_path, 0, {"protocol": body}, logs.metadata(text, **properties))
    with pytest.raises(UnsupportedTableFeature, match=feature):
        DeltaLog.for_path(tmp_path).begin().commit([file("a")], "WRITE")


@pytest.mark.parametrize("version", (4, 5, 6))
def test_features_that_an_old_table_implies_but_does_not_use_are_no_hindrance(tmp_path, version):
    body = {"minReaderVersion": 1 if version < 5 else 2, "minWriterVersion": version}
    logs.commit(tmp_path, 0, {"protocol": body}, logs.metadata())
    assert DeltaLog.for_path(tmp_path).begin().commit([file("a")], "WRITE") == 1


def test_a_commit_to_a_large_table_does_not_touch_its_state(tmp_path):
    small, large = (create(tmp_path / name) for name in ("small", "large"))
    small.begin().commit([file(f"f{n}") for n in range(100)], "WRITE")
    large.begin().commit([file(f"f{n}") for n in range(50_000)], "WRITE")

    def seconds(log: DeltaLog) -> float:
        durations = []
        for number in range(7):
            transaction = log.begin()
            start = time.perf_counter()
            transaction.commit([file(f"g{number}")], "WRITE")
            durations.append(time.perf_counter() - start)
        return sorted(durations)[2]

    seconds(small), seconds(large)
    # Both are a few milliseconds; writing or copying 50,000 files would be hundreds.
    assert seconds(large) < seconds(small) + 0.05
    assert (tmp_path / "large" / "_delta_log" / f"{2:020d}.json").stat().st_size < 1000
