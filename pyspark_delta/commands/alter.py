"""Change a table's properties, columns, constraints and protocol, without rewriting data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from pyspark_delta import features, schema
from pyspark_delta.commands.command_context import Change, changing
from pyspark_delta.commands.conditions import analyse
from pyspark_delta.exceptions import (
    ConstraintViolated,
    DeltaAnalysisError,
    InvalidArgument,
    UnsupportedTableFeature,
)
from pyspark_delta.log.actions import Metadata, Protocol, dump
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.properties import checked_properties, refuse_engines_own, spelled_name
from pyspark_delta.scan import scan

__all__ = [
    "add_columns",
    "add_constraint",
    "add_feature",
    "drop_constraint",
    "set_nullable",
    "set_properties",
    "unset_properties",
    "upgrade_protocol",
]

CONSTRAINT = "delta.constraints."


def set_properties(spark: SparkSession, log: DeltaLog, properties: Mapping[str, str]) -> None:
    """Set properties, and raise the protocol if they need it."""
    settings = checked_properties(properties)
    with changing(spark, log) as change:
        metadata = change.snapshot.metadata
        _change_metadata(
            change,
            replace(metadata, configuration={**metadata.configuration, **settings}),
            "SET TBLPROPERTIES",
            {"properties": dump(settings).decode()},
        )


def unset_properties(
    spark: SparkSession, log: DeltaLog, names: Iterable[str], *, if_exists: bool = False
) -> None:
    """Remove properties; one that only engines maintain can't be removed, whether the table has it or not."""
    wanted = [spelled_name(name) for name in names]
    for name in wanted:
        refuse_engines_own(name)
    with changing(spark, log) as change:
        metadata = change.snapshot.metadata
        missing = [name for name in wanted if name not in metadata.configuration]
        if missing and not if_exists:
            raise InvalidArgument(f"the table has no property {', '.join(missing)}")
        rest = {name: value for name, value in metadata.configuration.items() if name not in wanted}
        parameters = {"properties": dump(wanted).decode(), "ifExists": str(if_exists).lower()}
        _change_metadata(change, replace(metadata, configuration=rest), "UNSET TBLPROPERTIES", parameters)


def add_columns(
    spark: SparkSession, log: DeltaLog, fields: Iterable[StructField], parent: tuple[str, ...] = ()
) -> None:
    """Add nullable columns at the end of the table, or of the struct at `parent`."""
    new = list(fields)
    for field in new:
        if not field.nullable:
            raise InvalidArgument(
                f"the new column {field.name} is NOT NULL, and the rows that are there have no value for it",
                "Add it as nullable, fill it, then make it NOT NULL.",
            )

    def added(struct: StructType) -> StructType:
        for field in new:
            if schema.find(struct, field.name) is not None:
                raise DeltaAnalysisError(f"there is a column {field.name} already")
        return StructType([*struct.fields, *new])

    with changing(spark, log) as change:
        metadata = change.snapshot.metadata
        changed = _inside(change.snapshot.schema, parent, added)
        entries = [{"column": field.jsonValue()} for field in new]
        _change_metadata(
            change,
            replace(metadata, schema_string=schema.to_json(changed)),
            "ADD COLUMNS",
            {"columns": dump(entries).decode()},
        )


def set_nullable(spark: SparkSession, log: DeltaLog, path: tuple[str, ...], *, nullable: bool) -> None:
    """Allow or forbid null in a column; forbidding fails if a row has null there."""
    with changing(spark, log) as change:
        snapshot = change.snapshot
        if not nullable:
            change.transaction.read_whole_table()
            if scan(spark, snapshot).where(f"{schema.path_text(path)} IS NULL").limit(1).count():
                raise ConstraintViolated(f"there are rows without a value for {schema.path_text(path)}")

        def changed(struct: StructType) -> StructType:
            column = schema.find(struct, path[-1])
            if column is None:
                raise DeltaAnalysisError(f"there is no column {schema.path_text(path)}")
            new = StructField(column.name, column.dataType, nullable, column.metadata)
            return StructType([new if field.name == column.name else field for field in struct.fields])

        edited = _inside(snapshot.schema, path[:-1], changed)
        _change_metadata(
            change,
            replace(snapshot.metadata, schema_string=schema.to_json(edited)),
            "CHANGE COLUMN",
            {"column": dump({"name": schema.path_text(path), "nullable": nullable}).decode()},
        )


def add_constraint(spark: SparkSession, log: DeltaLog, name: str, check: str) -> None:
    """Add a condition that every row, old or new, must meet."""
    with changing(spark, log) as change:
        snapshot = change.snapshot
        key = f"{CONSTRAINT}{name.lower()}"
        if key in snapshot.properties:
            raise DeltaAnalysisError(
                f"there is a constraint {name} already: {snapshot.properties[key]}", "Drop it first."
            )
        condition = analyse(spark, snapshot.schema, check, "CHECK")
        change.transaction.read_whole_table()
        broken = scan(spark, snapshot).where(condition.others).limit(1).toArrow().to_pylist()
        if broken:
            raise ConstraintViolated(
                f"the table has rows that break {name} ({check}), for one {broken[0]}",
                "Mend or delete them first.",
            )
        metadata = replace(snapshot.metadata, configuration={**snapshot.properties, key: check})
        _change_metadata(change, metadata, "ADD CONSTRAINT", {"name": name, "expr": check})


def drop_constraint(spark: SparkSession, log: DeltaLog, name: str, *, if_exists: bool = False) -> None:
    """Remove a condition."""
    with changing(spark, log) as change:
        key = f"{CONSTRAINT}{name.lower()}"
        properties = dict(change.snapshot.properties)
        if properties.pop(key, None) is None:
            if if_exists:
                return
            raise DeltaAnalysisError(f"there is no constraint {name}")
        metadata = replace(change.snapshot.metadata, configuration=properties)
        _change_metadata(change, metadata, "DROP CONSTRAINT", {"name": name})


def upgrade_protocol(spark: SparkSession, log: DeltaLog, reader: int, writer: int) -> None:
    """Add the features that these protocol versions imply; features that the table has stay.

    Versions 3 and 7 imply none by themselves, because such a table lists its features.
    """
    if not (1 <= reader <= 3 and 1 <= writer <= 7):
        raise InvalidArgument(f"there is no protocol ({reader}, {writer})", "The newest one is (3, 7).")
    if reader == 3 and writer != 7:
        raise InvalidArgument("reader version 3 needs writer version 7")
    with changing(spark, log) as change:
        wanted = features.upgraded(change.snapshot.protocol, features.implied(reader, writer))
        _change_protocol(change, wanted, "UPGRADE PROTOCOL")


def add_feature(spark: SparkSession, log: DeltaLog, name: str) -> None:
    """Add a feature that this engine can write to the table's protocol."""
    with changing(spark, log) as change:
        known = {writable.lower(): writable for writable in features.WRITABLE}
        feature = known.get(name.lower(), name)
        if feature not in features.WRITABLE:
            raise UnsupportedTableFeature(f"the feature {name} is not supported", features=(name,))
        current = change.snapshot.protocol
        if current.writer_features is not None and feature in current.writer_features:
            return
        _change_protocol(change, _listing(current, feature), "ADD FEATURE")


def _listing(current: Protocol, feature: str) -> Protocol:
    """The protocol with feature lists that include this feature."""
    writer = features.writer_features(current) | {feature}
    reader = features.reader_features(current)
    if features.upgraded(Protocol(1, 7, None, frozenset()), [feature]).min_reader == 3:
        reader |= {feature}
    if not reader:
        return Protocol(current.min_reader, 7, None, writer)
    return Protocol(3, 7, reader, writer)


def _change_protocol(change: Change, protocol: Protocol, operation: str) -> None:
    if protocol == change.snapshot.protocol:
        return
    features.check_writable(protocol, change.snapshot.metadata, change.snapshot.domains, change.log.path)
    change.transaction.update_protocol(protocol)
    change.commit([], operation, {"newProtocol": dump(protocol.to_json()).decode()}, {})


def _change_metadata(
    change: Change, metadata: Metadata, operation: str, parameters: Mapping[str, str]
) -> None:
    change.transaction.update_metadata(metadata)
    change.commit([], operation, parameters, {})


def _inside(outer: StructType, path: tuple[str, ...], edit: Callable[[StructType], StructType]) -> StructType:
    """The schema with the struct at a path replaced by `edit` of it."""
    if not path:
        return edit(outer)
    step = schema.find(outer, path[0])
    if step is None or not isinstance(step.dataType, StructType):
        raise DeltaAnalysisError(f"there is no struct {schema.path_text(path)}")
    inner = _inside(step.dataType, path[1:], edit)
    return StructType(
        [
            StructField(field.name, inner, field.nullable, field.metadata)
            if field.name == step.name
            else field
            for field in outer.fields
        ]
    )
