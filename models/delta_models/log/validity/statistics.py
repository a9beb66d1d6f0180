"""Do the statistics of a file tell the truth about its rows? Section "Per-file Statistics" of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delta_models.log.actions import Add, spelling
from delta_models.log.column_mapping import mapping_mode
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.partitions import parse_partition_value
from delta_models.log.state import Snapshot
from delta_models.log.validity.stats_bounds import judge_bound
from delta_models.log.validity.variant_bounds import judge_bounds
from delta_models.requirements.base import once_each
from delta_models.schema import VARIANT, DataType, DecimalType, Field, Primitive, Struct
from delta_models.values import Decimal, Row, Value, parse_decimal, to_single

Finding = tuple[str, str | None, tuple[str, ...]]  # a verdict, and the columns that it concerns
_PARTS = ("nullCount", "minValues", "maxValues")


@dataclass(frozen=True, slots=True)
class _Said:
    """What the statistics say of one column, or of a struct's columns: the same place in each of their parts."""

    top: str
    name: str
    nulls: Any
    low: Any
    high: Any
    tight: bool
    count: Any
    mapped: bool
    shredding: bool

    def inside(self, field: Field) -> _Said:
        """What they say of a field in it."""
        key = physical_name(field) if self.mapped else field.name
        nulls, low, high = (
            part.get(key) if isinstance(part, dict) else None for part in (self.nulls, self.low, self.high)
        )
        name = f"{self.name}.{field.name}" if self.name else field.name
        return replace(self, top=self.top or field.name, name=name, nulls=nulls, low=low, high=high)

    def find(self, requirement: str, wrong: str | None = None) -> Finding:
        """A finding about this column."""
        return requirement, None if wrong is None else f"{self.name}: {wrong}", (self.top,)


def judge(snapshot: Snapshot, add: Add, rows: Sequence[Row], length: int, deleted: int) -> Iterator[Finding]:
    """Whether the statistics are right. Where a rule holds for all columns of the file that counts once.

    `rows` are the valid rows of the file, `length` the number of all its rows, `deleted` of those in its
    deletion vector.
    """
    yield from once_each(_rules(snapshot, add, rows, length, deleted))


def _rules(snapshot: Snapshot, add: Add, rows: Sequence[Row], length: int, deleted: int) -> Iterator[Finding]:
    try:
        stats = add.statistics
    except ValueError as error:
        yield "stats.well-formed", f"stats is no JSON object: {error}", ()
        return
    if stats is None:
        return
    yield "stats.well-formed", None, ()
    yield from _shape(stats)
    count = stats.get("numRecords")
    if type(count) is int:
        wrong = None
        if count != length:
            also = f" ({length - deleted} of them valid)" if deleted else ""
            wrong = f"numRecords is {count}, the file has {length} rows{also}"
        yield "stats.num-records", wrong, ()
    said = _Said(
        "",
        "",
        stats.get("nullCount"),
        stats.get("minValues"),
        stats.get("maxValues"),
        stats.get("tightBounds", True) is not False,
        count,
        mapping_mode(snapshot) != "none",
        _bounds_variants(snapshot),
    )
    yield from _names(stats, snapshot.schema, said.mapped)
    yield from _variant_bounds(snapshot, said)
    partitions = {name.casefold() for name in snapshot.partition_by}
    for field, values in zip(snapshot.schema.fields, _columns(rows, snapshot.schema), strict=True):
        if field.name.casefold() not in partitions:
            yield from _column(field.type, values, said.inside(field))


def _names(stats: Mapping[str, Any], schema: Struct, mapped: bool) -> Iterator[Finding]:
    """Under column mapping a column is known by its physical name: a name that users see stands for nothing."""
    if not mapped:
        return
    yield "stats.physical-names", None, ()
    physical = {physical_name(field) for field in schema}
    for field in schema:
        parts = [name for name in _PARTS if isinstance(stats.get(name), dict) and field.name in stats[name]]
        if field.name not in physical and parts:
            detail = f"{', '.join(parts)} name {field.name!r}, which is {physical_name(field)!r} in files"
            yield "stats.physical-names", detail, (field.name,)


def _bounds_variants(snapshot: Snapshot) -> bool:
    """Whether variants may have bounds."""
    features = snapshot.protocol.writer_features or ()
    return "variantShredding" in features or "variantShredding-preview" in features


def _variant_bounds(snapshot: Snapshot, said: _Said) -> Iterator[Finding]:
    if said.shredding:
        return
    for field in snapshot.schema:
        inside = said.inside(field)
        if field.type == VARIANT:
            bounded = inside.low is not None or inside.high is not None
            wrong = "bounds of a variant without variantShredding" if bounded else None
            yield inside.find("stats.variant-bounds-need-shredding", wrong)


def parse_bound(data_type: DataType, said: Any) -> Value:
    """The value that a minimum or maximum means; None if it carries no information. Raises ValueError if none."""
    match data_type:
        case Primitive(name="byte" | "short" | "integer" | "long"):
            if type(said) is int:
                return said
        case Primitive(name="float" | "double" as name):
            number = parse_partition_value(Primitive("double"), said) if type(said) is str else float(said)
            return to_single(number) if name == "float" and number is not None else number
        case DecimalType(scale=scale):
            text = said if type(said) is str else str(said) if type(said) is int else spelling(said)
            return _decimal(text, scale)
        case Primitive(name="string"):
            if type(said) is str:
                return said
        case Primitive(name="boolean"):
            if type(said) is bool:
                return said
        case Primitive(name="date" | "timestamp" | "timestamp_ntz"):
            if type(said) is str:
                return parse_partition_value(data_type, said)
        case _:
            return None
    raise ValueError(repr(said)[:60])


def _shape(stats: Mapping[str, Any]) -> Iterator[Finding]:
    count = stats.get("numRecords")
    if count is not None and (type(count) is not int or count < 0):
        yield "stats.well-formed", f"numRecords is {count!r}", ()
    if type(stats.get("tightBounds", True)) is not bool:
        yield "stats.well-formed", f"tightBounds is {stats['tightBounds']!r}", ()
    for name in _PARTS:
        if not isinstance(stats.get(name), dict | None):
            yield "stats.well-formed", f"{name} is no object", ()


def _columns(rows: Sequence[Row], schema: Struct) -> list[Sequence[Value]]:
    if not rows or not len(schema):
        return [()] * len(schema)
    return list(zip(*rows, strict=True))


def _column(data_type: DataType, values: Sequence[Value], said: _Said) -> Iterator[Finding]:
    if isinstance(data_type, Struct):
        nothing = (None,) * len(data_type)
        present = [nothing if value is None else value for value in values]
        for child, inside in zip(data_type.fields, _columns(present, data_type), strict=True):
            yield from _column(child.type, inside, said.inside(child))
        return
    yield from _null_count(data_type, values, said)
    present = [value for value in values if value is not None]
    if not present:
        return
    if data_type == VARIANT:
        if said.shredding:
            for requirement, wrong in judge_bounds(said.low, said.high, present, tight=said.tight):
                yield said.find(requirement, wrong)
        return
    if said.low is not None:
        yield from _bound(data_type, present, said, low=True)
    if said.high is not None:
        yield from _bound(data_type, present, said, low=False)


def _null_count(data_type: DataType, values: Sequence[Value], said: _Said) -> Iterator[Finding]:
    if said.nulls is None:
        return
    if data_type == VARIANT:
        nested = isinstance(said.nulls, dict)
        wrong = f"nullCount is {repr(said.nulls)[:80]}" if nested else None
        yield said.find("stats.variant-null-count", wrong)
    if isinstance(said.nulls, dict):
        return
    if type(said.nulls) is not int:
        yield said.find("stats.well-formed", f"nullCount is {said.nulls!r}")
        return
    nulls = sum(value is None for value in values)
    wrong = None
    if said.tight:
        if said.nulls != nulls:
            wrong = f"nullCount is {said.nulls}, there are {nulls} nulls"
    elif (said.nulls == 0 and nulls) or (said.nulls == said.count and nulls != len(values)):
        wrong = f"wide nullCount is {said.nulls} of {said.count}, there are {nulls} nulls"
    yield said.find("stats.null-count", wrong)


def _bound(data_type: DataType, present: Sequence[Value], said: _Said, *, low: bool) -> Iterator[Finding]:
    kind = "minimum" if low else "maximum"
    form = said.low if low else said.high
    try:
        bound = parse_bound(data_type, form)
    except (ValueError, TypeError, AttributeError) as error:
        yield said.find("stats.well-formed", f"the {kind} is no {data_type}: {error}")
        return
    if bound is None:
        return
    for requirement, wrong in judge_bound(data_type, present, bound, low=low, tight=said.tight):
        yield said.find(requirement, wrong)


def _decimal(text: str, scale: int) -> Decimal:
    mantissa, _, exponent = text.upper().partition("E")
    parsed = parse_decimal(mantissa)
    shift = parsed.scale - int(exponent or 0)
    exact = Decimal(parsed.unscaled * 10 ** max(0, -shift), max(0, shift))
    return exact.at_scale(scale)
