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
from delta_models.log.validity.pages import judge_pages
from delta_models.log.validity.protocol import is_on
from delta_models.log.validity.void_columns import void_columns
from delta_models.requirements.base import Verdict, once_each
from delta_models.schema import TIMESTAMP, TIMESTAMP_NTZ, VARIANT, Struct

CHANGE_TYPE = "_change_type"
SHREDDING = "delta.enableVariantShredding"
_COLUMN_ID = "delta.columnMapping.id"


def _new_files(before: Snapshot | None, commit: Commit) -> list[Add]:
    """The files that a commit brings into the table: never in it as far as the state knows, and in its own folder."""
    known = set() if before is None else {path for path, _ in (*before.live, *before.tombstones)}
    return [
        add for add in commit.adds if add.path not in known and ":" not in add.path and add.path[:1] != "/"
    ]


def judge(reader: LogReader, before: Snapshot | None, after: Snapshot, commit: Commit) -> Iterator[Verdict]:
    """The rules on the columns of new files."""
    try:
        schema = after.schema
    except CorruptLog:
        return  # reported with the commit that set it
    for add in _new_files(before, commit):
        try:
            file = paths.resolve(reader.folder, add.path)
            columns = file_layout(file)
        except (LogError, ValueError):
            continue  # reported as a file that is not there or cannot be read
        for requirement, wrong in (
            *(("log.data-pages", wrong) for wrong in judge_pages(after.metadata, file)),
            _unknown(after, schema, columns),
            *_ids(after, schema, columns),
            *_shredded(after, schema, columns),
            *void_columns(schema, columns, mapped=mapping_mode(after) != "none"),
            *_iceberg(after, columns),
            *_nested_ids(after, schema, columns),
            *once_each(_adjusted(after, schema, columns)),
        ):
            yield requirement, None if wrong is None else f"{add.path}: {wrong}"


def _unknown(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Verdict:
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
    wrong = f"columns that are not in the schema: {', '.join(extra)}" if extra else None
    return "log.added-file-columns-known", wrong


def _ids(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Iterator[Verdict]:
    if mapping_mode(after) == "none":
        return
    wrong = [name for name, there, wanted in _pairs(schema, columns) if there != wanted]
    detail = f"no field id, or another, for {', '.join(wrong)}" if wrong else None
    yield "schema.files-have-field-ids", detail


def _pairs(schema: Struct, columns: Sequence[FileColumn]) -> Iterator[tuple[str, int | None, object]]:
    """The columns of the schema that the file has by their physical names: their ids there, and in the schema."""
    inside = {column.name: column for column in columns}
    for field in schema:
        there = inside.get(physical_name(field))
        if there is not None:
            yield field.name, there.field_id, field.metadata.get(_COLUMN_ID)
            if isinstance(field.type, Struct):
                yield from _pairs(field.type, there.fields)


def _shredded(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Iterator[Verdict]:
    variants = {log_name(after, field.name) for field in schema if field.type == VARIANT}
    if not variants or is_on(after.metadata, SHREDDING):
        return
    shredded = [
        column.name
        for column in columns
        if column.name in variants and any(part.name == "typed_value" for part in column.fields)
    ]
    wrong = f"{', '.join(shredded)} shredded, {SHREDDING} is not true" if shredded else None
    yield "log.variant-unshredded", wrong


def _iceberg(after: Snapshot, columns: Sequence[FileColumn]) -> Iterator[Verdict]:
    versions = list(active(after.protocol, after.metadata))
    if not versions:
        return
    names = [column.name for column in columns]
    missing = []
    if after.partition_by:
        missing = [column for column in after.partition_by if log_name(after, column) not in names]
        wrong = f"the file lacks {', '.join(missing)}" if missing else None
        yield "iceberg.partition-columns-in-files", wrong
    materialized = [log_name(after, column) for column in after.partition_by]
    if "V1" in versions and materialized and not missing:
        last = {*names[len(names) - len(materialized) :]} == {*materialized}
        wrong = None if last else f"the columns are {', '.join(names)}"
        yield "iceberg.partition-columns-last", wrong
    if "V2" in versions and any(column.is_timestamp or column.int96 for column in columns):
        old = [column.name for column in columns if column.int96]
        yield "iceberg.timestamps-as-int64", f"{', '.join(old)} stored as int96" if old else None


def _nested_ids(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Iterator[Verdict]:
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
        wrong = f"no field id, or another, for {', '.join(sorted(other))}" if other else None
        yield "iceberg.nested-ids-in-files", wrong


def _adjusted(after: Snapshot, schema: Struct, columns: Sequence[FileColumn]) -> Iterator[Verdict]:
    """Timestamps are moments, adjusted to UTC; those without a time zone are not. int96 says neither."""
    wanted = {log_name(after, field.name): field.type for field in schema}
    for column in columns:
        of_type = wanted.get(column.name)
        if of_type not in {TIMESTAMP, TIMESTAMP_NTZ} or not column.is_timestamp or column.int96:
            continue
        fits = column.adjusted == (of_type == TIMESTAMP)
        yield (
            "log.timestamps-adjusted",
            None if fits else f"{column.name} is {of_type}, stored as {column.kind}",
        )
