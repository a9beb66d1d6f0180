"""Each rule of the log has here a table that breaks it and nothing else, beside an honest table that breaks nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from delta_models.log.canonical import checksum
from delta_models.log.deletion_vectors import inline
from delta_models.requirements.log import REQUIREMENTS

ICT = {"delta.enableInCommitTimestamps": "true"}
TXN = {"txn": {"appId": "app", "version": 3, "lastUpdated": 5}}
DOMAIN = {"domainMetadata": {"domain": "mine", "configuration": "{}", "removed": False}}
DAMAGES: dict[str, Callable[[Any], None]] = {}
MAPPED = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
MAPPING = {"minReaderVersion": 2, "minWriterVersion": 5}


def damage(requirement: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    def register(write: Callable[[Any], None]) -> Callable[[Any], None]:
        assert requirement not in DAMAGES
        DAMAGES[requirement] = write
        return write

    return register


def simple(requirement: str, *changes: str, **fields: Any) -> None:
    """The damage is one changed field of an add; `changes` are fields to leave out."""

    def write(table):
        table.create()
        action = table.add(**fields)
        for name in changes:
            del action["add"][name]
        table.write(action)

    damage(requirement)(write)


def mapped_field(name: str, number: int | None, physical: str, data_type: Any = "long") -> dict[str, Any]:
    metadata = (
        {}
        if number is None
        else {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}
    )
    return {"name": name, "type": data_type, "nullable": True, "metadata": metadata}


def test_an_honest_table_breaks_nothing(table):
    table.create()
    first, second = table.add("a.parquet"), table.add("b c.parquet", path="b%20c.parquet")
    table.write(TXN, DOMAIN, first, second)
    table.write(
        table.remove(first),
        table.add("a.parquet", deletionVector=table.vector([0, 3]), stats={"tightBounds": False}),
    )
    # The metadata of a live file may be written again.
    table.write(second | {"add": second["add"] | {"dataChange": False, "tags": {"a": "b"}}})
    table.write({"unknownAction": {"a": 1}}, {"commitInfo": {"unknownField": 1}})
    table.write(table.metadata(name="other"))
    assert table.breaches() == []


def test_an_honest_table_with_every_file_of_a_log_breaks_nothing(table):
    table.create()
    first = table.add("a.parquet")
    table.write(first, TXN, DOMAIN)
    second = table.add("b.parquet")
    table.write(table.remove(first), second)
    inside = [
        {"protocol": PROTOCOL},
        table.metadata(),
        second,
        table.remove(first, dataChange=False),
        TXN,
        DOMAIN,
    ]
    table.checkpoint(*inside)
    table.hint(version=2, size=len(inside))
    state = {
        "metadata": table.metadata()["metaData"],
        "protocol": PROTOCOL,
        "numMetadata": 1,
        "numProtocol": 1,
    }
    table.checksum(2, tableSizeBytes=second["add"]["size"], numFiles=1, **state)
    for name in (
        "_last_vacuum_info",
        ".00000000000000000001.json.crc",
        "notes.txt",
        "00000000000000000001.json.tmp",
    ):
        (table.log / name).write_text("anything")
    (table.log / "_staged_commits").mkdir()
    table.write(table.remove(second))
    assert table.breaches() == []


def test_statistics_that_are_cut_as_the_protocol_allows_break_nothing(table):
    table.create()
    long = "abc" * 20
    rows = [(1, long, 0.5, 1_000_123), (2, long + "z", 1.5, 1_500_999)]
    stats = {
        "minValues": {"id": 1, "name": long[:32], "price": 0.5, "at": "1970-01-01T00:00:01.000Z"},
        "maxValues": {
            "id": 2,
            "name": long[:31] + "\U0010ffff",
            "price": 1.5,
            "at": "1970-01-01T00:00:01.501Z",
        },
    }
    table.write(table.add(rows=rows, stats=stats))
    assert table.breaches() == []


def test_wide_statistics_may_be_wider_than_the_rows(table):
    table.create()
    wide = {
        "tightBounds": False,
        "minValues": {"id": -5, "name": "a"},
        "maxValues": {"id": 99, "name": "z"},
        "nullCount": {"id": 3, "name": 2},
    }
    table.write(table.add(stats=wide, deletionVector=table.vector([2])))
    assert table.breaches() == []


@pytest.mark.parametrize("requirement", [each.id for each in REQUIREMENTS if each.unobservable is None])
def test_a_damaged_table_breaks_the_rule_and_no_other(table, requirement):
    DAMAGES[requirement](table)
    assert table.breaches() == [requirement]


def test_every_damage_belongs_to_a_requirement():
    assert sorted(DAMAGES) == sorted(each.id for each in REQUIREMENTS if each.unobservable is None)


FAR_AHEAD = 10**14
PROTOCOL: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors", "appendOnly", "domainMetadata", "inCommitTimestamp"],
}

# Commits


@damage("log.commit-is-json-lines")
def _torn_line(table):
    table.create()
    path = table.write(table.add())
    path.write_text(path.read_text()[:-20])


@damage("log.one-action-a-line")
def _two_actions_in_a_line(table):
    table.create()
    table.write(table.add() | TXN)


simple("log.required-field", "modificationTime")
simple("log.field-type", modificationTime="yesterday")


@damage("log.versions-contiguous")
def _gap(table):
    table.create()
    action = table.add()
    table.write(action)
    table.checkpoint({"protocol": PROTOCOL}, table.metadata(), action, version=2)
    table.hint(version=2, size=3)
    table.write(version=3)


@damage("log.commit-never-changes")
def _commit_written_again(table):
    table.create()
    path = table.write(table.add())
    table.reader.snapshot()
    path.write_text(path.read_text() + json.dumps(TXN))


@damage("log.oldest-version-has-checkpoint")
def _no_checkpoint_for_the_oldest(table):
    table.create()
    table.write(table.add())
    (table.log / f"{0:020d}.json").unlink()


@damage("log.first-commit-has-protocol")
def _no_protocol(table):
    table.write(table.metadata())


@damage("log.first-commit-has-metadata")
def _no_metadata(table):
    table.write({"protocol": PROTOCOL})


@damage("log.one-metadata-a-commit")
def _two_metadatas(table):
    table.create()
    table.write(table.metadata(), table.metadata())


@damage("log.one-protocol-a-commit")
def _two_protocols(table):
    table.create()
    table.write({"protocol": PROTOCOL}, {"protocol": PROTOCOL})


@damage("log.one-transaction-an-application")
def _two_transactions(table):
    table.create()
    table.write(TXN, TXN)


@damage("log.one-action-a-domain")
def _two_domains(table):
    table.create()
    table.write(DOMAIN, DOMAIN)


@damage("log.no-checkpoint-actions")
def _sidecar_in_a_commit(table):
    table.create()
    table.write({"sidecar": {"path": "x", "sizeInBytes": 1, "modificationTime": 1}})


# Files


@damage("log.path-is-uri")
def _percent_that_is_none(table):
    table.create()
    table.write(table.add("50%.parquet"))


@damage("log.path-added-once")
def _added_twice(table):
    table.create()
    table.write(table.add(), table.add())


@damage("log.path-removed-once")
def _removed_twice(table):
    table.create()
    action = table.add()
    table.write(action)
    table.write(table.remove(action), table.remove(action))


@damage("log.no-add-and-remove-of-one-file")
def _added_and_removed(table):
    table.create()
    action = table.add()
    table.write(action)
    table.write(table.remove(action), action)


@damage("log.remove-names-live-file")
def _removed_again(table):
    table.create()
    action = table.add()
    table.write(action)
    table.write(table.remove(action))
    table.write(table.remove(action))


@damage("log.remove-carries-vector")
def _remove_without_the_vector(table):
    table.create()
    action = table.add(deletionVector=table.vector([1]), stats={"tightBounds": False})
    table.write(action)
    action["add"].pop("deletionVector")
    table.write(table.remove(action))


@damage("log.add-replaces-live-file")
def _added_without_removing(table):
    table.create()
    table.write(table.add())
    table.write(table.add(deletionVector=table.vector([1]), stats={"tightBounds": False}))


@damage("log.remove-extended-metadata")
def _extended_metadata_that_is_missing(table):
    table.create()
    action = table.add()
    table.write(action)
    table.write(table.remove(action, extendedFileMetadata=True, size=1))


@damage("log.cdc-no-data-change")
def _cdc_with_data_change(table):
    table.create()
    table.write({"cdc": {"path": "_change_data/x", "partitionValues": {}, "size": 1, "dataChange": True}})


simple("log.partition-values-complete", partitionValues={})
simple("log.added-file-size", size=1)


@damage("log.partition-value-readable")
def _partition_value_of_another_type(table):
    table.create(fields=[LONG | {"name": "id"}, LONG | {"name": "part"}])
    table.write(
        table.add(partitionValues={"part": "12x"}, stats={"nullCount": {}, "minValues": {}, "maxValues": {}})
    )


@damage("log.partition-value-agrees-with-file")
def _partition_value_in_the_file(table):
    table.create(partitionColumns=["name"])
    action = table.add(partitionValues={"name": "one"})
    table.write(action)


@damage("log.append-only")
def _remove_from_append_only(table):
    table.create(configuration={"delta.appendOnly": "true"})
    action = table.add()
    table.write(action)
    table.write(table.remove(action))


@damage("log.added-file-exists")
def _no_such_file(table):
    table.create()
    table.write(table.add())
    (table.folder / "a.parquet").unlink()


@damage("log.added-file-readable")
def _no_parquet(table):
    table.create()
    action = table.add()
    (table.folder / "a.parquet").write_bytes(b"x" * action["add"]["size"])
    table.write(action)


# Protocol and metadata


def protocol_damage(requirement: str, **changes: Any) -> None:
    def write(table):
        form = {key: value for key, value in (PROTOCOL | changes).items() if value is not None}
        table.create(protocol=form, configuration={})

    damage(requirement)(write)


protocol_damage("log.reader-features-iff-version-3", minReaderVersion=2)
protocol_damage("log.writer-features-iff-version-7", writerFeatures=None, readerFeatures=[])
protocol_damage("log.reader-3-needs-writer-7", minWriterVersion=6, writerFeatures=None, readerFeatures=[])
protocol_damage("log.reader-features-are-writer-features", writerFeatures=[])
protocol_damage("log.reader-writer-feature-in-both-lists", readerFeatures=[])
protocol_damage("log.writer-feature-in-writer-list-only", readerFeatures=["deletionVectors", "appendOnly"])


def schema_damage(requirement: str, **changes: Any) -> None:
    damage(requirement)(lambda table: table.create(**{"partitionColumns": [], **changes}))


LONG = {"name": "a", "type": "long", "nullable": True, "metadata": {}}
schema_damage("log.schema-readable", schemaString="{}")
schema_damage("log.column-names-unique", fields=[LONG, LONG | {"name": "A"}])
schema_damage("log.partition-columns-in-schema", partitionColumns=["nowhere"])
schema_damage(
    "log.partition-columns-atomic",
    fields=[LONG, LONG | {"name": "s", "type": {"type": "struct", "fields": [LONG]}}],
    partitionColumns=["s"],
)
schema_damage("log.format-is-parquet", format={"provider": "orc", "options": {}})
schema_damage("log.type-needs-feature", fields=[LONG | {"type": "timestamp_ntz"}])
schema_damage(
    "schema.column-mapping-complete",
    protocol=MAPPING,
    configuration=MAPPED,
    fields=[mapped_field("a", 1, "x"), mapped_field("b", None, "")],
)
schema_damage(
    "schema.column-ids-unique",
    protocol=MAPPING,
    configuration=MAPPED,
    fields=[mapped_field("a", 1, "x"), mapped_field("b", 1, "y")],
)
schema_damage(
    "schema.physical-names-unique",
    protocol=MAPPING,
    configuration=MAPPED,
    fields=[mapped_field("a", 1, "x"), mapped_field("b", 2, "x")],
)
schema_damage(
    "schema.max-column-id",
    protocol=MAPPING,
    configuration=MAPPED,
    fields=[mapped_field("a", 1, "x"), mapped_field("b", 3, "y")],
)


@damage("log.domain-needs-feature")
def _domain_without_feature(table):
    table.create(protocol={"minReaderVersion": 1, "minWriterVersion": 2}, configuration={})
    table.write(DOMAIN)


@damage("log.row-tracking-fields")
def _no_row_ids(table):
    protocol = PROTOCOL | {"writerFeatures": [*PROTOCOL["writerFeatures"], "rowTracking"]}
    table.create(protocol=protocol)
    action = table.add()
    del action["add"]["baseRowId"]
    table.write(action)


@damage("log.in-commit-timestamp-needs-feature")
def _in_commit_timestamps_without_feature(table):
    table.create(protocol={"minReaderVersion": 1, "minWriterVersion": 2}, configuration=ICT)


def in_commit(time: int | None) -> dict[str, Any]:
    return {"commitInfo": {"operation": "WRITE"} | ({} if time is None else {"inCommitTimestamp": time})}


@damage("log.in-commit-timestamp-first")
def _info_last(table):
    table.write({"protocol": PROTOCOL}, table.metadata(configuration=ICT), in_commit(5))


@damage("log.in-commit-timestamp-present")
def _info_without_time(table):
    table.write(in_commit(None), {"protocol": PROTOCOL}, table.metadata(configuration=ICT))


@damage("log.in-commit-timestamp-increases")
def _time_stands_still(table):
    table.write(in_commit(5), {"protocol": PROTOCOL}, table.metadata(configuration=ICT))
    table.write(in_commit(5))


# Deletion vectors


def vector_damage(requirement: str, **changes: Any) -> None:
    def write(table):
        table.create()
        table.write(table.add(deletionVector=table.vector([0, 1]) | changes, stats={"tightBounds": False}))

    damage(requirement)(write)


vector_damage("dv.cardinality", cardinality=3)
vector_damage("dv.well-formed", sizeInBytes=8)


@damage("dv.descriptor-well-formed")
def _inline_vector_with_offset(table):
    table.create()
    vector = inline([0]).to_json() | {"offset": 1}
    table.write(table.add(deletionVector=vector, stats={"tightBounds": False}))


@damage("dv.needs-feature")
def _vector_without_feature(table):
    table.create(protocol={"minReaderVersion": 1, "minWriterVersion": 2})
    table.write(table.add(deletionVector=table.vector([0]), stats={"tightBounds": False}))


@damage("dv.needs-property")
def _vector_without_property(table):
    table.create(configuration={})
    table.write(table.add(deletionVector=table.vector([0]), stats={"tightBounds": False}))


@damage("dv.num-records-present")
def _vector_without_count(table):
    table.create()
    action = table.add(deletionVector=table.vector([0]))
    action["add"]["stats"] = "{}"
    table.write(action)


@damage("dv.file-exists")
def _vector_file_gone(table):
    table.create()
    table.write(table.add(deletionVector=table.vector([0]), stats={"tightBounds": False}))
    table.vector_file.unlink()


@damage("dv.rows-in-file")
def _row_outside(table):
    table.create()
    table.write(table.add(deletionVector=table.vector([0, 9]), stats={"tightBounds": False}))


# Statistics


def stats_damage(requirement: str, **stats: Any) -> None:
    def write(table):
        table.create()
        table.write(table.add(stats=stats))

    damage(requirement)(write)


stats_damage("stats.num-records", numRecords=5, nullCount={})
stats_damage("stats.null-count", nullCount={"id": 0})
stats_damage("stats.min-values", minValues={"name": "g"})
stats_damage("stats.max-values", maxValues={"price": 4.2})
stats_damage("stats.tight-bounds", maxValues={"id": 9})
stats_damage("stats.max-string-not-below", maxValues={"name": "t"})
stats_damage("stats.well-formed", maxValues={"id": "four"})


@damage("stats.max-covers-nan")
def _nan_forgotten(table):
    table.create()
    rows = [(1, "a", 1.0, 1), (2, "b", float("nan"), 2)]
    stats = {"minValues": {"price": 1.0}, "maxValues": {"price": 1.0}}
    table.write(table.add(rows=rows, stats=stats))


# Checkpoints


def held(table: Any) -> list[dict[str, Any]]:
    """The actions that a checkpoint of a small table holds."""
    table.create()
    action = table.add()
    table.write(action, TXN)
    return [{"protocol": PROTOCOL}, table.metadata(), action, TXN]


def checkpoint_damage(requirement: str, *more: dict[str, Any], keep: int = 4) -> None:
    damage(requirement)(lambda table: table.checkpoint(*held(table)[:keep], *more))


checkpoint_damage("checkpoint.equals-replay", keep=3)
checkpoint_damage("checkpoint.no-provenance", {"commitInfo": {"operation": "WRITE"}})
checkpoint_damage("checkpoint.one-protocol", {"protocol": PROTOCOL})
checkpoint_damage(
    "checkpoint.no-removed-domains", {"domainMetadata": {"domain": "d", "configuration": "", "removed": True}}
)


@damage("checkpoint.one-metadata")
def _two_metadatas_in_a_checkpoint(table):
    inside = held(table)
    table.checkpoint(*inside, inside[1])


@damage("checkpoint.adds-once")
def _file_twice_in_a_checkpoint(table):
    inside = held(table)
    table.checkpoint(*inside, inside[2])


@damage("checkpoint.after-commit")
def _checkpoint_ahead(table):
    table.checkpoint(*held(table), version=2)


@damage("checkpoint.readable")
def _checkpoint_torn(table):
    path = table.checkpoint(*held(table))
    path.write_bytes(path.read_bytes()[:-9])


@damage("checkpoint.removes-without-stats")
def _remove_with_stats(table):
    inside = held(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second))
    table.checkpoint(*inside, table.remove(second, stats="{}", dataChange=False))


@damage("checkpoint.actions-well-formed")
def _remove_without_a_field(table):
    inside = held(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second))
    table.checkpoint(*inside, table.remove(second, dataChange=None))


V2 = PROTOCOL | {name: [*PROTOCOL[name], "v2Checkpoint"] for name in ("readerFeatures", "writerFeatures")}
NAMED = f"{1:020d}.checkpoint.5fba94ed-9794-4965-ba6e-6ee3c0d22af9.parquet"


def held_v2(table: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    table.create(protocol=V2)
    action = table.add()
    table.write(action)
    return [{"protocol": V2}, table.metadata()], action


@damage("checkpoint.one-checkpoint-metadata")
def _v2_without_its_metadata(table):
    inside, action = held_v2(table)
    table.checkpoint(*inside, action, name=NAMED)


@damage("checkpoint.file-actions-in-one-place")
def _file_actions_beside_sidecars(table):
    inside, action = held_v2(table)
    sidecar = table.checkpoint(action, name="_sidecars/x.parquet")
    reference = {"path": "x.parquet", "sizeInBytes": sidecar.stat().st_size, "modificationTime": 1}
    marker = {"checkpointMetadata": {"version": 1}}
    other = table.add("b.parquet")
    table.write(other)
    name = NAMED.replace(f"{1:020d}", f"{2:020d}")
    table.checkpoint(*inside, other, {"sidecar": reference}, marker, name=name)


def hint_damage(requirement: str, **fields: Any) -> None:
    def write(table):
        table.checkpoint(*held(table))
        table.hint(**fields)

    damage(requirement)(write)


hint_damage("checkpoint.hint-well-formed", version=1)
hint_damage("checkpoint.hint-names-checkpoint", version=7, size=4)
hint_damage("checkpoint.hint-parts", version=1, size=4, parts=3)


def checksum_damage(requirement: str, **changes: Any) -> None:
    def write(table):
        action = held(table)[2]
        state = {
            "metadata": table.metadata()["metaData"],
            "protocol": PROTOCOL,
            "numMetadata": 1,
            "numProtocol": 1,
        }
        table.checksum(1, **{"tableSizeBytes": action["add"]["size"], "numFiles": 1, **state, **changes})

    damage(requirement)(write)


checksum_damage("checksum.agrees-with-state", numFiles=2)
checksum_damage("checksum.well-formed", numFiles=None)


@damage("checkpoint.keeps-tombstones")
def _tombstone_forgotten(table):
    inside = held(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second, deletionTimestamp=FAR_AHEAD))
    table.checkpoint(*inside)


@damage("checkpoint.keeps-stats")
def _stats_forgotten(table):
    inside = held(table)
    inside[2]["add"].pop("stats")
    table.checkpoint(*inside)


@damage("checkpoint.sidecar-size")
def _sidecar_of_another_size(table):
    inside, action = held_v2(table)
    table.checkpoint(action, name="_sidecars/x.parquet")
    sidecar = {"sidecar": {"path": "x.parquet", "sizeInBytes": 1, "modificationTime": 1}}
    table.checkpoint(*inside, sidecar, {"checkpointMetadata": {"version": 1}}, name=NAMED)


@damage("checkpoint.no-parts-with-v2")
def _parts_beside_v2(table):
    inside, action = held_v2(table)
    table.checkpoint(*inside, name=f"{1:020d}.checkpoint.{1:010d}.{2:010d}.parquet")
    table.checkpoint(action, name=f"{1:020d}.checkpoint.{2:010d}.{2:010d}.parquet")


@damage("checkpoint.v2-needs-feature")
def _v2_without_feature(table):
    table.checkpoint(*held(table), {"checkpointMetadata": {"version": 1}}, name=NAMED)


hint_damage("checkpoint.hint-checksum", version=1, size=4, checksum="0" * 32)
hint_damage("checkpoint.hint-add-files", version=1, size=4, numOfAddFiles=2)

# Version checksums

checksum_damage(
    "checksum.metadata", metadata={"id": "x", "format": {}, "schemaString": "{}", "configuration": {}}
)
checksum_damage("checksum.protocol", protocol={"minReaderVersion": 1, "minWriterVersion": 2})
checksum_damage("checksum.in-commit-timestamp", inCommitTimestampOpt=5)
checksum_damage("checksum.transactions", setTransactions=[])
checksum_damage("checksum.domains", domainMetadata=[DOMAIN["domainMetadata"]])
checksum_damage("checksum.all-files", allFiles=[])
checksum_damage(
    "checksum.histograms",
    fileSizeHistogram={"sortedBinBoundaries": [0], "fileCounts": [2], "totalBytes": [2]},
)
checksum_damage("checksum.deletion-vectors", numDeletionVectorsOpt=1)


@damage("checksum.after-commit")
def _checksum_ahead(table):
    held(table)
    state = {
        "metadata": table.metadata()["metaData"],
        "protocol": PROTOCOL,
        "numMetadata": 1,
        "numProtocol": 1,
    }
    table.checksum(2, tableSizeBytes=0, numFiles=0, **state)


# Log compactions


def compacted(table: Any, *actions: dict[str, Any]) -> None:
    lines = "".join(json.dumps(action) + "\n" for action in actions)
    (table.log / f"{1:020d}.{2:020d}.compacted.json").write_text(lines)


def two_commits(table: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    table.create()
    first, second = table.add("a.parquet"), table.add("b.parquet")
    table.write(first)
    table.write(second, table.remove(first))
    return first, second


def test_an_honest_compaction_breaks_nothing(table):
    first, second = two_commits(table)
    compacted(table, second, table.remove(first))
    assert table.breaches() == []


@damage("log.compaction-equals-replay")
def _compaction_without_tombstone(table):
    _, second = two_commits(table)
    compacted(table, second)


@damage("log.compaction-readable")
def _compaction_torn(table):
    first, second = two_commits(table)
    compacted(table, second, table.remove(first))
    path = table.log / f"{1:020d}.{2:020d}.compacted.json"
    path.write_text(path.read_text()[:-9])


def test_an_honest_checksum_with_all_its_fields_breaks_nothing(table):
    action = held(table)[2]
    vector = table.vector([1, 2])
    second = table.add("b.parquet", deletionVector=vector, stats={"tightBounds": False})
    table.write(second, DOMAIN)
    size, other = action["add"]["size"], second["add"]["size"]
    table.checksum(
        2,
        tableSizeBytes=size + other,
        numFiles=2,
        numMetadata=1,
        numProtocol=1,
        metadata=table.metadata()["metaData"],
        protocol=PROTOCOL,
        setTransactions=[TXN["txn"]],
        domainMetadata=[DOMAIN["domainMetadata"]],
        allFiles=[action["add"], second["add"]],
        numDeletedRecordsOpt=2,
        numDeletionVectorsOpt=1,
        fileSizeHistogram={
            "sortedBinBoundaries": [0, 1_000_000],
            "fileCounts": [2, 0],
            "totalBytes": [size + other, 0],
        },
        deletedRecordCountsHistogramOpt={"deletedRecordCounts": [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]},
    )
    assert table.breaches() == []


def test_an_honest_hint_with_its_checksum_breaks_nothing(table):
    table.checkpoint(*held(table))
    text = json.dumps({"version": 1, "size": 4, "numOfAddFiles": 1, "tags": {"a b": "ü"}})
    table.hint(**json.loads(text), checksum=checksum(text))
    assert table.breaches() == []


def test_an_honest_v2_checkpoint_with_sidecars_breaks_nothing(table):
    inside, action = held_v2(table)
    path = table.checkpoint(action, name="_sidecars/x y.parquet")
    sidecar = {"path": "x%20y.parquet", "sizeInBytes": path.stat().st_size, "modificationTime": 1}
    table.checkpoint(*inside, {"sidecar": sidecar}, {"checkpointMetadata": {"version": 1}}, name=NAMED)
    assert table.breaches() == []
