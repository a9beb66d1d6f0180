"""From a folder to states and rows: all ways to load, all ways to fail, and the caches."""

from __future__ import annotations

import json
import os

import pytest

from delta_models.log import (
    BadPartitionValue,
    CorruptFile,
    CorruptLog,
    LogError,
    LogReader,
    MissingFile,
    MissingVersion,
    NoTable,
    UnsupportedFeature,
    VectorOutsideFile,
)
from delta_models.values import bag

FEATURES = ["deletionVectors", "v2Checkpoint", "domainMetadata"]
PROTOCOL = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": FEATURES[:2],
    "writerFeatures": FEATURES,
}
TXN = {"txn": {"appId": "app", "version": 3}}
DOMAIN = {"domainMetadata": {"domain": "mine", "configuration": "{}", "removed": False}}
ROWS = ((1, "a", 0.5, 7), (2, None, None, None), (3, "ä", -0.0, -1))


def four_versions(table):
    """Files a, b and c; then a loses its second row by a vector, b goes, and c is rewritten with other tags."""
    table.create(protocol=PROTOCOL)
    a, b, c = (table.add(f"{name}.parquet", list(ROWS)) for name in "abc")
    table.write(a, b, TXN, DOMAIN)
    table.write(c)
    revised = table.add(
        "a.parquet", list(ROWS), deletionVector=table.vector([1]), stats={"tightBounds": False}
    )
    table.write(table.remove(a), revised, table.remove(b), TXN)
    return {"a": revised, "b": b, "c": c, "old": a}


def contents(state):
    return (
        state.version,
        state.protocol,
        state.metadata,
        {key: (add.size, add.stats, dict(add.partition_values)) for key, add in state.live.items()},
        sorted(state.tombstones, key=repr),
        {name: transaction.version for name, transaction in state.transactions.items()},
        dict(state.domains),
    )


def test_rows_are_those_of_the_live_files_without_the_deleted_ones(table):
    four_versions(table)
    reader = table.reader
    state = reader.snapshot()
    expected = [(*row, "x") for row in ROWS] + [(*ROWS[0], "x"), (*ROWS[2], "x")]
    assert bag(state.schema, reader.rows(state).rows) == bag(state.schema, expected)
    assert [len(reader.rows(reader.snapshot(version))) for version in range(4)] == [0, 6, 9, 5]
    (revised,) = (add for add in state.live.values() if add.deletion_vector is not None)
    assert reader.deleted(revised) == {1}


def test_a_reader_that_follows_the_table_sees_what_a_cold_one_sees(table):
    following = LogReader(table.folder)
    table.create()
    for number in range(40):
        table.write(table.add(f"{number}.parquet", [ROWS[number % 3]]))
        assert contents(following.snapshot()) == contents(LogReader(table.folder).snapshot())
    for version in (3, 39, 0, 17):
        assert contents(following.snapshot(version)) == contents(LogReader(table.folder).snapshot(version))


def held(table, files):
    """The actions of a checkpoint of the newest of the four versions."""
    tombstones = [table.remove(files["old"]), table.remove(files["b"])]
    return [{"protocol": PROTOCOL}, table.metadata(), files["a"], files["c"], *tombstones, TXN, DOMAIN]


UUID = "5fba94ed-9794-4965-ba6e-6ee3c0d22af9"


def classic(table, inside):
    table.checkpoint(*inside, version=3)


def parts(table, inside):
    for part, actions in enumerate((inside[:3], inside[3:]), 1):
        table.checkpoint(*actions, name=f"{3:020d}.checkpoint.{part:010d}.{2:010d}.parquet")


def v2_parquet(table, inside):
    table.checkpoint(
        *inside, {"checkpointMetadata": {"version": 3}}, name=f"{3:020d}.checkpoint.{UUID}.parquet"
    )


def v2_classic(table, inside):
    table.checkpoint(*inside, {"checkpointMetadata": {"version": 3}}, version=3)


def sidecars(table, inside):
    files = [action for action in inside if "add" in action or "remove" in action]
    rest = [action for action in inside if action not in files]
    for number, part in enumerate((files[:2], files[2:])):
        path = table.checkpoint(*part, name=f"_sidecars/{number} s.parquet")
        size = path.stat().st_size
        rest.append(
            {"sidecar": {"path": f"{number}%20s.parquet", "sizeInBytes": size, "modificationTime": 1}}
        )
    return [*rest, {"checkpointMetadata": {"version": 3}}]


def v2_parquet_with_sidecars(table, inside):
    table.checkpoint(*sidecars(table, inside), name=f"{3:020d}.checkpoint.{UUID}.parquet")


def v2_json(table, inside):
    lines = [*inside, {"checkpointMetadata": {"version": 3}}]
    path = table.log / f"{3:020d}.checkpoint.{UUID}.json"
    path.write_text("\n".join(json.dumps(line) for line in lines))


def v2_json_with_sidecars(table, inside):
    path = table.log / f"{3:020d}.checkpoint.{UUID}.json"
    path.write_text("\n".join(json.dumps(line) for line in sidecars(table, inside)))


KINDS = (classic, parts, v2_parquet, v2_classic, v2_parquet_with_sidecars, v2_json, v2_json_with_sidecars)


@pytest.mark.parametrize("write", KINDS)
def test_a_version_loads_alike_from_a_checkpoint_of_any_kind(table, write):
    files = four_versions(table)
    table.write(table.add("d.parquet", [ROWS[0]]))
    expected = [contents(table.reader.snapshot(version)) for version in (3, 4)]
    write(table, held(table, files))
    for version in (3, 4):
        (start, _), (none, _) = table.reader.load_paths(version)
        assert none is None
        assert contents(table.reader.replay_from(version, start)) == expected[version - 3]
    for version in range(4):
        (table.log / f"{version:020d}.json").unlink()
    cold = LogReader(table.folder)
    assert [contents(cold.snapshot(version)) for version in (3, 4)] == expected
    assert len(cold.rows(cold.snapshot())) == 6
    with pytest.raises(MissingVersion):
        cold.snapshot(2)


def test_a_version_loads_alike_with_every_compaction(table):
    files = four_versions(table)
    inside = [files["a"], files["c"], table.remove(files["old"]), table.remove(files["b"]), TXN, DOMAIN]
    path = table.log / f"{1:020d}.{3:020d}.compacted.json"
    path.write_text("".join(json.dumps(action) + "\n" for action in inside))
    ways = table.reader.load_paths(3)
    assert len(ways) == 2
    one, other = (contents(table.reader.replay_from(3, *way)) for way in ways)
    assert one == other


def test_a_checkpoint_with_a_missing_part_is_not_there(table):
    files = four_versions(table)
    table.checkpoint(*held(table, files), name=f"{3:020d}.checkpoint.{1:010d}.{2:010d}.parquet")
    assert table.reader.starting_points(3) == (None,)


def test_a_checkpoint_that_cannot_be_read_is_not_needed_while_there_are_commits(table):
    four_versions(table)
    (table.log / f"{3:020d}.checkpoint.parquet").write_bytes(b"nothing")
    assert table.reader.snapshot().version == 3
    (table.log / f"{0:020d}.json").unlink()
    with pytest.raises(CorruptLog, match="cannot be read"):
        LogReader(table.folder).snapshot()


def test_a_sidecar_that_is_gone_makes_its_checkpoint_unreadable(table):
    files = four_versions(table)
    v2_json_with_sidecars(table, held(table, files))
    (table.log / "_sidecars" / "0 s.parquet").unlink()
    (table.log / f"{0:020d}.json").unlink()
    with pytest.raises(CorruptLog, match="no checkpoint file"):
        table.reader.snapshot()


def test_there_is_no_table_without_a_log(tmp_path):
    with pytest.raises(NoTable):
        LogReader(tmp_path).snapshot()
    assert LogReader(tmp_path).latest_version() is None
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(NoTable):
        LogReader(tmp_path).snapshot()


@pytest.mark.parametrize("version", (-1, 4))
def test_a_version_that_was_never_there_is_missing(table, version):
    four_versions(table)
    with pytest.raises(MissingVersion):
        table.reader.snapshot(version)


def test_a_gap_in_the_commits_is_corrupt(table):
    four_versions(table)
    (table.log / f"{2:020d}.json").unlink()
    with pytest.raises(CorruptLog, match="no commit 2"):
        table.reader.snapshot()
    assert table.reader.snapshot(1).version == 1


def test_a_torn_commit_is_named_with_its_version(table):
    four_versions(table)
    path = table.log / f"{2:020d}.json"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CorruptLog, match=r"00000000000000000002\.json:1"):
        table.reader.snapshot()


def test_features_that_the_reader_does_not_know_are_refused(table):
    table.create(protocol=PROTOCOL | {"readerFeatures": ["newest"], "writerFeatures": ["newest"]})
    with pytest.raises(UnsupportedFeature, match="newest"):
        table.reader.snapshot()


def test_features_for_writers_alone_are_not_refused(table):
    table.create(protocol={"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["newest"]})
    assert table.reader.snapshot().version == 0


def test_files_that_are_gone_or_broken_are_named(table):
    four_versions(table)
    state = table.reader.snapshot()
    (table.folder / "c.parquet").write_bytes(b"no parquet")
    with pytest.raises(CorruptFile):
        table.reader.rows(state)
    (table.folder / "c.parquet").unlink()
    with pytest.raises(MissingFile):
        table.reader.rows(state)


@pytest.mark.parametrize("path", ("%ED%A0%80.parquet", "a%00b.parquet", "x" * 300))
def test_a_path_that_no_file_system_takes_is_no_crash(table, path):
    table.create()
    table.write(table.add() | {"add": table.add()["add"] | {"path": path}})
    with pytest.raises(LogError):
        table.reader.rows(table.reader.snapshot())
    assert table.violations() == ["log.added-file-exists"]


@pytest.mark.parametrize(
    "path", ("part=é/a.parquet", "a b.parquet", "50%.parquet", "a%4.parquet", "\ud800.parquet", "a#b.parquet")
)
def test_a_path_with_a_raw_character_that_no_uri_has_is_named(table, path):
    table.create()
    table.write({"add": table.add()["add"] | {"path": path}})
    assert "log.path-is-uri" in table.violations()


@pytest.mark.parametrize(
    "path", ("part=%C3%A9/a.parquet", "a%20b.parquet", "a*b!c~d'e(f);g@h:i&j=k+l$m,n.parquet")
)
def test_a_path_within_the_characters_of_rfc_2396_is_a_uri(table, path):
    table.create()
    table.write({"add": table.add()["add"] | {"path": path}})
    assert "log.path-is-uri" not in table.violations()


def test_a_vector_that_names_rows_outside_its_file_is_named(table):
    table.create()
    table.write(table.add("a.parquet", list(ROWS), deletionVector=table.vector([3])))
    with pytest.raises(VectorOutsideFile):
        table.reader.rows(table.reader.snapshot())


def test_a_partition_value_of_another_type_is_named(table):
    table.create(fields=[{"name": "part", "type": "date", "nullable": True, "metadata": {}}])
    table.write(table.add(partitionValues={"part": "soon"}))
    with pytest.raises(BadPartitionValue):
        table.reader.rows(table.reader.snapshot())


def test_an_overwritten_commit_is_noticed_and_read_again(table):
    four_versions(table)
    reader = table.reader
    reader.snapshot()
    path = table.log / f"{3:020d}.json"
    path.write_text("")
    assert reader.changed_commits() == [path.name]
    assert len(reader.snapshot().live) == 3


def test_a_newest_commit_that_is_replaced_is_reported_though_another_follows_at_once(table):
    table.create()
    path = table.write(table.add("a.parquet"))
    assert len(table.reader.snapshot().live) == 1
    other = table.folder.joinpath("other.json")
    other.write_text(path.read_text() + json.dumps(TXN) + "\n")
    other.replace(path)
    table.write(table.add("b.parquet"))
    assert len(table.reader.snapshot().live) == 2
    assert table.reader.changed_commits() == [path.name]
    assert table.reader.changed_commits() == [], "reported once"


@pytest.mark.parametrize("look", ("snapshot", "commits"))
def test_a_replaced_commit_is_reported_whichever_call_read_it_again_first(table, look):
    table.create()
    path = table.write(table.add("a.parquet"))
    table.write(table.add("b.parquet"))
    table.reader.commits(0)
    path.write_text("")
    table.reader.snapshot() if look == "snapshot" else table.reader.commits(0)
    assert table.reader.changed_commits() == [path.name]


def test_a_touched_commit_has_not_changed(table):
    four_versions(table)
    table.reader.snapshot()
    os.utime(table.log / f"{3:020d}.json", (0, 0))
    assert table.reader.changed_commits() == []


def test_a_table_made_anew_in_the_same_place_is_another_table(table):
    four_versions(table)
    assert len(table.reader.snapshot().live) == 2
    for path in table.log.iterdir():
        path.unlink()
    table.version = -1
    table.create()
    assert len(table.reader.snapshot().live) == 0


def test_a_time_means_the_newest_version_that_is_not_younger(table):
    four_versions(table)
    for version, second in enumerate((100, 200, 150, 400)):
        os.utime(table.log / f"{version:020d}.json", (second, second))
    reader = table.reader
    # The third file is older than the second; it counts as a millisecond younger.
    assert reader.commit_times() == {0: 100_000, 1: 200_000, 2: 200_001, 3: 400_000}
    assert reader.version_at(100_000_000) == 0
    assert reader.version_at(200_000_999) == 1
    assert reader.version_at(399_999_999) == 2
    assert reader.version_at(10**15) == 3
    with pytest.raises(MissingVersion, match="before the oldest"):
        reader.version_at(99_999_999)
    with pytest.raises(MissingVersion, match="after the newest"):
        reader.version_at(10**15, beyond=False)


def test_in_commit_timestamps_count_from_their_enablement_on(table):
    table.create()
    on = {
        "delta.enableInCommitTimestamps": "true",
        "delta.inCommitTimestampEnablementVersion": "1",
        "delta.inCommitTimestampEnablementTimestamp": "5000",
    }
    table.write({"commitInfo": {"inCommitTimestamp": 5000}}, table.metadata(configuration=on))
    table.write({"commitInfo": {"inCommitTimestamp": 9000}})
    os.utime(table.log / f"{0:020d}.json", (1, 1))
    assert table.reader.commit_times() == {0: 1000, 1: 5000, 2: 9000}
    assert table.reader.version_at(8_999_000) == 1


def test_protocol_and_metadata_may_come_from_the_checksum_of_a_broken_version(table):
    four_versions(table)
    expected = table.reader.describe()
    state = {
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": table.metadata()["metaData"],
        "protocol": PROTOCOL,
    }
    table.checksum(3, tableSizeBytes=0, numFiles=0, **state)
    (table.log / f"{1:020d}.json").write_text("{")
    cold = LogReader(table.folder)
    with pytest.raises(CorruptLog):
        cold.snapshot()
    assert cold.describe() == expected


def test_columns_are_found_by_physical_name_or_by_id(table):
    def field(name, number, physical):
        metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}
        return {
            "name": name,
            "type": "long" if physical == "id" else "string",
            "nullable": True,
            "metadata": metadata,
        }

    fields = [
        field("renamed", 1, "id"),
        field("other", 2, "name"),
        field("gone", 3, "nowhere"),
        field("part", 4, "p-1"),
    ]
    configuration = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "4"}
    table.create(
        protocol={"minReaderVersion": 2, "minWriterVersion": 5}, fields=fields, configuration=configuration
    )
    table.write(table.add("a.parquet", list(ROWS), partitionValues={"p-1": "x"}))
    state = table.reader.snapshot()
    assert table.reader.rows(state).rows == ((1, "a", None, "x"), (2, None, None, "x"), (3, "ä", None, "x"))
    table.write(
        table.metadata(fields=fields, configuration=configuration | {"delta.columnMapping.mode": "id"})
    )
    with pytest.raises(CorruptFile, match="no field ids"):
        table.reader.rows(table.reader.snapshot())
