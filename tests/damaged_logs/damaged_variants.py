"""Statistics of variants, each damaged in one way."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa

from delta_models import variants
from delta_models.log.deletion_vectors import z85_encode
from delta_models.values import Decimal
from delta_models.variants import DOUBLE, TIMESTAMP, Scalar
from tests.damaged_logs.damaged_layout import VARIANT, WHOLE
from tests.damaged_logs.damages import LONG, VARIANTS, damage

SHREDDING: dict[str, Any] = VARIANTS | {
    name: [*VARIANTS[name], "variantShredding"] for name in ("readerFeatures", "writerFeatures")
}
TREES: tuple[Any, ...] = (
    {"a": "min-string", "b": {"c": 100}, "m": 1},
    {"a": "variant", "b": {"c": 1}, "m": "one", "n": None},
    {"a": "of", "l": [3, {"it's": True}]},
    7,
)
LOW = {"$['a']": "min-string", "$['b']['c']": 1}
HIGH = {"$['a']": "variant", "$['b']['c']": 100}
EXAMPLE = {
    "minValues": "0S&u501fk+ze0(tB98CpzF6vU0rJl95HpNdvjbtatpi(cu0wW^cTu",
    "maxValues": "0S&u500&]LC42A9vqZe}wb#-i1}-a+cT!xdbWhT9cTx}7v<+K",
}


def encode_bound(tree: Any) -> str:
    """Return a bound as JSON holds it, its last block filled with zeros."""
    return z85_encode(b"".join(variants.encode(tree)))


def write_with_statistics(table: Any, trees: tuple[Any, ...] = TREES, **stats: Any) -> dict[str, Any]:
    """Write a file of variants and a null, with statistics of their column; return its add."""
    if table.version < 0:
        table.create(protocol=SHREDDING, fields=[LONG, VARIANT], **WHOLE)
    values = [variants.encode(tree) for tree in trees]
    columns = [pa.array([*part, None], pa.binary()) for part in zip(*values, strict=True)]
    mask = pa.array([False] * len(values) + [True])
    inside = pa.StructArray.from_arrays(columns, ["metadata", "value"], mask=mask)
    numbers = pa.array(range(len(inside)), pa.int64())
    said = {"numRecords": len(inside), "tightBounds": stats.pop("tightBounds", True)}
    said |= {name: {"v": form} for name, form in stats.items()}
    name = f"{table.version}.parquet"
    action: dict[str, Any] = table.file(name, pa.table({"a": numbers, "v": inside}), stats=json.dumps(said))
    table.write(action)
    return action


def damage_bounds(requirement: str, low: Any = LOW, high: Any = HIGH, trees: tuple[Any, ...] = TREES) -> None:
    """Register a damage: wrong bounds of honest variants."""
    damage(requirement)(
        lambda table: write_with_statistics(
            table, trees, minValues=encode_bound(low), maxValues=encode_bound(high)
        )
    )


@damage("stats.variant-null-count")
def _nulls_of_paths(table):
    write_with_statistics(table, nullCount={"a": 2})


@damage("stats.variant-bounds-encoded")
def _bounds_as_plain_json(table):
    write_with_statistics(table, minValues={"$['a']": "min-string"})


damage_bounds("stats.variant-bounds-by-path", low=LOW | {"b.c": 1})


damage_bounds("stats.variant-bounds-primitive", low={"$['a']": "min-string", "$['b']": {"c": 1}})


damage_bounds("stats.variant-bounds-one-type", low=LOW | {"$['m']": 1})


damage_bounds("stats.variant-bounds-types-agree", low=LOW | {"$['z']": 1}, high=HIGH | {"$['z']": "one"})


damage_bounds("stats.variant-min-values", low=LOW | {"$['b']['c']": 2})


damage_bounds("stats.variant-max-values", high=HIGH | {"$['b']['c']": 99})


damage_bounds("stats.variant-tight-bounds", high=HIGH | {"$['b']['c']": 101})


def write_parsed_bounds(table: Any, **bounds: bytes) -> None:
    """Write a checkpoint with the minimum of a variant as a column."""
    said = WHOLE | {
        "configuration": {"delta.checkpoint.writeStatsAsStruct": "true"},
        "fields": [LONG, VARIANT],
    }
    table.create(protocol=SHREDDING, **said)
    action = write_with_statistics(table, minValues=encode_bound(LOW))["add"]
    parsed = {"stats_parsed": {"numRecords": 5, "minValues": {"v": bounds}}}
    table.checkpoint({"protocol": SHREDDING}, table.metadata(**said), {"add": action | parsed})


damage("checkpoint.variant-bounds-are-variants")(
    lambda table: write_parsed_bounds(table, value=variants.encode(LOW).value)
)


def honest_columns_of_variants(table: Any) -> None:
    """The bound of a variant as text and as columns."""
    write_parsed_bounds(table, **variants.encode(LOW)._asdict())


def honest_variants(table: Any) -> None:
    """Bounds of single paths: from different rows, of one side only, cut, wide, in the protocol's own spelling."""
    trees = ({"a": "min-string", "b": {"c": 100}}, {"a": "variant", "b": {"c": 1}})
    write_with_statistics(table, trees, nullCount=1, **EXAMPLE)
    there = {"$['l'][1]['it\\'s']": True, "$['a']": "min-string", "$['z']": 1, "$['n']": None}
    write_with_statistics(
        table, nullCount=1, minValues=encode_bound(there), maxValues=encode_bound({"$['a']": "varj"})
    )
    write_with_statistics(
        table,
        tightBounds=False,
        minValues=encode_bound({"$['b']['c']": Decimal(-5, 1)}),
        maxValues=encode_bound({}),
    )
    times = tuple(Scalar(TIMESTAMP, struct.pack("<q", number)) for number in (1_000_001, 2_000_999))
    cut = [Scalar(TIMESTAMP, struct.pack("<q", number)) for number in (1_000_000, 2_000_000)]
    write_with_statistics(
        table, times, minValues=encode_bound({"$": cut[0]}), maxValues=encode_bound({"$": cut[1]})
    )
    doubles = tuple(Scalar(DOUBLE, struct.pack("<d", number)) for number in (0.5, float("nan"), -1.5))
    write_with_statistics(
        table, doubles, minValues=encode_bound({"$": doubles[2]}), maxValues=encode_bound({"$": doubles[0]})
    )


HONEST = (honest_variants, honest_columns_of_variants)
