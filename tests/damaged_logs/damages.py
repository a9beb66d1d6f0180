"""The register of damaged logs, each of which violates one rule, and what several of them share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

DAMAGES: dict[str, Callable[[Any], object]] = {}
PROTOCOL: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors", "appendOnly", "domainMetadata", "inCommitTimestamp"],
}
ICT = {"delta.enableInCommitTimestamps": "true"}
TXN = {"txn": {"appId": "app", "version": 3, "lastUpdated": 5}}
DOMAIN = {"domainMetadata": {"domain": "mine", "configuration": "{}", "removed": False}}
MAPPED = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}
MAPPING = {"minReaderVersion": 2, "minWriterVersion": 5}
FAR_AHEAD = 10**14
VARIANTS: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["variantType"],
    "writerFeatures": [
        "variantType",
        "clustering",
        "domainMetadata",
        "generatedColumns",
        "allowColumnDefaults",
    ],
}
LONG = {"name": "a", "type": "long", "nullable": True, "metadata": {}}
V2 = PROTOCOL | {name: [*PROTOCOL[name], "v2Checkpoint"] for name in ("readerFeatures", "writerFeatures")}
NAMED = f"{1:020d}.checkpoint.5fba94ed-9794-4965-ba6e-6ee3c0d22af9.parquet"
TRACKING: dict[str, Any] = PROTOCOL | {
    "writerFeatures": [*PROTOCOL["writerFeatures"], "rowTracking", "clustering"]
}
WIDENING: dict[str, Any] = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["typeWidening"],
    "writerFeatures": ["typeWidening"],
}
WIDEN = {"delta.enableTypeWidening": "true"}
CHANGE = {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}
FEED = {"delta.enableChangeDataFeed": "true"}


def damage(requirement: str) -> Callable[[Callable[[Any], object]], Callable[[Any], object]]:
    """Register a function that writes a table whose log violates one requirement."""

    def register(write: Callable[[Any], object]) -> Callable[[Any], object]:
        assert requirement not in DAMAGES
        DAMAGES[requirement] = write
        return write

    return register


def damage_field(requirement: str, *omitted: str, **fields: Any) -> None:
    """Register a damage: an add with other `fields`, and without the fields that `omitted` names."""

    def write(table):
        table.create()
        action = table.add(**fields)
        for name in omitted:
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


def commit_info_at(time: int | None) -> dict[str, Any]:
    return {"commitInfo": {"operation": "WRITE"} | ({} if time is None else {"inCommitTimestamp": time})}


def with_field_ids(**columns: list[Any]) -> pa.Table:
    """Return a table whose columns have the field ids 1, 2 and so on."""
    table = pa.table(columns)
    fields = [
        field.with_metadata({b"PARQUET:field_id": str(number).encode()})
        for number, field in enumerate(table.schema, 1)
    ]
    return table.cast(pa.schema(fields))


def write_small_table(table: Any) -> list[dict[str, Any]]:
    """Write a small table and return the actions that its checkpoint must hold."""
    table.create()
    action = table.add()
    table.write(action, TXN)
    return [{"protocol": PROTOCOL}, table.metadata(), action, TXN]


def write_small_v2_table(table: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    table.create(protocol=V2)
    action = table.add()
    table.write(action)
    return [{"protocol": V2}, table.metadata()], action


def write_compaction(table: Any, *actions: dict[str, Any]) -> None:
    lines = "".join(json.dumps(action) + "\n" for action in actions)
    (table.log / f"{1:020d}.{2:020d}.compacted.json").write_text(lines)


def write_two_commits(table: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    table.create()
    first, second = table.add("a.parquet"), table.add("b.parquet")
    table.write(first)
    table.write(second, table.remove(first))
    return first, second


def row_id_mark(number: int) -> dict[str, Any]:
    configuration = json.dumps({"rowIdHighWaterMark": number})
    return {
        "domainMetadata": {"domain": "delta.rowTracking", "configuration": configuration, "removed": False}
    }


def clustering_domain(*columns: str) -> dict[str, Any]:
    configuration = json.dumps({"clusteringColumns": columns})
    return {
        "domainMetadata": {"domain": "delta.clustering", "configuration": configuration, "removed": False}
    }


def write_widened_table(
    table: Any, protocol: dict[str, Any], configuration: dict[str, str], metadata: dict[str, Any]
) -> None:
    fields = [field | {"type": "integer"} if field["name"] == "id" else field for field in table.fields]
    table.create(protocol=protocol, configuration=configuration, fields=fields)
    table.write(table.add())
    wider = [field | {"metadata": metadata} if field["name"] == "id" else field for field in table.fields]
    table.write(table.metadata(configuration=configuration, fields=wider))


def write_change_data(table: Any, kinds: list[Any], identities: list[Any], **changes: Any) -> dict[str, Any]:
    """Write a table with the rows 1 and 2, then delete row 1 with a change data file; return its cdc action."""
    table.create(configuration=FEED)
    first = table.add(rows=[(1, "a", None, None), (2, "b", None, None)])
    table.write(first)
    names = [{1: "a", 2: "b"}[identity] for identity in identities]
    path = table.folder / "_change_data" / "c.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"id": identities, "name": names, "_change_type": kinds}), path)
    cdc = {"path": "_change_data/c.parquet", "partitionValues": {"part": "x"}, "dataChange": False}
    cdc |= {"size": path.stat().st_size} | changes
    table.write(table.remove(first), table.add("b.parquet", [(2, "b", None, None)]), {"cdc": cdc})
    return cdc
