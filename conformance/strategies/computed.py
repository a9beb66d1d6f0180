"""Columns that the table computes itself from others."""

from __future__ import annotations

from conformance.strategies.dice import Dice
from delta_models.schema import DATE, INTEGER, LONG, STRING, TIMESTAMP, DataType, Field
from delta_models.table.computed import GENERATION

# What a column may be generated from another by: the type of the other, the text (`{}` is the other), and its own type.
EXPRESSIONS: tuple[tuple[DataType, str, DataType], ...] = (
    (LONG, "{}", LONG),
    (STRING, "substring({}, 1, 1)", STRING),
    (TIMESTAMP, "CAST({} AS DATE)", DATE),
    (INTEGER, "CAST({} AS BIGINT)", LONG),
)
NAME = "made"


def with_generated(dice: Dice, fields: list[Field], partitions_from: int) -> list[Field]:
    """The columns, and behind the data columns one that is generated from another, if one can be."""
    data = fields[:partitions_from]
    possible = [
        (each, text, kind) for each in data for source, text, kind in EXPRESSIONS if each.type == source
    ]
    if not possible:
        return fields
    source, text, kind = dice.pick(possible)
    made = Field(NAME, kind).with_metadata({GENERATION: text.format(f"`{source.name}`")})
    return [*fields, made]
