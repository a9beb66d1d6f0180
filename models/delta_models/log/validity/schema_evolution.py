"""Rules for what a change of metadata may do to the columns and files that stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from delta_models.log.actions import Metadata, Protocol
from delta_models.log.column_mapping import mapping_mode
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Verdict, once_each
from delta_models.schema import Array, DataType, DecimalType, Field, Map, Primitive, Struct

_COLUMN_ID = "delta.columnMapping.id"
_MODE = "delta.columnMapping.mode"
_TYPE_CHANGES = "delta.typeChanges"
_WIDER = {
    "byte": ("short", "integer", "long", "double"),
    "short": ("integer", "long", "double"),
    "integer": ("long", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}
_DIGITS = {"byte": 10, "short": 10, "integer": 10, "long": 20}


def judge(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """A commit that sets metadata on top of a state."""
    metadata = commit.metadata
    if before is None or metadata is None:
        return
    try:
        old, new = before.schema, metadata.schema
    except CorruptLog:
        return  # reported as a schema that cannot be read
    removed = {remove.key for remove in commit.removes}
    staying = [key for key in before.live if key not in removed]
    yield from once_each(_column_ids(before.metadata, metadata))
    if staying:
        yield from _mapping_mode(before.metadata, metadata)
        yield from _types(before, commit.protocol or before.protocol, metadata, old, new)
        yield _partitioning(before, metadata, len(staying))


def is_widening(narrow: DataType, wide: DataType) -> bool:
    """Whether files of the narrow type can be read as the wide one. Section "Supported Type Changes"."""
    match narrow, wide:
        case Primitive(name=first), Primitive(name=second):
            return second in _WIDER.get(first, ())
        case Primitive(name=first), DecimalType(precision=precision, scale=scale):
            return first in _DIGITS and precision - scale >= _DIGITS[first]
        case DecimalType(), DecimalType():
            more = wide.scale - narrow.scale
            return more >= 0 and wide.precision - narrow.precision >= more
    return False


def _column_ids(old: Metadata, new: Metadata) -> Iterator[Verdict]:
    highest, before = (
        metadata.configuration.get("delta.columnMapping.maxColumnId", "") for metadata in (new, old)
    )
    if before.isdecimal() and highest.isdecimal():
        wrong = f"maxColumnId goes from {before} to {highest}" if int(highest) < int(before) else None
        yield "schema.max-column-id-never-falls", wrong
    known = {number: name for number, name in _mapped(old.schema) if number is not None}
    for number, name in _mapped(new.schema):
        if number in known:
            wrong = None
            if known[number] != name:
                wrong = f"column {number} was {known[number]!r} in files, now {name!r}"
            yield "schema.physical-names-stay", wrong
    numbers = {name: number for number, name in known.items()}
    for number, name in _mapped(new.schema):
        if number is not None and name in numbers:
            wrong = None
            if numbers[name] != number:
                wrong = f"column {name!r} had the id {numbers[name]}, now {number}"
            yield "schema.column-ids-stay", wrong


def _mapping_mode(old: Metadata, new: Metadata) -> Iterator[Verdict]:
    modes = tuple(metadata.configuration.get(_MODE, "none") for metadata in (old, new))
    if modes != ("none", "none"):
        stays = modes[0] == modes[1] or modes == ("none", "name")
        wrong = None if stays else f"the mode goes from {modes[0]} to {modes[1]} under files that stay"
        yield "schema.mapping-mode-stays", wrong


def _mapped(data_type: DataType) -> Iterator[tuple[Any, str]]:
    match data_type:
        case Struct():
            for field in data_type.fields:
                yield field.metadata.get(_COLUMN_ID), physical_name(field)
                yield from _mapped(field.type)
        case Array(element=element):
            yield from _mapped(element)
        case Map(key=key, value=value):
            yield from _mapped(key)
            yield from _mapped(value)


def _types(
    before: Snapshot, protocol: Protocol, metadata: Metadata, old: Struct, new: Struct
) -> Iterator[Verdict]:
    mapped = mapping_mode(before) != "none"
    listed = (*(protocol.writer_features or ()),)
    enabled = any(name in listed for name in ("typeWidening", "typeWidening-preview"))
    enabled = enabled and metadata.configuration.get("delta.enableTypeWidening", "false").lower() == "true"
    allowed = True
    for holder, path, narrow, wide in _changed(old, new, mapped):
        shown = f"{'.'.join((holder.name, *path))} from {narrow} to {wide} under files that stay"
        if not enabled or not is_widening(narrow, wide):
            allowed = False
            yield "schema.type-change-allowed", shown
        else:
            recorded = _is_recorded(holder, path, narrow, wide)
            yield "schema.type-change-recorded", None if recorded else shown
    if allowed:
        yield "schema.type-change-allowed", None


def _changed(
    old: Struct, new: Struct, mapped: bool
) -> Iterator[tuple[Field, tuple[str, ...], DataType, DataType]]:
    """The types that changed: the nearest field, the path inside its type, and both types."""

    def key(field: Field) -> str:
        return physical_name(field) if mapped else field.name.casefold()

    known = {key(field): field for field in old.fields}
    for field in new.fields:
        if key(field) in known:
            yield from _changed_type(field, (), known[key(field)].type, field.type, mapped)


def _changed_type(
    holder: Field, path: tuple[str, ...], old: DataType, new: DataType, mapped: bool
) -> Iterator[tuple[Field, tuple[str, ...], DataType, DataType]]:
    match old, new:
        case Struct(), Struct():
            yield from _changed(old, new, mapped)
        case Array(element=first), Array(element=second):
            yield from _changed_type(holder, (*path, "element"), first, second, mapped)
        case Map(), Map():
            yield from _changed_type(holder, (*path, "key"), old.key, new.key, mapped)
            yield from _changed_type(holder, (*path, "value"), old.value, new.value, mapped)
        case _ if old != new:
            yield holder, path, old, new


def _is_recorded(holder: Field, path: tuple[str, ...], narrow: DataType, wide: DataType) -> bool:
    changes = holder.metadata.get(_TYPE_CHANGES)
    wanted = (str(narrow), str(wide), ".".join(path))
    return isinstance(changes, list) and any(
        isinstance(change, dict)
        and (change.get("fromType"), change.get("toType"), change.get("fieldPath", "")) == wanted
        for change in changes
    )


def _partitioning(before: Snapshot, metadata: Metadata, staying: int) -> Verdict:
    def keys(metadata: Metadata) -> set[str]:
        names = {field.name.casefold(): physical_name(field) for field in metadata.schema.fields}
        return {names.get(column.casefold(), column) for column in metadata.partition_columns}

    wrong = None
    if keys(before.metadata) != keys(metadata):
        wrong = f"partitioned by {list(metadata.partition_columns)}, {staying} files stay that are not"
    return "schema.partitioning-fits-files", wrong
