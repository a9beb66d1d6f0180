"""Checkpoints, hints, version checksums and log compactions, each damaged in one way."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq

from tests.damaged_logs.damages import (
    DOMAIN,
    FAR_AHEAD,
    NAMED,
    PROTOCOL,
    damage,
    write_compaction,
    write_small_table,
    write_small_v2_table,
    write_two_commits,
)

# Checkpoints


def checkpoint_damage(requirement: str, *more: dict[str, Any], keep: int = 4) -> None:
    damage(requirement)(lambda table: table.checkpoint(*write_small_table(table)[:keep], *more))


checkpoint_damage("checkpoint.equals-replay", keep=3)


checkpoint_damage("checkpoint.no-provenance", {"commitInfo": {"operation": "WRITE"}})


checkpoint_damage("checkpoint.one-protocol", {"protocol": PROTOCOL})


checkpoint_damage(
    "checkpoint.no-removed-domains", {"domainMetadata": {"domain": "d", "configuration": "", "removed": True}}
)


@damage("checkpoint.one-metadata")
def _two_metadatas_in_a_checkpoint(table):
    inside = write_small_table(table)
    table.checkpoint(*inside, inside[1])


@damage("checkpoint.adds-once")
def _file_twice_in_a_checkpoint(table):
    inside = write_small_table(table)
    table.checkpoint(*inside, inside[2])


@damage("checkpoint.after-commit")
def _checkpoint_ahead(table):
    table.checkpoint(*write_small_table(table), version=2)


@damage("checkpoint.readable")
def _checkpoint_torn(table):
    path = table.checkpoint(*write_small_table(table))
    path.write_bytes(path.read_bytes()[:-9])


@damage("checkpoint.removes-without-stats")
def _remove_with_stats(table):
    inside = write_small_table(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second))
    table.checkpoint(*inside, table.remove(second, stats="{}", dataChange=False))


@damage("checkpoint.actions-well-formed")
def _remove_without_a_field(table):
    inside = write_small_table(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second))
    table.checkpoint(*inside, table.remove(second, dataChange=None))


@damage("checkpoint.one-checkpoint-metadata")
def _v2_without_its_metadata(table):
    inside, action = write_small_v2_table(table)
    table.checkpoint(*inside, action, name=NAMED)


@damage("checkpoint.file-actions-in-one-place")
def _file_actions_beside_sidecars(table):
    inside, action = write_small_v2_table(table)
    sidecar = table.checkpoint(action, name="_sidecars/x.parquet")
    reference = {"path": "x.parquet", "sizeInBytes": sidecar.stat().st_size, "modificationTime": 1}
    marker = {"checkpointMetadata": {"version": 2}}
    other = table.add("b.parquet")
    table.write(other)
    name = NAMED.replace(f"{1:020d}", f"{2:020d}")
    table.checkpoint(*inside, other, {"sidecar": reference}, marker, name=name)


def hint_damage(requirement: str, **fields: Any) -> None:
    def write(table):
        table.checkpoint(*write_small_table(table))
        table.hint(**fields)

    damage(requirement)(write)


hint_damage("checkpoint.hint-well-formed", version=1)


hint_damage("checkpoint.hint-names-checkpoint", version=7, size=4)


hint_damage("checkpoint.hint-parts", version=1, size=4, parts=3)


@damage("checkpoint.hint-keys-once")
def _hint_with_a_key_twice(table):
    table.checkpoint(*write_small_table(table))
    (table.log / "_last_checkpoint").write_text('{"version": 1, "size": 4, "size": 4}')


# What a checkpoint repeats


@damage("checkpoint.feature-lists")
def _empty_lists_for_nulls(table):
    old = {"minReaderVersion": 1, "minWriterVersion": 2}
    table.create(protocol=old, configuration={})
    action = table.add()
    table.write(action)
    lists: dict[str, Any] = {"readerFeatures": [], "writerFeatures": []}
    table.checkpoint({"protocol": old | lists}, table.metadata(configuration={}), action)


def write_parsed_checkpoint(table: Any, **parsed: Any) -> None:
    """Write a checkpoint with statistics and partition values as columns; `parsed` replaces the right ones."""
    said = {"delta.checkpoint.writeStatsAsStruct": "true"}
    table.create(configuration=said)
    action = table.add()
    table.write(action)
    stats = {"numRecords": 4, "nullCount": {"id": 1}, "minValues": {"id": 1, "at": 1_000_000}}
    more = {"stats_parsed": stats, "partitionValues_parsed": {"part": "x"}} | parsed
    table.checkpoint(
        {"protocol": PROTOCOL}, table.metadata(configuration=said), {"add": action["add"] | more}
    )


@damage("checkpoint.parsed-stats-agree")
def _other_bounds_as_columns(table):
    write_parsed_checkpoint(
        table, stats_parsed={"numRecords": 4, "nullCount": {"id": 1}, "minValues": {"id": 2}}
    )


@damage("checkpoint.parsed-partition-values-agree")
def _other_partition_as_columns(table):
    write_parsed_checkpoint(table, partitionValues_parsed={"part": "y"})


@damage("checkpoint.keeps-removal-times")
def _tombstone_of_another_time(table):
    inside = write_small_table(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second, deletionTimestamp=FAR_AHEAD))
    table.checkpoint(*inside, table.remove(second, deletionTimestamp=FAR_AHEAD + 1, dataChange=False))


def forget_in_checkpoint(name: str, value: Any) -> Any:
    """Return a damage: a checkpoint that omits a field of an add."""

    def write(table):
        table.create()
        action = table.add(**{name: value})
        table.write(action)
        remaining = {key: field for key, field in action["add"].items() if key != name}
        table.checkpoint({"protocol": PROTOCOL}, table.metadata(), {"add": remaining})

    return write


damage("checkpoint.keeps-tags")(forget_in_checkpoint("tags", {"ZCUBE_ID": "a"}))


damage("checkpoint.keeps-clustering-provider")(forget_in_checkpoint("clusteringProvider", "liquid"))


def honest_repetition(table: Any) -> None:
    """Statistics and partition values as columns that agree."""
    write_parsed_checkpoint(table)


SECOND = {"delta.parquet.format.version": "2.12.0"}


def rewrite_file(path: Any, form: str) -> None:
    """Write a Parquet file again with data pages of another version."""
    pq.write_table(pq.read_table(path), path, data_page_version=form)


@damage("checkpoint.data-pages")
def _checkpoint_of_the_second_form(table):
    rewrite_file(table.checkpoint(*write_small_table(table)), "2.0")


def write_data_pages(table: Any, form: str = "2.0") -> None:
    """Write a table whose property demands data pages of version 2, with a file of the given version."""
    table.create(configuration=SECOND)
    action = table.add()
    rewrite_file(table.folder / "a.parquet", form)
    action["add"]["size"] = (table.folder / "a.parquet").stat().st_size
    table.write(action)
    inside = {"protocol": PROTOCOL}, table.metadata(configuration=SECOND), action
    rewrite_file(table.checkpoint(*inside), "2.0")


damage("log.data-pages")(lambda table: write_data_pages(table, "1.0"))


damage("log.page-format-legal")(
    lambda table: table.create(configuration={"delta.parquet.format.version": "2.12"})
)


HONEST = (honest_repetition, write_data_pages)


def checksum_damage(requirement: str, **changes: Any) -> None:
    def write(table):
        action = write_small_table(table)[2]
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
    inside = write_small_table(table)
    second = table.add("b.parquet")
    table.write(second)
    table.write(table.remove(second, deletionTimestamp=FAR_AHEAD))
    table.checkpoint(*inside)


@damage("checkpoint.keeps-stats")
def _stats_forgotten(table):
    inside = write_small_table(table)
    inside[2]["add"].pop("stats")
    table.checkpoint(*inside)


@damage("checkpoint.sidecar-size")
def _sidecar_of_another_size(table):
    inside, action = write_small_v2_table(table)
    table.checkpoint(action, name="_sidecars/x.parquet")
    sidecar = {"sidecar": {"path": "x.parquet", "sizeInBytes": 1, "modificationTime": 1}}
    table.checkpoint(*inside, sidecar, {"checkpointMetadata": {"version": 1}}, name=NAMED)


@damage("checkpoint.no-parts-with-v2")
def _parts_beside_v2(table):
    inside, action = write_small_v2_table(table)
    table.checkpoint(*inside, name=f"{1:020d}.checkpoint.{1:010d}.{2:010d}.parquet")
    table.checkpoint(action, name=f"{1:020d}.checkpoint.{2:010d}.{2:010d}.parquet")


@damage("checkpoint.v2-needs-feature")
def _v2_without_feature(table):
    table.checkpoint(*write_small_table(table), {"checkpointMetadata": {"version": 1}}, name=NAMED)


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
    write_small_table(table)
    state = {
        "metadata": table.metadata()["metaData"],
        "protocol": PROTOCOL,
        "numMetadata": 1,
        "numProtocol": 1,
    }
    table.checksum(2, tableSizeBytes=0, numFiles=0, **state)


# Log compactions


@damage("log.compaction-equals-replay")
def _compaction_without_tombstone(table):
    _, second = write_two_commits(table)
    write_compaction(table, second)


@damage("log.compaction-readable")
def _compaction_torn(table):
    first, second = write_two_commits(table)
    write_compaction(table, second, table.remove(first))
    path = table.log / f"{1:020d}.{2:020d}.compacted.json"
    path.write_text(path.read_text()[:-9])


STRUCTS = {"delta.checkpoint.writeStatsAsStruct": "true"}
ENFORCED = {"minReaderVersion": 1, "minWriterVersion": 3}


@damage("checkpoint.metadata-version")
def _marker_of_another_version(table):
    inside, action = write_small_v2_table(table)
    table.checkpoint(*inside, action, {"checkpointMetadata": {"version": 2}}, name=NAMED)


@damage("checkpoint.sidecars-hold-file-actions")
def _transaction_in_a_sidecar(table):
    inside, action = write_small_v2_table(table)
    path = table.checkpoint(action, {"commitInfo": {"operation": "WRITE"}}, name="_sidecars/x.parquet")
    sidecar = {"path": "x.parquet", "sizeInBytes": path.stat().st_size, "modificationTime": 1}
    table.checkpoint(*inside, {"sidecar": sidecar}, {"checkpointMetadata": {"version": 1}}, name=NAMED)


def write_statistics_forms(
    table: Any, configuration: dict[str, str], *, parsed: bool = False, stats: bool = True, **metadata: Any
) -> None:
    """Write a checkpoint of one file, with its statistics as JSON, as columns, both or neither."""
    table.create(protocol=ENFORCED, configuration=configuration, **metadata)
    action = table.add(**{"partitionValues": {}} if metadata else {})
    table.write(action)
    held = action["add"] | ({"stats_parsed": {"numRecords": 4}} if parsed else {})
    if not stats:
        del held["stats"]
    table.checkpoint(
        {"protocol": ENFORCED}, table.metadata(configuration=configuration, **metadata), {"add": held}
    )


damage("checkpoint.keeps-parsed-stats")(
    lambda table: write_statistics_forms(table, STRUCTS, partitionColumns=[])
)


damage("checkpoint.keeps-parsed-partition-values")(
    lambda table: write_statistics_forms(table, STRUCTS, parsed=True)
)


damage("checkpoint.omits-json-stats")(
    lambda table: write_statistics_forms(table, {"delta.checkpoint.writeStatsAsJson": "false"})
)


damage("checkpoint.omits-parsed-stats")(lambda table: write_statistics_forms(table, {}, parsed=True))


hint_damage("checkpoint.hint-size", version=1, size=9)


hint_damage("checkpoint.hint-bytes", version=1, size=4, sizeInBytes=1)


@damage("checksum.never-changes")
def _checksum_written_again(table):
    action = write_small_table(table)[2]
    state = {"tableSizeBytes": action["add"]["size"], "numFiles": 1, "numMetadata": 1, "numProtocol": 1}
    state |= {"metadata": table.metadata()["metaData"], "protocol": PROTOCOL}
    table.checksum(1, **state)
    table.reader.checksum(1)
    table.checksum(1, **state, txnId="other")
