"""Wrong statistics of files: the bound that a mechanism gives, computed from the values that the file holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.findings.predictions.tables import literals_of, rows_before
from conformance.observations.observation import Observation
from delta_models.log import LogError
from delta_models.log.actions import Add, spelling
from delta_models.operations import ConvertFromParquet
from delta_models.requirements import Violation
from delta_models.schema import STRING, DataType, DecimalType, Field, Struct
from delta_models.values import Row, Value, to_single

BOUNDS = {"minValues": min, "maxValues": max}
LONGS = (-(2**63), 2**63 - 1)
SHOWN = 40  # characters of a text in a message
CUT_TEXT = 32  # characters of a text's bound in delta-spark


@dataclass(frozen=True, slots=True)
class _Bound:
    """A minimum or maximum of one column as the statistics say it, and the values of the column in the file."""

    kind: str
    type: DataType
    said: Any
    values: Sequence[Value]


def nan_left_out_of_maximum(observation: Observation, violation: Violation) -> bool:
    """The maximum is the largest of the values that are no NaN."""
    found = False
    for bound in _bounds(observation, violation, "maxValues"):
        numbers = [value for value in bound.values if not math.isnan(value)]
        if len(numbers) == len(bound.values):
            continue
        said = to_single(float(bound.said)) if str(bound.type) == "float" else float(bound.said)
        if not numbers or said != max(numbers):
            return False
        found = True
    return found


def decimal_bound_through_double(observation: Observation, violation: Violation) -> bool:
    """Each bound of the column is what deltalake makes of the extreme value as a double."""
    if isinstance(observation.operation, ConvertFromParquet):
        return False
    return _are_of_doubles(observation, violation)


def converted_bound_through_double(observation: Observation, violation: Violation) -> bool:
    """The same, in the statistics that are made while Parquet files are converted."""
    return isinstance(observation.operation, ConvertFromParquet) and _are_of_doubles(observation, violation)


def text_bound_of_replacement_characters(observation: Observation, violation: Violation) -> bool:
    """A bound is a text of the file in which each byte that is no UTF-8 became U+FFFD."""
    found = False
    for kind in BOUNDS:
        for bound in _bounds(observation, violation, kind):
            foreign = {_replaced(value) for value in bound.values if _replaced(value) != value}
            plain = [value for value in bound.values if _replaced(value) == value]
            said = str(bound.said)
            if any(said[:CUT_TEXT] == text[:CUT_TEXT] for text in foreign):
                found = True
            elif not plain or said[:CUT_TEXT] != BOUNDS[kind](plain)[:CUT_TEXT]:
                return False
    return found


def bytes_of_a_cast_text(observation: Observation, violation: Violation) -> bool:
    """The text that is no UTF-8 is one that the operation casts, or that was in the table."""
    texts = {literal.value for literal in literals_of(observation.operation) if literal.type == STRING}
    texts |= {value for row in rows_before(observation) or () for value in row if isinstance(value, str)}
    foreign = [text for text in texts if text is not None and _replaced(text) != text]
    return any(f" holds {text[:SHOWN]!r}" in violation.detail for text in foreign)


def bounds_are_doubles(add: Add, rows: Sequence[Row], schema: Struct) -> bool:
    """Whether each bound of a decimal column of a file is what deltalake makes of the extreme value as a double."""
    return all(
        _is_of_double(kind, bound)
        for kind in BOUNDS
        for place, field in enumerate(schema)
        if isinstance(field.type, DecimalType)
        for bound in _bounds_inside(
            kind, field, (_statistics(add).get(kind) or {}).get(field.name), [row[place] for row in rows]
        )
    )


def _is_of_double(kind: str, bound: _Bound) -> bool:
    if not isinstance(bound.type, DecimalType):
        return False
    scale = bound.type.scale
    unscaled = BOUNDS[kind](value.at_scale(scale).unscaled for value in bound.values)
    return _said_number(bound.said) in set(_doubles(unscaled, bound.type))


def _are_of_doubles(observation: Observation, violation: Violation) -> bool:
    found = False
    for kind in BOUNDS:
        for bound in _bounds(observation, violation, kind):
            if not _is_of_double(kind, bound):
                return False
            found = True
    return found


def _doubles(unscaled: int, data_type: DecimalType) -> Iterator[float]:
    """What deltalake may write for a decimal. It steps towards 0 if the whole part has more digits than the type."""
    number = (
        unscaled / 10**data_type.scale if abs(unscaled) < 2**53 else float(unscaled) / 10.0**data_type.scale
    )
    numbers = [number]
    if len(str(math.trunc(number))) > data_type.precision - data_type.scale:
        numbers.append(math.nextafter(number, 0.0))
    yield from numbers
    if data_type.scale == 0:  # it is written as a whole number of 64 bits
        yield from (float(min(max(math.trunc(one), LONGS[0]), LONGS[1])) for one in numbers)


def _said_number(said: Any) -> float:
    return float(spelling(said)) if isinstance(said, float) else float(said)


def _bounds(observation: Observation, violation: Violation, kind: str) -> Iterator[_Bound]:
    """The bounds of one kind that a violation may be about: of its column, in the files that its step added."""
    for add, rows in _files_named(observation, violation):
        stats = _statistics(add)
        for field, place in _columns_named(observation, violation):
            values = [row[place] for row in rows]
            part = stats.get(kind)
            said = part.get(field.name) if isinstance(part, Mapping) else None
            yield from _bounds_inside(kind, field, said, values)


def _bounds_inside(kind: str, field: Field, said: Any, values: Sequence[Value]) -> Iterator[_Bound]:
    present = [value for value in values if value is not None]
    if isinstance(field.type, Struct):
        for place, child in enumerate(field.type):
            inside = said.get(child.name) if isinstance(said, Mapping) else None
            yield from _bounds_inside(kind, child, inside, [value[place] for value in present])
    elif said is not None and present:
        yield _Bound(kind, field.type, said, present)


def _files_named(observation: Observation, violation: Violation) -> Iterator[tuple[Add, Sequence[Row]]]:
    if observation.after is None:
        return
    for commit in observation.commits:
        for add in commit.adds:
            if violation.detail.startswith(f"{add.path}: "):
                try:
                    yield add, observation.reader.file_rows(observation.after, add)
                except LogError:
                    continue


def _columns_named(observation: Observation, violation: Violation) -> Iterator[tuple[Field, int]]:
    if observation.after is not None:
        for place, field in enumerate(observation.after.schema):
            if field.name in violation.columns:
                yield field, place


def _statistics(add: Add) -> Mapping[str, Any]:
    try:
        return add.statistics or {}
    except ValueError:
        return {}


def _replaced(text: str) -> str:
    return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= one <= "\udfff" else one for one in text)
