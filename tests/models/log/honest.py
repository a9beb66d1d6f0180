"""Tables that break no rule: what the damaged ones are beside, and what evidence is counted on."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from delta_models.log.canonical_json import checksum
from tests.damaged_logs import (
    damaged_checkpoints,
    damaged_columns,
    damaged_features,
    damaged_layout,
    damaged_places,
    damaged_rows,
    damaged_tracking,
    damaged_variants,
)
from tests.damaged_logs.damages import (
    CHANGE,
    DOMAIN,
    FAR_AHEAD,
    ICT,
    LONG,
    NAMED,
    PROTOCOL,
    TRACKING,
    TXN,
    VARIANTS,
    WIDEN,
    WIDENING,
    clustering_domain,
    commit_info_at,
    mapped_field,
    row_id_mark,
    with_field_ids,
    write_change_data,
    write_compaction,
    write_small_table,
    write_small_v2_table,
    write_two_commits,
    write_widened_table,
)


def plain_table(table: Any) -> None:
    """Files come, go, get a vector and are told again."""
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


def every_file_of_a_log(table: Any) -> None:
    """A checkpoint, a hint, a checksum, and names that mean nothing."""
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


def cut_statistics(table: Any) -> None:
    """Statistics that are cut as the protocol allows."""
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


def wide_statistics(table: Any) -> None:
    """Statistics that are wider than the rows, and say so."""
    table.create()
    wide = {
        "tightBounds": False,
        "minValues": {"id": -5, "name": "a"},
        "maxValues": {"id": 99, "name": "z"},
        "nullCount": {"id": 3, "name": 2},
    }
    table.write(table.add(stats=wide, deletionVector=table.vector([2])))


def compaction(table: Any) -> None:
    """A log compaction."""
    first, second = write_two_commits(table)
    write_compaction(table, second, table.remove(first))


def whole_checksum(table: Any) -> None:
    """A version checksum with all its fields."""
    action = write_small_table(table)[2]
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


def hint_with_checksum(table: Any) -> None:
    """A hint with its checksum."""
    table.checkpoint(*write_small_table(table))
    text = json.dumps({"version": 1, "size": 4, "numOfAddFiles": 1, "tags": {"a b": "ü"}})
    table.hint(**json.loads(text), checksum=checksum(text))


def sidecars(table: Any) -> None:
    """A V2 checkpoint with a sidecar."""
    inside, action = write_small_v2_table(table)
    path = table.checkpoint(action, name="_sidecars/x y.parquet")
    sidecar = {"path": "x%20y.parquet", "sizeInBytes": path.stat().st_size, "modificationTime": 1}
    table.checkpoint(*inside, {"sidecar": sidecar}, {"checkpointMetadata": {"version": 1}}, name=NAMED)


def row_tracking(table: Any) -> None:
    """Row tracking, and a file that comes back."""
    table.create(protocol=TRACKING)
    first = table.add()
    table.write(first, row_id_mark(3))
    second = table.add("b.parquet", baseRowId=4, defaultRowCommitVersion=2)
    table.write(second, row_id_mark(9))
    table.write(first | {"add": first["add"] | {"tags": {"again": "yes"}, "dataChange": False}})
    table.write(table.remove(first))
    table.write(first)  # as a restore does


def enabled_timestamps(table: Any) -> None:
    """In-commit timestamps that are enabled later."""
    table.create()
    since = {
        "delta.inCommitTimestampEnablementVersion": "1",
        "delta.inCommitTimestampEnablementTimestamp": str(FAR_AHEAD),
    }
    table.write(commit_info_at(FAR_AHEAD), table.metadata(configuration=ICT | since))


def widening(table: Any) -> None:
    """A column whose type is widened."""
    write_widened_table(table, WIDENING, WIDEN, CHANGE)


def rewritten_types(table: Any) -> None:
    """A column with another type in a table that is written anew."""
    table.create()
    action = table.add()
    table.write(action)
    fields = [field | {"type": "string"} if field["name"] == "price" else field for field in table.fields]
    table.write(table.metadata(fields=fields, partitionColumns=[]), table.remove(action))


def change_data(table: Any) -> None:
    """A commit with change data."""
    write_change_data(table, ["delete"], [1])


def vector_that_goes(table: Any) -> None:
    """A file that is removed with its vector."""
    table.create()
    action = table.add(deletionVector=table.vector([0]), stats={"tightBounds": False})
    table.write(action)
    table.write(table.remove(action))


def removed_domain(table: Any) -> None:
    """A domain that is removed as it was, in a table that only grows."""
    table.create(configuration={"delta.appendOnly": "true"})
    table.write(DOMAIN, table.add())
    table.write({"domainMetadata": DOMAIN["domainMetadata"] | {"removed": True}})


def clustering(table: Any) -> None:
    """A table that becomes clustered, and gets another file."""
    protocol = PROTOCOL | {"writerFeatures": [*PROTOCOL["writerFeatures"], "clustering"]}
    table.create(protocol=protocol, partitionColumns=[])
    table.write(table.add(partitionValues={}))
    table.write(clustering_domain("id"))
    table.write(table.add("b.parquet", partitionValues={}))


def variants_without_shredding(table: Any) -> None:
    """Variants that have no bounds."""
    fields = [LONG, damaged_layout.VARIANT]
    table.create(protocol=VARIANTS, fields=fields, **damaged_layout.WHOLE)
    damaged_variants.write_with_statistics(table, nullCount=1)


def shredding(table: Any) -> None:
    """Variants that may be shredded."""
    fields = [LONG, damaged_layout.VARIANT]
    on = {"delta.enableVariantShredding": "true"}
    table.create(protocol=damaged_variants.SHREDDING, configuration=on, fields=fields, **damaged_layout.WHOLE)


def enabled_tracking(table: Any) -> None:
    """Row tracking that is enabled when all files have row ids."""
    damaged_tracking.write_tracked_table(table)
    table.write(table.metadata(configuration=damaged_rows.TRACKED))


def of_iceberg(table: Any) -> None:
    """Columns that Iceberg has, widened as it does: timestamps as int64, partition columns last."""
    wider = mapped_field("id", 1, "id")
    wider["metadata"]["delta.typeChanges"] = [{"fromType": "integer", "toType": "long"}]
    fields = [wider, damaged_tracking.FIELDS[1], mapped_field("at", 3, "at", "timestamp")]
    damaged_tracking.write_compatible_table(table, "V2", damaged_tracking.WIDER, fields)
    inside = with_field_ids(id=[1], part=["x"], at=pa.array([0], pa.timestamp("us", "UTC")))
    table.write(table.file("a.parquet", inside, partitionValues={"part": "x"}))


def of_the_older_iceberg(table: Any) -> None:
    """A partition column that comes last in its file."""
    damaged_tracking.write_compatible_table(table, "V1", damaged_tracking.V1)
    table.write(damaged_tracking.add_parquet_file(table))


def not_null(table: Any) -> None:
    """A column that may not be null, and one that nothing is stored of."""
    fields = [LONG | {"nullable": False}, LONG | {"name": "nothing", "type": "void"}]
    table.create(fields=fields, **damaged_layout.WHOLE)
    table.write(table.file("a.parquet", pa.table({"a": [1]})))


def columns_with_rules(table: Any) -> None:
    """A default, a generated column and an invariant, each with its feature."""
    features = [*PROTOCOL["writerFeatures"], "allowColumnDefaults", "generatedColumns", "invariants"]
    metadata = (
        {"CURRENT_DEFAULT": "1"},
        {"delta.generationExpression": "1"},
        {"delta.invariants": '{"expression": {"expression": "a > 0"}}'},
    )
    fields = [LONG | {"name": name, "metadata": said} for name, said in zip("abc", metadata, strict=True)]
    protocol = PROTOCOL | {"writerFeatures": features}
    table.create(protocol=protocol, fields=fields, **damaged_layout.WHOLE)


def dropped_widening(table: Any) -> None:
    """The feature of type widening goes, and its property with it."""
    table.create(protocol=WIDENING, configuration=WIDEN)
    table.write({"protocol": PROTOCOL}, table.metadata())


def maximum_of_nan(table: Any) -> None:
    """A maximum that covers NaN."""
    table.create()
    rows = [(1, "a", 1.0, 1), (2, "b", float("nan"), 2)]
    table.write(table.add(rows=rows, stats={"minValues": {"price": 1.0}, "maxValues": {"price": "NaN"}}))


def copied_rows(table: Any) -> None:
    """A delete that keeps the ids of the rows that it copies."""
    damaged_rows.write_rearranged_rows(table, [0, 1, 2, 3], [1, 1, 1, 1], operation="DELETE", change=True)


def moved_rows(table: Any) -> None:
    """A compaction that keeps the ids and versions of the rows that it moves."""
    damaged_rows.write_rearranged_rows(table, [0, 1, 2, 3], [1, 1, 1, 1])


def checkpoint_in_parts(table: Any) -> None:
    """A checkpoint in two parts, and a hint that says how many and how long they are."""
    inside = write_small_table(table)
    names = [f"{1:020d}.checkpoint.{part:010d}.{2:010d}.parquet" for part in (1, 2)]
    parts = [
        table.checkpoint(*actions, name=name)
        for actions, name in zip((inside[:2], inside[2:]), names, strict=True)
    ]
    table.hint(version=1, size=4, parts=2, sizeInBytes=sum(part.stat().st_size for part in parts))


def checkpoint_without_json(table: Any) -> None:
    """A checkpoint that leaves statistics out."""
    damaged_checkpoints.write_statistics_forms(
        table, {"delta.checkpoint.writeStatsAsJson": "false"}, stats=False
    )


TABLES = (
    plain_table,
    every_file_of_a_log,
    cut_statistics,
    wide_statistics,
    compaction,
    whole_checksum,
    hint_with_checksum,
    sidecars,
    row_tracking,
    enabled_timestamps,
    widening,
    rewritten_types,
    change_data,
    vector_that_goes,
    removed_domain,
    clustering,
    variants_without_shredding,
    shredding,
    enabled_tracking,
    of_iceberg,
    of_the_older_iceberg,
    not_null,
    columns_with_rules,
    dropped_widening,
    maximum_of_nan,
    copied_rows,
    moved_rows,
    checkpoint_in_parts,
    checkpoint_without_json,
    damaged_layout.honest_layout,
    damaged_tracking.honest_tracking,
    damaged_tracking.honest_iceberg,
    damaged_tracking.honest_elements,
    *damaged_checkpoints.HONEST,
    *damaged_columns.HONEST,
    *damaged_features.HONEST,
    *damaged_places.HONEST,
    *damaged_variants.HONEST,
)
