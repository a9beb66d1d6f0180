"""Rules for the columns of new data files: those of the schema and no others, found as column mapping finds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delta_models.log import paths
from delta_models.log.actions import Add
from delta_models.log.column_mapping import log_name, mapping_mode
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog, LogError
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.parquet.layout import FileColumn, file_layout
from delta_models.log.reader import LogReader
from delta_models.log.row_ids import materialized_names
from delta_models.log.state import Snapshot
from delta_models.log.validity.iceberg_compat import NESTED_IDS, active
from delta_models.log.validity.pages import other_pages
from delta_models.log.validity.protocol import is_on
from delta_models.log.validity.void_columns import void_columns
from delta_models.requirements.base import Violation
from delta_models.schema import TIMESTAMP, TIMESTAMP_NTZ, VARIANT, Struct

CHANGE_TYPE = "_change_type"
SHREDDING = "delta.enableVariantShredding"
_COLUMN_ID = "delta.columnMapping.id"

Found = Iterator[tuple[str, str]]


def new_files(before: Snapshot | None, commit: Commit) -> list[Add]:
    """The files that a commit brings into the table: never in it as far as the state knows, and in its own folder."""
    known = set() if before is None else {path for path, _ in (*before.live, *before.tombstones)}
    return [
        add for add in commit.adds if add.path not in known and ":" not in add.path and add.path[:1] != "/"
    ]


def violations(
    reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit
) -> Iterator[Violation]:
    """Breaches of the rules on the columns of new files."""
    try:
        schema = after.schema
    except CorruptLog:
        return  # reported with the commit that set it
    for add in new_files(before, commit):
        try:
            file = paths.resolve(reader.folder, add.path)
            columns = file_layout(file)
        except (LogError, ValueError):
            continue  # reported as a file that is not there or cannot be read
        for detail in other_pages(after.metadata, file):
            yield Violation("log.data-pages", f"{add.path}: {detail}", commit.name)
        for requirement, detail in (
            *_unknown(after, schema, columns),
            *_ids(after, schema, columns),
            *_shredded(after, schema, columns),
            *void_columns(schema, columns, mapped=mapping_mode(after) != "none"),
            *_iceberg(after, columns),
            *_nested_ids(after, schema, columns),
            *_adjusted(after, schema, columns),
        ):
            yield Violation(requirement, f"{add.path}: {detail}", commit.name)


def _unknown(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Found:
    mode = mapping_mode(after)
    hidden = {CHANGE_TYPE, *materialized_names(after)}
    if mode == "id":
        numbers = {field.metadata.get(_COLUMN_ID) for field in schema}
        extra = [
            column.name for column in columns if column.field_id not in numbers and column.name not in hidden
        ]
    else:
        names = {physical_name(field) if mode == "name" else field.name.casefold() for field in schema}
        extra = [
            column.name
            for column in columns
            if (column.name if mode == "name" else column.name.casefold()) not in names
            and column.name not in hidden
        ]
    if extra:
        yield "log.added-file-columns-known", f"columns that are not in the schema: {', '.join(extra)}"


def _ids(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Found:
    if mapping_mode(after) == "none":
        return
    wrong = [name for name, there, wanted in _pairs(schema, columns) if there != wanted]
    if wrong:
        yield "schema.files-have-field-ids", f"no field id, or another, for {', '.join(wrong)}"


def _pairs(schema: Struct, columns: Sequence[FileColumn]) -> Iterator[tuple[str, int | None, object]]:
    """The columns of the schema that the file has by their physical names: their ids there, and in the schema."""
    inside = {column.name: column for column in columns}
    for field in schema:
        there = inside.get(physical_name(field))
        if there is not None:
            yield field.name, there.field_id, field.metadata.get(_COLUMN_ID)
            if isinstance(field.type, Struct):
                yield from _pairs(field.type, there.fields)


def _shredded(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Found:
    if is_on(after.metadata, SHREDDING):
        return
    variants = {log_name(after, field.name) for field in schema if field.type == VARIANT}
    found = [
        column.name
        for column in columns
        if column.name in variants and any(part.name == "typed_value" for part in column.fields)
    ]
    if found:
        yield "log.variant-unshredded", f"{', '.join(found)} shredded, {SHREDDING} is not true"


def _iceberg(after: Snapshot, columns: Sequence[FileColumn]) -> Found:
    versions = list(active(after.protocol, after.metadata))
    if not versions:
        return
    names = [name.name for name in columns]
    missing = [column for column in after.partition_by if log_name(after, column) not in names]
    if missing:
        yield "iceberg.partition-columns-in-files", f"the file lacks {', '.join(missing)}"
    old = [name.name for name in columns if name.int96]
    materialized = [log_name(after, column) for column in after.partition_by]
    if "V1" in versions and not missing and {*names[len(names) - len(materialized) :]} != {*materialized}:
        yield "iceberg.partition-columns-last", f"the columns are {', '.join(names)}"
    if old and "V2" in versions:
        yield "iceberg.timestamps-as-int64", f"{', '.join(old)} stored as int96"


def _nested_ids(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Found:
    """Elements, keys and values have in the file the ids that the schema gives them."""
    if "V2" not in active(after.protocol, after.metadata):
        return
    inside = {column.name: dict(column.inner) for column in columns}
    for field in schema:
        said, name = field.metadata.get(NESTED_IDS), physical_name(field)
        if name not in inside or not isinstance(said, dict):
            continue
        other = [
            way for way, number in said.items() if inside[name].get(way.removeprefix(f"{name}.")) != number
        ]
        if other:
            yield "iceberg.nested-ids-in-files", f"no field id, or another, for {', '.join(sorted(other))}"


def _adjusted(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Found:
    """Timestamps are moments, adjusted to UTC; those without a time zone are not. int96 says neither."""
    wanted = {log_name(after, field.name): field.type for field in schema}
    for column in columns:
        of_type = wanted.get(column.name)
        if of_type not in {TIMESTAMP, TIMESTAMP_NTZ} or not column.is_timestamp or column.int96:
            continue
        if column.adjusted != (of_type == TIMESTAMP):
            yield "log.timestamps-adjusted", f"{column.name} is {of_type}, stored as {column.kind}"
