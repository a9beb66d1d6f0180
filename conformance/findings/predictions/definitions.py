"""Definitions that an engine writes otherwise than it was asked to, or for which it refuses a write."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace

from conformance.checks.protocol import supported
from conformance.findings.predictions.commits import partition_columns_behind
from conformance.findings.predictions.tables import is_unchanged, literals_of, message_of
from conformance.observations.observation import Observation
from delta_models.operations import (
    AddConstraint,
    Append,
    AtState,
    AtTime,
    EnableFeature,
    Merge,
    Overwrite,
    Restore,
    SetProperties,
)
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.schema import DOUBLE, FLOAT, DataType, Field, Struct
from delta_models.table.generated_columns import generated_columns

NO_FIELD = re.compile(r"No field named (?P<said>\w+)")
LISTS_FOR_READERS, LISTS_FOR_WRITERS = 3, 7
LARGEST: dict[DataType, float] = {
    FLOAT: 2.0**128,
    DOUBLE: sys.float_info.max,
}  # what is more becomes infinite
VECTORS = "delta.enableDeletionVectors"


def upgrade_names_the_feature_alone(observation: Observation, _: Violation) -> bool:
    """The first list of features names the one that was asked for, and none that the older version implied."""
    operation, before, after = observation.operation, observation.before, observation.after
    if not isinstance(operation, EnableFeature) or before is None or after is None:
        return False
    return (
        before.protocol.min_writer < LISTS_FOR_WRITERS == after.protocol.min_writer
        and supported(after.protocol) == {operation.feature}
        and after.metadata == before.metadata
        and isinstance(observation.outcome, Committed)
    )


def variants_named_with_a_property(observation: Observation, violation: Violation) -> bool:
    """A property that is set makes a protocol that lists features for readers name variants too, and no others."""
    operation, before = observation.operation, observation.before
    return (
        violation.detail == "nothing of the table needs variantType"
        and isinstance(operation, SetProperties)
        and VECTORS not in dict(operation.properties)
        and before is not None
        and before.protocol.min_reader == LISTS_FOR_READERS
    )


def capital_letters_beside_generated_columns(observation: Observation, _: Violation) -> bool:
    """A table with a generated column refuses rows, since it looks for a column by its name in small letters."""
    operation, before = observation.operation, observation.before
    if not isinstance(operation, Append | Overwrite) or before is None:
        return False
    told = NO_FIELD.search(message_of(observation.outcome))
    names = {*before.schema.names, *operation.rows.schema.names}
    return (
        told is not None
        and told["said"] not in names
        and any(name.lower() == told["said"] for name in names)
        and bool(generated_columns(before.schema))
        and is_unchanged(observation)
    )


def infinity_taken_for_a_column(observation: Observation, _: Violation) -> bool:
    """A constraint that compares with an infinite number is refused, because there is no column of that name."""
    operation = observation.operation
    if not isinstance(operation, AddConstraint):
        return False
    told = NO_FIELD.search(message_of(observation.outcome))
    infinite = any(
        isinstance(literal.value, float) and not abs(literal.value) <= LARGEST[literal.type]
        for literal in literals_of(operation)
    )
    return (
        told is not None and told["said"].lower() in {"inf", "nan"} and infinite and is_unchanged(observation)
    )


def restored_though_append_only(observation: Observation, _: Violation) -> bool:
    """A restore of an append-only table is done as of any other: it has the files of the older state."""
    operation, before, after = observation.operation, observation.before, observation.after
    if not isinstance(operation, Restore) or not isinstance(operation.at, AtState | AtTime):
        return False
    version = observation.versions.get(operation.at.step)
    if version is None or before is None or after is None:
        return False
    return (
        before.properties.get("delta.appendOnly") == "true"
        and isinstance(observation.outcome, Committed)
        and after.live.keys() == observation.reader.snapshot(version).live.keys()
    )


def not_null_forgotten(observation: Observation, violation: Violation) -> bool:
    """A write that lets the schema grow leaves the wanted columns, of which those that were NOT NULL may be null."""
    before, after, wanted = observation.before, observation.after, observation.model.schema
    if before is None or after is None or not _grows(observation):
        return False
    if not any(not field.nullable for field in before.schema) or after.schema == wanted:
        return False
    same = sorted(_nullable(after.schema), key=_name) == sorted(_nullable(wanted), key=_name)
    return same and (after.schema.names == wanted.names or partition_columns_behind(observation, violation))


def _grows(observation: Observation) -> bool:
    match observation.operation:
        case Append(schema_mode=mode) | Overwrite(schema_mode=mode):
            return mode == "merge"
        case Merge(schema_evolution=evolution):
            return evolution
    return False


def _nullable(schema: Struct) -> Iterator[Field]:
    for field in schema:
        yield replace(field, nullable=True)


def _name(field: Field) -> str:
    return field.name
