"""Columns that the table fills itself: computed from others, or counted."""

from __future__ import annotations

from conformance.generation.choices import Choices
from delta_models.schema import DATE, INTEGER, LONG, STRING, TIMESTAMP, DataType, Field, limit_of
from delta_models.table.char_varchar import char_field, varchar_field
from delta_models.table.generated_columns import GENERATION
from delta_models.table.identity import identity_field

# What a column may be generated from another by: the type of the other, the text (`{}` is the other), and its own type.
EXPRESSIONS: tuple[tuple[DataType, str, DataType], ...] = (
    (LONG, "{}", LONG),
    (STRING, "substring({}, 1, 1)", STRING),
    (TIMESTAMP, "CAST({} AS DATE)", DATE),
    (INTEGER, "CAST({} AS BIGINT)", LONG),
)
NAME = "made"
COUNTED = "serial"
LATTICES = (
    (1, 1),
    (0, 1),
    (10, 10),
    (1, -1),
    (-7, 3),
    (100, -25),
    (2**63 - 12, 2),
)  # where a column starts, and its step

LENGTHS = (2, 3, 5, 33)


def with_lengths(dice: Choices, fields: list[Field], partitions_from: int) -> list[Field]:
    """The columns, most of their texts limited in length."""
    return [
        varchar_field(field.name, dice.pick(LENGTHS))
        if at < partitions_from and field.type == STRING and dice.below(4)
        else field
        for at, field in enumerate(fields)
    ]


def with_width(dice: Choices, fields: list[Field]) -> list[Field]:
    """The columns, one of those with a length filled up by blanks, if another is left for predicates."""
    limited = [at for at, field in enumerate(fields) if limit_of(field) is not None]
    if not limited or len(fields) == 1:
        return fields
    at = dice.pick(limited)
    return [*fields[:at], char_field(fields[at].name, limit_of(fields[at]) or 1), *fields[at + 1 :]]


def with_generated(dice: Choices, fields: list[Field], partitions_from: int) -> list[Field]:
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


def with_identity(dice: Choices, fields: list[Field]) -> list[Field]:
    """The columns, and behind them one that counts; into a third of such columns writers may put values too."""
    start, step = dice.pick(LATTICES)
    return [*fields, identity_field(COUNTED, start, step, explicit=dice.one_in(3))]
