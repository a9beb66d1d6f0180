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
    clustered_by,
    damage,
    in_commit,
    mapped_field,
    mark,
    recorded,
    widened,
)

# Features


@damage("log.row-ids-fresh")
def _row_ids_taken(table):
    table.create(protocol=TRACKING)
    table.write(table.add(), mark(3))
    table.write(table.add("b.parquet", baseRowId=2, defaultRowCommitVersion=2), mark(9))


@damage("log.row-ids-stay")
def _row_ids_given_again(table):
    table.create(protocol=TRACKING)
    table.write(table.add(), mark(3))
    table.write(table.add(baseRowId=4), mark(9))


@damage("log.row-id-high-water-mark")
def _mark_too_low(table):
    table.create(protocol=TRACKING)
    table.write(table.add(), mark(2))


damage("log.feature-dependencies")(
    lambda table: table.create(protocol=PROTOCOL | {"writerFeatures": ["deletionVectors", "rowTracking"]})
)


@damage("log.in-commit-timestamp-enablement")
def _enabled_in_silence(table):
    table.create()
    table.write(in_commit(FAR_AHEAD), table.metadata(configuration=ICT))


@damage("log.clustering-domain")
def _clustered_by_nothing_known(table):
    table.create(protocol=TRACKING, partitionColumns=[])
    table.write(
        clustered_by("id") | {"domainMetadata": clustered_by()["domainMetadata"] | {"configuration": "id"}}
    )


@damage("log.clustered-not-partitioned")
def _clustered_and_partitioned(table):
    table.create(protocol=TRACKING)
    table.write(clustered_by("id"))


@damage("stats.clustering-columns")
def _no_statistics_of_the_clustering_column(table):
    table.create(protocol=TRACKING, partitionColumns=[])
    table.write(clustered_by("id", "part"), table.add(partitionValues={}), mark(3))


# Catalogs

MANAGED: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["catalogManaged"],
    "writerFeatures": ["catalogManaged", "inCommitTimestamp"],
}


def managed(table: Any, **info: Any) -> None:
    """A table that a catalog manages."""
    said = in_commit(1_000)["commitInfo"] | {"txnId": "a"}
    more = {each: value for each, value in (said | info).items() if value is not None}
    table.write(
        {"commitInfo": more},
        {"protocol": MANAGED},
        table.metadata(configuration=ICT if "txnId" in info else {}),
    )


damage("catalog.transaction-id")(lambda table: managed(table, txnId=None))


damage("catalog.in-commit-timestamps")(managed)


# Constraints


def constrained(table: Any, text: str) -> None:
    """A table with a CHECK constraint."""
    protocol = PROTOCOL | {"writerFeatures": [*PROTOCOL["writerFeatures"], "checkConstraints"]}
    table.create(protocol=protocol, configuration={"delta.constraints.c": text})


damage("log.constraint-columns-known")(lambda table: constrained(table, "id > 0 AND idd IS NOT NULL"))


# Evolution


@damage("schema.not-null-holds")
def _null_where_none_may_be(table):
    fields = [field | {"nullable": field["name"] != "id"} for field in table.fields]
    table.create(fields=fields)
    table.write(table.add())


LISTS = {"type": "array", "elementType": "long", "containsNull": False}


def lists_without_nulls(table: Any, *lists: Any) -> None:
    """A file of these lists, whose elements may not be null; the lists may."""
    field = {"name": "a", "type": LISTS, "nullable": True, "metadata": {}}
    table.create(fields=[field], partitionColumns=[])
    table.write(table.file("a.parquet", pa.table({"a": pa.array(lists, pa.list_(pa.int64()))})))


damage("schema.nested-not-null-holds")(lambda table: lists_without_nulls(table, [1], [2, None]))


damage("schema.type-change-allowed")(lambda table: widened(table, WIDENING, {}, CHANGE))


damage("schema.type-change-recorded")(lambda table: widened(table, WIDENING, WIDEN, {}))


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


damage("cdc.equals-difference")(lambda table: recorded(table, ["delete", "insert"], [1, 2]))


damage("cdc.change-types")(lambda table: recorded(table, ["vanish"], [1]))


damage("cdc.file-size")(lambda table: recorded(table, ["delete"], [1], size=1))


damage("cdc.file-exists")(lambda table: recorded(table, ["delete"], [1], path="_change_data/d.parquet"))


@damage("cdc.readable")
def _change_data_torn(table):
    cdc = recorded(table, ["delete"], [1])
    (table.folder / cdc["path"]).write_bytes(b"x" * cdc["size"])


def honest_catalog(table: Any) -> None:
    managed(table, txnId="a")


def honest_constraint(table: Any) -> None:
    constrained(table, "ID > 0 AND name IS NOT NULL")


def honest_lists(table: Any) -> None:
    lists_without_nulls(table, [1], None, [])


HONEST = (honest_catalog, honest_constraint, honest_lists)
