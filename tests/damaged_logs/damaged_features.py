"""Table features, schema evolution and change data, each damaged in one way."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.damaged_logs.damages import (
    CHANGE,
    FAR_AHEAD,
    ICT,
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
    write_change_data,
    write_widened_table,
)

# Features


@damage("log.row-ids-fresh")
def _row_ids_taken(table):
    table.create(protocol=TRACKING)
    table.write(table.add(), row_id_mark(3))
    table.write(table.add("b.parquet", baseRowId=2, defaultRowCommitVersion=2), row_id_mark(9))


@damage("log.row-ids-stay")
def _row_ids_given_again(table):
    table.create(protocol=TRACKING)
    table.write(table.add(), row_id_mark(3))
    table.write(table.add(baseRowId=4), row_id_mark(9))


@damage("log.row-id-high-water-mark")
def _mark_too_low(table):
    table.create(protocol=TRACKING)
    table.write(table.add(), row_id_mark(2))


damage("log.feature-dependencies")(
    lambda table: table.create(protocol=PROTOCOL | {"writerFeatures": ["deletionVectors", "rowTracking"]})
)


@damage("log.in-commit-timestamp-enablement")
def _enabled_in_silence(table):
    table.create()
    table.write(commit_info_at(FAR_AHEAD), table.metadata(configuration=ICT))


@damage("log.clustering-domain")
def _clustered_by_nothing_known(table):
    table.create(protocol=TRACKING, partitionColumns=[])
    table.write(
        clustering_domain("id")
        | {"domainMetadata": clustering_domain()["domainMetadata"] | {"configuration": "id"}}
    )


@damage("log.clustered-not-partitioned")
def _clustered_and_partitioned(table):
    table.create(protocol=TRACKING)
    table.write(clustering_domain("id"))


@damage("stats.clustering-columns")
def _no_statistics_of_the_clustering_column(table):
    table.create(protocol=TRACKING, partitionColumns=[])
    table.write(clustering_domain("id", "part"), table.add(partitionValues={}), row_id_mark(3))


# Catalogs

MANAGED: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["catalogManaged"],
    "writerFeatures": ["catalogManaged", "inCommitTimestamp"],
}


def write_managed_table(table: Any, **info: Any) -> None:
    """Write a table that a catalog manages."""
    fields = commit_info_at(1_000)["commitInfo"] | {"txnId": "a"}
    commit_info = {name: value for name, value in (fields | info).items() if value is not None}
    table.write(
        {"commitInfo": commit_info},
        {"protocol": MANAGED},
        table.metadata(configuration=ICT if "txnId" in info else {}),
    )


damage("catalog.transaction-id")(lambda table: write_managed_table(table, txnId=None))


damage("catalog.in-commit-timestamps")(write_managed_table)


# Constraints


def write_constrained_table(table: Any, text: str) -> None:
    """Write a table with a CHECK constraint."""
    protocol = PROTOCOL | {"writerFeatures": [*PROTOCOL["writerFeatures"], "checkConstraints"]}
    table.create(protocol=protocol, configuration={"delta.constraints.c": text})


damage("log.constraint-columns-known")(
    lambda table: write_constrained_table(table, "id > 0 AND idd IS NOT NULL")
)


# Evolution


@damage("schema.not-null-holds")
def _null_where_none_may_be(table):
    fields = [field | {"nullable": field["name"] != "id"} for field in table.fields]
    table.create(fields=fields)
    table.write(table.add())


LISTS = {"type": "array", "elementType": "long", "containsNull": False}


def write_lists_without_nulls(table: Any, *lists: Any) -> None:
    """Write a file of lists that may be null, but whose elements may not."""
    field = {"name": "a", "type": LISTS, "nullable": True, "metadata": {}}
    table.create(fields=[field], partitionColumns=[])
    table.write(table.file("a.parquet", pa.table({"a": pa.array(lists, pa.list_(pa.int64()))})))


damage("schema.nested-not-null-holds")(lambda table: write_lists_without_nulls(table, [1], [2, None]))


damage("schema.type-change-allowed")(lambda table: write_widened_table(table, WIDENING, {}, CHANGE))


damage("schema.type-change-recorded")(lambda table: write_widened_table(table, WIDENING, WIDEN, {}))


@damage("schema.partitioning-fits-files")
def _partitioned_otherwise(table):
    table.create()
    table.write(table.add())
    table.write(table.metadata(partitionColumns=[]))


@damage("schema.max-column-id-never-falls")
def _highest_id_falls(table):
    fields = [mapped_field("a", 1, "x")]
    table.create(protocol=MAPPING, configuration=MAPPED, fields=fields, partitionColumns=[])
    lower = MAPPED | {"delta.columnMapping.maxColumnId": "1"}
    table.write(table.metadata(configuration=lower, fields=fields, partitionColumns=[]))


@damage("schema.physical-names-stay")
def _physical_name_changes(table):
    for version, name in enumerate("xy"):
        metadata = table.metadata(
            configuration=MAPPED, fields=[mapped_field("a", 1, name)], partitionColumns=[]
        )
        table.write(metadata, *([] if version else [{"protocol": MAPPING}]))


# Change data


damage("cdc.equals-difference")(lambda table: write_change_data(table, ["delete", "insert"], [1, 2]))


damage("cdc.change-types")(lambda table: write_change_data(table, ["vanish"], [1]))


damage("cdc.file-size")(lambda table: write_change_data(table, ["delete"], [1], size=1))


damage("cdc.file-exists")(
    lambda table: write_change_data(table, ["delete"], [1], path="_change_data/d.parquet")
)


@damage("cdc.readable")
def _change_data_torn(table):
    cdc = write_change_data(table, ["delete"], [1])
    (table.folder / cdc["path"]).write_bytes(b"x" * cdc["size"])


def honest_catalog(table: Any) -> None:
    write_managed_table(table, txnId="a")


def honest_constraint(table: Any) -> None:
    write_constrained_table(table, "ID > 0 AND name IS NOT NULL")


def honest_lists(table: Any) -> None:
    write_lists_without_nulls(table, [1], None, [])


HONEST = (honest_catalog, honest_constraint, honest_lists)
