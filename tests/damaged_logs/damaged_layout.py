"""Columns of files, and types in places that do not allow them, each damaged in one way."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.damaged_logs.damages import (
    CHANGE,
    DOMAIN,
    LONG,
    MAPPED,
    MAPPING,
    PROTOCOL,
    TXN,
    VARIANTS,
    clustering_domain,
    damage,
    mapped_field,
    with_field_ids,
)

VARIANT = {"name": "v", "type": "variant", "nullable": True, "metadata": {}}
WHOLE: dict[str, Any] = {"partitionColumns": []}


@damage("log.removed-domain-keeps-configuration")
def _domain_removed_with_another_configuration(table):
    table.create()
    table.write(DOMAIN)
    table.write({"domainMetadata": DOMAIN["domainMetadata"] | {"configuration": "", "removed": True}})


@damage("log.data-files-not-overwritten")
def _name_used_again(table):
    table.create()
    first = table.add()
    table.write(first)
    table.write(TXN)
    table.checkpoint({"protocol": PROTOCOL}, table.metadata(), first, TXN)
    for version in (0, 1):
        (table.log / f"{version:020d}.json").unlink()
    table.write(table.add(rows=[(1, "one", None, None)]))


@damage("log.added-file-columns-known")
def _column_that_the_table_lacks(table):
    table.create(fields=[LONG], **WHOLE)
    table.write(table.file("a.parquet", pa.table({"a": [1], "b": [2]})))


@damage("log.constraint-needs-feature")
def _constraint_without_feature(table):
    table.create(configuration={"delta.constraints.positive": "id > 0"})


@damage("log.variant-shredding-needs-feature")
def _shredding_without_feature(table):
    table.create(configuration={"delta.enableVariantShredding": "true"})


def write_variants(table: Any, **metadata: str) -> None:
    """Write version 0 of a table with a variant."""
    table.create(protocol=VARIANTS, fields=[LONG, VARIANT | {"metadata": metadata}], **WHOLE)


@damage("log.variant-unshredded")
def _shredded_variant(table):
    write_variants(table)
    parts = [pa.array([b"\x01\0\0"]), pa.array([b"\x0c\x07"]), pa.array([7], pa.int8())]
    shredded = pa.StructArray.from_arrays(parts, ["metadata", "value", "typed_value"])
    table.write(table.file("a.parquet", pa.table({"a": [1], "v": shredded})))


@damage("log.void-not-in-files")
def _void_column_in_a_file(table):
    table.create(fields=[LONG, LONG | {"name": "nothing", "type": "void"}], **WHOLE)
    table.write(table.file("a.parquet", pa.table({"a": [1], "nothing": pa.nulls(1)})))


@damage("schema.files-have-field-ids")
def _file_without_ids(table):
    table.create(
        protocol=MAPPING,
        configuration=MAPPED,
        fields=[mapped_field("a", 1, "x"), mapped_field("b", 2, "y")],
        **WHOLE,
    )
    table.write(table.file("a.parquet", pa.table({"x": [1], "y": [2]})))


@damage("schema.type-changes-need-feature")
def _changes_of_type_without_feature(table):
    table.create(fields=[LONG | {"metadata": CHANGE}], **WHOLE)


damage("schema.variant-partitions-nothing")(
    lambda table: table.create(protocol=VARIANTS, fields=[LONG, VARIANT], partitionColumns=["v"])
)


@damage("schema.variant-clusters-nothing")
def _clustered_by_a_variant(table):
    write_variants(table)
    table.write(clustering_domain("v"))


damage("schema.variant-not-generated")(
    lambda table: write_variants(table, **{"delta.generationExpression": "parse_json('1')"})
)


damage("schema.variant-defaults-to-null")(
    lambda table: write_variants(table, CURRENT_DEFAULT="parse_json('1')")
)


@damage("stats.physical-names")
def _statistics_by_display_name(table):
    table.create(
        protocol=MAPPING,
        configuration=MAPPED,
        fields=[mapped_field("a", 1, "x"), mapped_field("b", 2, "y")],
        **WHOLE,
    )
    stats = '{"numRecords": 1, "nullCount": {"a": 0, "y": 0}}'
    table.write(table.file("a.parquet", with_field_ids(x=[1], y=[2]), stats=stats))


@damage("stats.variant-bounds-need-shredding")
def _bounds_of_a_variant(table):
    write_variants(table)
    parts = [pa.array([b"\x01\0\0"]), pa.array([b"\x0c\x07"])]
    inside = pa.StructArray.from_arrays(parts, ["metadata", "value"])
    stats = '{"numRecords": 1, "minValues": {"a": 1, "v": "0S&u5"}, "maxValues": {"a": 1}}'
    table.write(table.file("a.parquet", pa.table({"a": [1], "v": inside}), stats=stats))


def honest_layout(table: Any) -> None:
    """Files with the columns that a file may have: mapped ones with their ids, and those of a change feed."""
    table.create(
        protocol=PROTOCOL
        | {"readerFeatures": ["columnMapping"], "writerFeatures": ["columnMapping", "checkConstraints"]},
        configuration=MAPPED | {"delta.constraints.positive": "a > 0"},
        fields=[mapped_field("a", 1, "x"), mapped_field("b", 2, "y")],
        **WHOLE,
    )
    first = table.file("a.parquet", with_field_ids(x=[1], y=[2], _change_type=["insert"]))
    table.write(first, table.file("b.parquet", with_field_ids(x=[1])))
    table.write(table.metadata(configuration=MAPPED, fields=[mapped_field("a", 1, "x")], **WHOLE))
    table.write(first | {"add": first["add"] | {"dataChange": False}})
