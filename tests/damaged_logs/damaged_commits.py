"""Commits, their actions, protocol and metadata, each damaged in one way."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from tests.damaged_logs.damages import (
    DOMAIN,
    ICT,
    LONG,
    MAPPED,
    MAPPING,
    PROTOCOL,
    TXN,
    commit_info_at,
    damage,
    damage_field,
    mapped_field,
    write_change_data,
)

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


damage_field("log.required-field", "modificationTime")


damage_field("log.field-type", modificationTime="yesterday")


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
    table.write(table.remove(action, extendedFileMetadata=True, size=action["add"]["size"]))


damage("log.cdc-no-data-change")(lambda table: write_change_data(table, ["delete"], [1], dataChange=True))


damage_field("log.partition-values-complete", partitionValues={})


damage_field("log.added-file-size", size=1)


@damage("log.partition-value-readable")
def _partition_value_of_another_type(table):
    table.create(fields=[LONG | {"name": "id"}, LONG | {"name": "part"}])
    table.write(table.file("a.parquet", pa.table({"id": [1]}), partitionValues={"part": "12x"}))


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


protocol_damage(
    "log.reader-features-iff-version-3",
    minReaderVersion=2,
    readerFeatures=["columnMapping"],
    writerFeatures=["columnMapping"],
)


protocol_damage("log.writer-features-iff-version-7", writerFeatures=None, readerFeatures=[])


protocol_damage("log.reader-3-needs-writer-7", minWriterVersion=6, writerFeatures=None, readerFeatures=[])


protocol_damage("log.reader-features-are-writer-features", writerFeatures=[])


protocol_damage("log.reader-writer-feature-in-both-lists", readerFeatures=[])


protocol_damage("log.writer-feature-in-writer-list-only", readerFeatures=["deletionVectors", "appendOnly"])


def schema_damage(requirement: str, **changes: Any) -> None:
    damage(requirement)(lambda table: table.create(**{"partitionColumns": [], **changes}))


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


@damage("log.in-commit-timestamp-first")
def _info_last(table):
    table.write({"protocol": PROTOCOL}, table.metadata(configuration=ICT), commit_info_at(5))


@damage("log.in-commit-timestamp-present")
def _info_without_time(table):
    table.write(commit_info_at(None), {"protocol": PROTOCOL}, table.metadata(configuration=ICT))


@damage("log.in-commit-timestamp-increases")
def _time_stands_still(table):
    table.write(commit_info_at(5), {"protocol": PROTOCOL}, table.metadata(configuration=ICT))
    table.write(commit_info_at(5))
