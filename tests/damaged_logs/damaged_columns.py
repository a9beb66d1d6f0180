"""The metadata of columns and their changes over the versions, each damaged in one way."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.damaged_logs.damaged_rows import IDS, PRESERVED, TRACKED, VERSIONS
from tests.damaged_logs.damages import (
    CHANGE,
    FAR_AHEAD,
    ICT,
    LONG,
    MAPPED,
    MAPPING,
    PROTOCOL,
    TRACKING,
    WIDEN,
    WIDENING,
    clustering_domain,
    commit_info_at,
    damage,
    mapped_field,
    row_id_mark,
)

WHOLE: dict[str, Any] = {"partitionColumns": []}
FIRST, SECOND = mapped_field("a", 1, "x"), mapped_field("b", 2, "y")
IDENTITY = {"delta.identity.start": 1, "delta.identity.step": 2, "delta.identity.allowExplicitInsert": False}
WITH_IDENTITY = PROTOCOL | {"writerFeatures": [*PROTOCOL["writerFeatures"], "identityColumns"]}
SINCE = {
    "delta.inCommitTimestampEnablementVersion": "1",
    "delta.inCommitTimestampEnablementTimestamp": str(FAR_AHEAD),
}


def write_mapped_table(table: Any, *steps: list[dict[str, Any]], highest: int = 3) -> None:
    """Write a table with column mapping, in a version for each list of columns."""
    configuration = MAPPED | {"delta.columnMapping.maxColumnId": str(highest)}
    for version, fields in enumerate(steps):
        metadata = table.metadata(configuration=configuration, fields=fields, **WHOLE)
        table.write(metadata, *([] if version else [{"protocol": MAPPING}]))


damage("schema.column-ids-not-reused")(
    lambda table: write_mapped_table(table, [FIRST, SECOND], [FIRST], [FIRST, mapped_field("c", 2, "z")])
)


damage("schema.physical-names-not-reused")(
    lambda table: write_mapped_table(table, [FIRST, SECOND], [FIRST], [FIRST, mapped_field("b", 3, "y")])
)


def honest_columns(table: Any) -> None:
    """A column is dropped, another one of its name comes, and a restore brings the first one back."""
    write_mapped_table(table, [FIRST, SECOND], [FIRST], [FIRST, mapped_field("b", 3, "z")], [FIRST, SECOND])


def column_damage(requirement: str, **metadata: Any) -> None:
    damage(requirement)(lambda table: table.create(fields=[LONG | {"metadata": metadata}], **WHOLE))


column_damage("schema.default-needs-feature", CURRENT_DEFAULT="1")


column_damage("schema.generated-needs-feature", **{"delta.generationExpression": "1"})


column_damage("schema.identity-needs-feature", **IDENTITY)


column_damage(
    "schema.invariant-needs-feature", **{"delta.invariants": '{"expression": {"expression": "a > 0"}}'}
)


def write_identity_table(table: Any, *changes: dict[str, Any]) -> None:
    """Write a table with an identity column, in a version for each change of its definition."""
    for version, change in enumerate(changes):
        fields = [LONG | {"metadata": IDENTITY | change}]
        if version:
            table.write(table.metadata(fields=fields, **WHOLE))
        else:
            table.create(protocol=WITH_IDENTITY, fields=fields, **WHOLE)


damage("schema.identity-step")(lambda table: write_identity_table(table, {"delta.identity.step": 0}))


damage("schema.identity-definition-stays")(
    lambda table: write_identity_table(table, {}, {"delta.identity.step": 3})
)


def honest_identity(table: Any) -> None:
    """The mark moves, and the rest stays."""
    write_identity_table(table, {}, {"delta.identity.highWaterMark": 5})


def write_narrow_table(table: Any) -> dict[str, Any]:
    """Write a table whose column is widened over a file of the old type; return the add of that file."""
    table.create(protocol=WIDENING, configuration=WIDEN, fields=[LONG | {"type": "integer"}], **WHOLE)
    old: dict[str, Any] = table.file("old.parquet", pa.table({"a": pa.array([1], pa.int32())}))
    table.write(old)
    table.write(table.metadata(configuration=WIDEN, fields=[LONG | {"metadata": CHANGE}], **WHOLE))
    return old


@damage("schema.type-changes-kept")
def _history_of_types_forgotten(table):
    write_narrow_table(table)
    table.write(table.metadata(configuration=WIDEN, fields=[LONG], **WHOLE))


def honest_narrowing(table: Any) -> None:
    """The history of types goes once the files of the old type are gone."""
    old = write_narrow_table(table)
    new = table.file("new.parquet", pa.table({"a": [1]}), dataChange=False)
    table.write(table.remove(old, dataChange=False), new)
    table.write(table.metadata(configuration=WIDEN, fields=[LONG], **WHOLE))


@damage("schema.type-widening-dropped-whole")
def _property_of_a_dropped_feature(table):
    table.create(protocol=WIDENING, configuration=WIDEN, **WHOLE)
    table.write({"protocol": WIDENING | {"readerFeatures": [], "writerFeatures": []}})


@damage("stats.new-clustering-columns")
def _clustered_over_a_bare_file(table):
    table.create(protocol=TRACKING, **WHOLE)
    table.write(table.add(partitionValues={}, stats={"nullCount": {}}), row_id_mark(3))
    table.write(clustering_domain("id"))


@damage("log.in-commit-timestamp-after-files")
def _enabled_before_the_commit_before(table):
    table.create()
    since = SINCE | {"delta.inCommitTimestampEnablementTimestamp": "5"}
    table.write(commit_info_at(5), table.metadata(configuration=ICT | since))


@damage("log.in-commit-timestamp-enablement-stays")
def _enablement_forgotten(table):
    enable_in_commit_timestamps(table)
    table.write(commit_info_at(FAR_AHEAD + 1), table.metadata(configuration=ICT))


def enable_in_commit_timestamps(table: Any) -> None:
    """Write a table whose in-commit timestamps begin with version 1."""
    table.create()
    table.write(commit_info_at(FAR_AHEAD), table.metadata(configuration=ICT | SINCE))


def honest_enablement(table: Any) -> None:
    """Later metadata keeps the enablement, and then timestamps are disabled."""
    enable_in_commit_timestamps(table)
    table.write(commit_info_at(FAR_AHEAD + 1), table.metadata(configuration=ICT | SINCE, name="other"))
    table.write(table.metadata(configuration={}))


@damage("log.timestamps-adjusted")
def _timestamps_without_a_zone(table):
    table.create(fields=[LONG | {"type": "timestamp"}], **WHOLE)
    table.write(table.file("a.parquet", pa.table({"a": pa.array([1], pa.timestamp("us"))})))


def write_type_changes(table: Any, versions: list[int | None]) -> None:
    """Write a table in which the first of two rows changes, with the given row commit versions afterwards."""
    table.create(protocol=TRACKING, configuration=TRACKED, fields=[LONG], **WHOLE)
    first = table.file("a.parquet", pa.table({"a": [1, 2]}), baseRowId=0, defaultRowCommitVersion=1)
    table.write({"commitInfo": {"tags": PRESERVED}}, first, row_id_mark(1))
    inside = pa.table({"a": [9, 2], IDS: [0, 1], VERSIONS: pa.array(versions, pa.int64())})
    second = table.file("b.parquet", inside, baseRowId=2, defaultRowCommitVersion=2)
    table.write({"commitInfo": {"operation": "UPDATE"}}, table.remove(first), second, row_id_mark(3))


damage("rows.changed-rows-have-new-version")(lambda table: write_type_changes(table, [1, 1]))


def honest_changes(table: Any) -> None:
    """The changed row has the version of its commit, the other one the version that it had."""
    write_type_changes(table, [None, 1])


HONEST = (
    honest_columns, honest_identity, honest_narrowing, honest_enablement, honest_changes,
)  # fmt: skip
