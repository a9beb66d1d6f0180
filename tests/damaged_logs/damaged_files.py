"""Deletion vectors, texts and statistics, each damaged in one way."""

from __future__ import annotations

from typing import Any

from delta_adapters.arrow_rows import to_arrow
from delta_models.log.deletion_vectors import inline_vector
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from tests.damaged_logs.damages import damage

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
    vector = inline_vector([0]).to_json() | {"offset": 1}
    table.write(table.add(deletionVector=vector, stats={"tightBounds": False}))


@damage("log.texts-are-utf8")
def _bytes_as_text(table):
    table.create()
    columns = to_arrow(Rows(struct(("id", LONG), ("name", STRING)), ((1, "a\udcff"),)))
    table.write(table.file("a.parquet", columns, partitionValues={"part": "x"}))


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
