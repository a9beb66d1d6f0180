"""Refusals of an older deltalake: by statistics, by what it wrote itself, and of moments in a rewrite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from conformance.findings.predictions.tables import (
    files_with_rows,
    is_unchanged,
    literals_of,
    message_of,
    snapshot_of,
    wrong_reads,
)
from conformance.observations.observation import Observation
from delta_adapters.deviations.predicates import subexpressions
from delta_models.expressions import And, Column, Compare, Expression, IsNotNull, IsNull, columns_of
from delta_models.log import Snapshot
from delta_models.log.actions import spelling
from delta_models.log.reader import live_adds
from delta_models.outcomes import Outcome, Rejected
from delta_models.requirements import Violation
from delta_models.schema import LONG, TIMESTAMP, TIMESTAMP_NTZ, Array, DecimalType, Map, Struct

OVERFLOW = re.compile(r"parse decimal overflow \((?P<said>[^)]+)\)")
UNKNOWN_COLUMN = re.compile(r"Predicate references unknown column: (\S+)")
NOT_SIMPLIFIED = "arrow_cast should have been simplified to cast"
WITHOUT_VECTORS = "Unsupported reader features required: [DeletionVectors]"
BEYOND = re.compile(r"Selectivity is out of limit: (?P<said>inf|NaN)\b")
VECTORS = "deletionVectors"
LEAST, MOST = -(2**63), 2**63 - 1


def decimal_bound_does_not_fit(observation: Observation, violation: Violation) -> bool:
    """The table is refused for a bound in its log, in which a decimal was rounded to more digits than its type has."""
    for refused, snapshot in _refused(observation, violation):
        told = OVERFLOW.search(message_of(refused))
        if (
            told is not None
            and snapshot is not None
            and Fraction(told["said"]) in _beyond_their_type(snapshot)
        ):
            return True
    return False


def selectivity_of_all_longs(observation: Observation, violation: Violation) -> bool:
    """A filter is refused on a column of longs that holds the least and the greatest of all.

    Their count wraps around to 0, by which another is divided. That is 0 as well where the filter takes nothing off the
    range of a column: where it compares columns, and they may be equal.
    """
    for read, look in wrong_reads(observation, violation):
        snapshot = snapshot_of(observation, read)
        told = BEYOND.search(message_of(look.refused))
        if snapshot is None or read.where is None or told is None:
            continue
        if told["said"] == "NaN" and not _leaves_ranges(read.where):
            continue
        names = {column.path[0].casefold() for column in columns_of(read.where)}
        for place, field in enumerate(snapshot.schema):
            if field.type == LONG and field.name.casefold() in names:
                values = {row[place] for _, rows in files_with_rows(observation, snapshot) for row in rows}
                if {LEAST, MOST} <= values:
                    return True
    return False


def _leaves_ranges(where: Expression) -> bool:
    """Whether all rows may pass what a filter says of two columns, as far as their ranges tell."""
    match where:
        case And(parts):
            return any(map(_leaves_ranges, parts))
        case Compare(op, Column(), Column()):
            return op in {"=", "<=", ">="}
    return False


def vectors_not_supported(observation: Observation, violation: Violation) -> bool:
    """What reads a table with deletion vectors is refused, also where the engine itself has just switched them on."""
    return any(
        WITHOUT_VECTORS in message_of(refused)
        and snapshot is not None
        and VECTORS in (snapshot.protocol.reader_features or ())
        for refused, snapshot in _refused(observation, violation)
    )


def casts_of_moments_refused(observation: Observation, _: Violation) -> bool:
    """A rewrite with a moment in it is refused, since the cast of the moment is not planned."""
    return (
        isinstance(observation.outcome, Rejected)
        and NOT_SIMPLIFIED in message_of(observation.outcome)
        and any(literal.type in {TIMESTAMP, TIMESTAMP_NTZ} for literal in literals_of(observation.operation))
        and is_unchanged(observation)
    )


def pruning_by_an_unknown_column(observation: Observation, _: Violation) -> bool:
    """A write is refused since its predicate names an unknown column, which is one of the table's."""
    told = UNKNOWN_COLUMN.search(message_of(observation.outcome))
    before, where = observation.before, getattr(observation.operation, "where", None)
    return (
        told is not None
        and before is not None
        and isinstance(observation.outcome, Rejected)
        and told[1] in before.schema.names
        and told[1] in {column.path[0] for column in columns_of(where)}
        and is_unchanged(observation)
    )


def nested_column_unknown(observation: Observation, _: Violation) -> bool:
    """A write is refused since its predicate, which asks whether a nested column is null, names an unknown column."""
    told = UNKNOWN_COLUMN.search(message_of(observation.outcome))
    before, where = observation.before, getattr(observation.operation, "where", None)
    if told is None or before is None or not isinstance(observation.outcome, Rejected):
        return False
    nested = {field.name for field in before.schema if isinstance(field.type, Struct | Array | Map)}
    asked = {
        part.operand.path[0]
        for part in subexpressions(where)
        if isinstance(part, IsNull | IsNotNull) and isinstance(part.operand, Column)
    }
    return told[1] in nested & asked and is_unchanged(observation)


def _refused(
    observation: Observation, violation: Violation
) -> Iterator[tuple[Outcome | None, Snapshot | None]]:
    """What was refused, with the state that was to be read: the operation, or the read that a violation is about."""
    if violation.read is None:
        if isinstance(observation.outcome, Rejected):
            yield observation.outcome, observation.after
        return
    for read, look in wrong_reads(observation, violation):
        yield look.refused, snapshot_of(observation, read)


def _beyond_their_type(snapshot: Snapshot) -> Iterator[Fraction]:
    """The bounds of decimals in the log that do not fit into the type of their column."""
    types = {field.name: field.type for field in snapshot.schema if isinstance(field.type, DecimalType)}
    for add in live_adds(snapshot):
        for kind in ("minValues", "maxValues"):
            for name, said in ((add.statistics or {}).get(kind) or {}).items():
                data_type = types.get(name)
                if isinstance(data_type, DecimalType) and isinstance(said, int | float | str):
                    bound = Fraction(spelling(said) if isinstance(said, float) else said)
                    digits = (
                        str(said).lstrip("-").replace(".", "").lstrip("0")
                    )  # of 99999.0 older versions read six
                    too_many = digits.isdigit() and len(digits) > data_type.precision
                    if too_many or abs(bound) >= 10 ** (data_type.precision - data_type.scale):
                        yield bound
