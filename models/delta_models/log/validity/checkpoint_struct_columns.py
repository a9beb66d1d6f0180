"""Rules for what a checkpoint repeats as columns: statistics and partition values say there what they say as texts."""

from __future__ import annotations

import decimal
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from delta_models import variants
from delta_models.log.actions import parse_stats
from delta_models.log.checkpoints import Checkpoint
from delta_models.log.column_mapping import log_name, mapping_mode
from delta_models.log.errors import CorruptLog
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.partitions import parse_partition_value
from delta_models.log.state import Snapshot
from delta_models.log.validity.statistics import parse_bound
from delta_models.log.validity.variant_bounds import decode_bound
from delta_models.requirements.base import Verdict, of_many
from delta_models.schema import TIMESTAMP, VARIANT, DataType, Primitive, Struct
from delta_models.values import Variant

_STATS, _VALUES = "stats_parsed", "partitionValues_parsed"
_VARIANT_BOUNDS = "checkpoint.variant-bounds-are-variants"
_STATS_AGREE = "checkpoint.parsed-stats-agree"
_VALUES_AGREE = "checkpoint.parsed-partition-values-agree"


def judge(checkpoint: Checkpoint, held: Snapshot, replayed: Snapshot | None) -> Iterator[Verdict]:
    """Each rule once for a file of the checkpoint, or the first add that breaks it; `replayed` is the state without the
    checkpoint, if there is one."""
    try:
        schema = held.schema
    except CorruptLog:
        return  # reported with the commit that set it
    judged: Counter[str] = Counter()
    broken: dict[str, str] = {}
    has_variants = any(field.type == VARIANT for field in schema)
    for part in checkpoint.adds:
        stats, values = part.has(_STATS), part.has(_VALUES)
        judged[_STATS_AGREE] += stats
        judged[_VARIANT_BOUNDS] += stats and has_variants
        judged[_VALUES_AGREE] += values
        for key, form in zip(part.keys(), part.forms(), strict=True) if stats or values else ():
            said = form.get("stats")
            if said is None and replayed is not None and key in replayed.live:
                said = replayed.live[key].stats
            wrong = _statistics(held, schema, said, form.get(_STATS)) if stats else None
            if wrong is not None:
                broken.setdefault(_STATS_AGREE, f"{key[0]}: {wrong}")
            wrong = next(_no_variants(held, schema, form[_STATS]), None) if form.get(_STATS) else None
            if wrong is not None:
                broken.setdefault(_VARIANT_BOUNDS, f"{key[0]}: {wrong}")
            wrong = _partition_values(held, schema, form) if values else None
            if wrong is not None:
                broken.setdefault(_VALUES_AGREE, f"{key[0]}: {wrong}")
    for requirement, times in judged.items():
        yield from of_many(requirement, times - (requirement in broken))
    yield from broken.items()


def _statistics(held: Snapshot, schema: Struct, said: str | None, parsed: Any) -> str | None:
    """What differs between both forms of statistics; what only one of them has may be left out."""
    if said is None or not isinstance(parsed, dict):
        return None
    try:
        stats = parse_stats(said)
    except ValueError:
        return None  # reported as statistics that are no JSON
    if _differ(stats.get("numRecords"), parsed.get("numRecords")):
        return f"numRecords is {parsed['numRecords']}, as text {stats['numRecords']}"
    for name in ("nullCount", "minValues", "maxValues"):
        text, columns = stats.get(name), parsed.get(name)
        if isinstance(text, dict) and isinstance(columns, dict):
            wrong = next(_fields(held, schema, text, columns, counts=name == "nullCount"), None)
            if wrong is not None:
                return f"{name} of {wrong}"
    return None


def _fields(
    held: Snapshot, schema: Struct, text: Mapping[str, Any], columns: Mapping[str, Any], *, counts: bool
) -> Iterator[str]:
    for field in schema:
        name = field.name if mapping_mode(held) == "none" else physical_name(field)
        left, right = text.get(name), columns.get(name)
        if left is None or right is None:
            continue
        if isinstance(field.type, Struct) and isinstance(left, dict) and isinstance(right, dict):
            yield from _fields(held, field.type, left, right, counts=counts)
        elif counts:
            if _differ(left, right):
                yield f"{field.name} is {right}, as text {left}"
        elif field.type == VARIANT:
            if _other_variant(left, right):
                yield f"{field.name} is another variant, as text {left}"
        else:
            try:
                bounds = parse_bound(field.type, left), parse_bound(field.type, _as_text(right))
            except (ValueError, TypeError, AttributeError):
                continue  # reported as statistics of another type
            if None not in bounds and not _equal(*bounds):
                yield f"{field.name} is {right}, as text {left}"


def _no_variants(held: Snapshot, schema: Struct, stats: Mapping[str, Any]) -> Iterator[str]:
    """Bounds of variants as columns that are something else; of what is null the object has nothing."""
    for name in ("minValues", "maxValues"):
        columns = stats.get(name)
        if not isinstance(columns, dict):
            continue
        for field in schema:
            there = columns.get(field.name if mapping_mode(held) == "none" else physical_name(field))
            if field.type == VARIANT and there is not None and not _is_variant(there):
                yield f"{name} of {field.name} is {repr(there)[:60]}"


def _is_variant(there: Any) -> bool:
    return isinstance(there, dict) and isinstance(there.get("metadata"), bytes) and len(there) > 1


def _other_variant(text: Any, there: Any) -> bool:
    """Whether both forms of a bound mean other variants; one that is shredded has lost its types, and is not asked."""
    if not _is_variant(there) or there.keys() != {"metadata", "value"}:
        return False
    try:
        return bool(decode_bound(text) != variants.decode(Variant(there["metadata"], there["value"])))
    except ValueError:
        return False  # reported as statistics of another form


def _partition_values(held: Snapshot, schema: Struct, form: Mapping[str, Any]) -> str | None:
    parsed, texts = form.get(_VALUES), form.get("partitionValues")
    if not isinstance(parsed, dict) or not isinstance(texts, dict):
        return None
    for column in held.partition_by:
        field = next(field for field in schema if field.name.casefold() == column.casefold())
        name = log_name(held, field.name)
        text = texts.get(name)
        if field.type == TIMESTAMP and text and not text.endswith("Z"):
            continue  # of the writer's zone, which no log tells
        try:
            wanted = parse_partition_value(field.type, text)
            there = _value(field.type, parsed.get(name))
        except (ValueError, TypeError):
            continue  # reported as a partition value that cannot be read
        if (wanted is None) != (there is None) or (wanted is not None and not _equal(wanted, there)):
            return f"{column} is {parsed.get(name)!r}, as text {text!r}"
    return None


def _value(data_type: DataType, said: Any) -> Any:
    if isinstance(data_type, Primitive) and data_type.name in {"boolean", "binary", "string"}:
        return said or None if data_type.name == "string" else said
    return None if said is None else parse_bound(data_type, _as_text(said))


def _as_text(said: Any) -> Any:
    return str(said) if isinstance(said, decimal.Decimal) else said


def _equal(left: Any, right: Any) -> bool:
    return bool(left == right) or (left != left and right != right)  # noqa: PLR0124 - NaN is not itself


def _differ(left: Any, right: Any) -> bool:
    return type(left) is int and type(right) is int and left != right
