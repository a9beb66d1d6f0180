"""Identity columns: what is true of the values that a table generates, whatever those values are.

A value that an engine generated is `UNKNOWN` until the harness has read that engine's copy. Then
`bind_generated_values` takes the values from the copy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from delta_models.schema import LONG, Field, Struct
from delta_models.table.expectation import Expectation, allow_refusal
from delta_models.table.state import Table
from delta_models.values import Key, Row, Rows, Value, row_keyer

START, STEP = "delta.identity.start", "delta.identity.step"
EXHAUSTED = ("overflow", "constraint", "bad-argument")
ROOM = 1_000_000  # no history uses up so many values
EXPLICIT, MARK = "delta.identity.allowExplicitInsert", "delta.identity.highWaterMark"


class UnknownValue:
    """A generated value that the harness has not read yet; it equals only itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "a generated value"


UNKNOWN = UnknownValue()


@dataclass(frozen=True, slots=True)
class Identity:
    """An identity column.

    `start` and `step` define its values. `explicit`: writers may give values. `mark` is its high water mark.
    """

    position: int
    name: str
    start: int
    step: int
    explicit: bool
    mark: int | None

    @property
    def near_its_end(self) -> bool:
        """Whether its values may run out during a history, since engines may skip some."""
        return not -(2**63) <= self.start + ROOM * self.step < 2**63

    def on_the_lattice(self, value: int) -> bool:
        """Whether a value is the start plus zero or more steps."""
        return (value - self.start) % self.step == 0 and (value - self.start) // self.step >= 0

    def beyond(self, value: int, mark: int) -> bool:
        """Whether a value lies beyond a mark in the direction of the steps."""
        return value > mark if self.step > 0 else value < mark


def identity_field(name: str, start: int, step: int, *, explicit: bool) -> Field:
    """Return the field of an identity column for a new table."""
    return Field(name, LONG).with_metadata({START: start, STEP: step, EXPLICIT: explicit})


def identities(schema: Struct) -> tuple[Identity, ...]:
    """Return the identity columns of a schema."""
    return _identities(schema) if any(STEP in field.metadata_json for field in schema.fields) else ()


def without_identities(table: Table) -> Table:
    """Return the table without its identity columns, as histories are drawn from it."""
    opaque = {identity.position for identity in identities(table.schema)}
    if not opaque:
        return table
    kept = [position for position in range(len(table.schema)) if position not in opaque]
    schema = Struct(tuple(table.schema.fields[position] for position in kept))
    return replace(
        table, schema=schema, rows=tuple(tuple(row[position] for position in kept) for row in table.rows)
    )


def bind_generated_values(table: Table, observed: Rows) -> Table:
    """Return the table with the generated values of one copy in place of the unknown ones.

    Rows that the copy does not have keep their unknown values.
    """
    positions = [identity.position for identity in identities(table.schema)]
    if not any(row[position] is UNKNOWN for row in table.rows for position in positions):
        return table
    if observed.schema.names != table.schema.names:
        return table
    key = row_keyer(table.schema)
    known = Counter(key(row) for row in table.rows)
    unmatched: dict[Key, list[Row]] = defaultdict(list)
    for row in sorted(
        observed.rows, key=lambda candidate: tuple(candidate[position] or 0 for position in positions)
    ):
        if known[key(row)] > 0:
            known[key(row)] -= 1
        else:
            unmatched[key(_mask(row, positions))].append(row)
    rows = []
    for row in table.rows:
        candidates = (
            unmatched[key(_mask(row, positions))]
            if any(row[position] is UNKNOWN for position in positions)
            else []
        )
        rows.append(candidates.pop(0) if candidates else row)
    return table.with_rows(tuple(rows))


def generated_values(before: Table, after: Table) -> dict[str, list[Value]]:
    """Return the values by column that are known in `after` and unknown in `before`, the same table."""
    values: dict[str, list[Value]] = {}
    for identity in identities(before.schema):
        position = identity.position
        values[identity.name] = [
            new[position]
            for old, new in zip(before.rows, after.rows, strict=True)
            if old[position] is UNKNOWN
        ]
    return values


def allow_identity_overflow(before: Table, expectation: Expectation) -> Expectation:
    """Return the outcomes of a write, with a refusal allowed if its identity values may have run out."""
    after = expectation.ordinary.table
    short = [identity.position for identity in identities(after.schema) if identity.near_its_end]
    if not any(row[position] is UNKNOWN for position in short for row in after.rows):
        return expectation
    return allow_refusal(expectation, before, EXHAUSTED, "outcome.identity-overflow-may-be-refused")


def identities_named(schema: Struct, names: Iterable[str]) -> tuple[Identity, ...]:
    """Return the identity columns that have one of these names."""
    folded = {name.casefold() for name in names}
    return tuple(identity for identity in identities(schema) if identity.name.casefold() in folded)


def _mask(row: Row, positions: Iterable[int]) -> Row:
    parts = list(row)
    for position in positions:
        parts[position] = UNKNOWN
    return tuple(parts)


@lru_cache(maxsize=256)
def _identities(schema: Struct) -> tuple[Identity, ...]:
    columns = []
    for position, field in enumerate(schema):
        metadata = field.metadata
        if STEP in metadata:
            mark = metadata.get(MARK)
            start, step = int(str(metadata[START])), int(str(metadata[STEP]))
            high_water_mark = None if mark is None else int(str(mark))
            columns.append(
                Identity(position, field.name, start, step, bool(metadata.get(EXPLICIT)), high_water_mark)
            )
    return tuple(columns)
