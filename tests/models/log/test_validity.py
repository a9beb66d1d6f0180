"""Each rule of the log has a table that breaks it and nothing else, beside honest tables that break nothing."""

from __future__ import annotations

import json

import pytest

from delta_models.log.canonical_json import checksum
from delta_models.requirements import OF_THE_LOG
from tests.damaged_logs import (
    damaged_checkpoints,
    damaged_columns,
    damaged_commits,
    damaged_features,
    damaged_files,
    damaged_layout,
    damaged_places,
    damaged_rows,
    damaged_tracking,
    damaged_variants,
)
from tests.damaged_logs.damages import (
    CHANGE,
    DAMAGES,
    DOMAIN,
    FAR_AHEAD,
    ICT,
    NAMED,
    PROTOCOL,
    TRACKING,
    TXN,
    WIDEN,
    WIDENING,
    commit_info_at,
    row_id_mark,
    write_change_data,
    write_compaction,
    write_small_table,
    write_small_v2_table,
    write_two_commits,
    write_widened_table,
)

DAMAGED = (
    damaged_checkpoints,
    damaged_columns,
    damaged_commits,
    damaged_features,
    damaged_files,
    damaged_layout,
    damaged_places,
    damaged_rows,
    damaged_tracking,
    damaged_variants,
)  # each registers its damages


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
    assert table.violations() == []


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
    assert table.violations() == []


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
    assert table.violations() == []


def test_wide_statistics_may_be_wider_than_the_rows(table):
    table.create()
    wide = {
        "tightBounds": False,
        "minValues": {"id": -5, "name": "a"},
        "maxValues": {"id": 99, "name": "z"},
        "nullCount": {"id": 3, "name": 2},
    }
    table.write(table.add(stats=wide, deletionVector=table.vector([2])))
    assert table.violations() == []


def test_an_honest_compaction_breaks_nothing(table):
    first, second = write_two_commits(table)
    write_compaction(table, second, table.remove(first))
    assert table.violations() == []


def test_an_honest_checksum_with_all_its_fields_breaks_nothing(table):
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
    assert table.violations() == []


def test_an_honest_hint_with_its_checksum_breaks_nothing(table):
    table.checkpoint(*write_small_table(table))
    text = json.dumps({"version": 1, "size": 4, "numOfAddFiles": 1, "tags": {"a b": "ü"}})
    table.hint(**json.loads(text), checksum=checksum(text))
    assert table.violations() == []


def test_an_honest_v2_checkpoint_with_sidecars_breaks_nothing(table):
    inside, action = write_small_v2_table(table)
    path = table.checkpoint(action, name="_sidecars/x y.parquet")
    sidecar = {"path": "x%20y.parquet", "sizeInBytes": path.stat().st_size, "modificationTime": 1}
    table.checkpoint(*inside, {"sidecar": sidecar}, {"checkpointMetadata": {"version": 1}}, name=NAMED)
    assert table.violations() == []


def test_honest_row_tracking_breaks_nothing(table):
    table.create(protocol=TRACKING)
    first = table.add()
    table.write(first, row_id_mark(3))
    second = table.add("b.parquet", baseRowId=4, defaultRowCommitVersion=2)
    table.write(second, row_id_mark(9))
    table.write(first | {"add": first["add"] | {"tags": {"again": "yes"}, "dataChange": False}})
    table.write(table.remove(first))
    table.write(first)  # as a restore does
    assert table.violations() == []


def test_honest_enablement_of_in_commit_timestamps_breaks_nothing(table):
    table.create()
    since = {
        "delta.inCommitTimestampEnablementVersion": "1",
        "delta.inCommitTimestampEnablementTimestamp": str(FAR_AHEAD),
    }
    table.write(commit_info_at(FAR_AHEAD), table.metadata(configuration=ICT | since))
    assert table.violations() == []


def test_honest_widening_breaks_nothing(table):
    write_widened_table(table, WIDENING, WIDEN, CHANGE)
    assert table.violations() == []


def test_a_rewritten_table_may_change_its_types(table):
    table.create()
    action = table.add()
    table.write(action)
    fields = [field | {"type": "string"} if field["name"] == "price" else field for field in table.fields]
    table.write(table.metadata(fields=fields, partitionColumns=[]), table.remove(action))
    assert table.violations() == []


@pytest.mark.parametrize("operation", ("OPTIMIZE", "UPDATE", "DELETE"))
def test_rows_that_keep_their_ids_in_another_file_break_nothing(table, operation):
    damaged_rows.write_rearranged_rows(
        table, [0, 1, 2, 3], [1, 1, 1, 1], operation=operation, change=operation != "OPTIMIZE"
    )
    assert table.violations() == []


@pytest.mark.parametrize(("again", "broken"), ((0, []), (4, ["log.row-ids-stay"])))
def test_a_file_from_before_row_tracking_gets_ids_when_it_comes_back_and_keeps_them(table, again, broken):
    table.create(protocol=PROTOCOL | {"writerFeatures": ["deletionVectors", "domainMetadata"]})
    bare = table.add()
    del bare["add"]["baseRowId"], bare["add"]["defaultRowCommitVersion"]
    table.write(bare)
    table.write({"protocol": TRACKING})
    table.write(table.remove(bare))
    first = table.add(baseRowId=0, defaultRowCommitVersion=4)
    table.write(first, row_id_mark(3))
    table.write(table.remove(first))
    version = 4 if again == 0 else 6
    table.write(table.add(baseRowId=again, defaultRowCommitVersion=version), row_id_mark(again + 3))
    assert table.violations() == broken


def test_honest_change_data_breaks_nothing(table):
    write_change_data(table, ["delete"], [1])
    assert table.violations() == []


@pytest.mark.parametrize(
    "write",
    (
        damaged_layout.honest_layout,
        damaged_tracking.honest_tracking,
        damaged_tracking.honest_iceberg,
        damaged_tracking.honest_elements,
        *damaged_checkpoints.HONEST,
        *damaged_columns.HONEST,
        *damaged_features.HONEST,
        *damaged_places.HONEST,
        *damaged_variants.HONEST,
    ),
    ids=lambda write: write.__name__,
)
def test_tables_that_use_what_features_allow_break_nothing(table, write):
    write(table)
    assert table.violations() == []


@pytest.mark.parametrize("requirement", [each.id for each in OF_THE_LOG if each.unobservable is None])
def test_a_damaged_table_breaks_the_rule_and_no_other(table, requirement):
    DAMAGES[requirement](table)
    assert table.violations() == [requirement]


def test_every_damage_belongs_to_a_requirement():
    assert sorted(DAMAGES) == sorted(each.id for each in OF_THE_LOG if each.unobservable is None)
