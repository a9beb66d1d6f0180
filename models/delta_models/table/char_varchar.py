"""What writing to char(n) and varchar(n) columns means. Lengths count code points.

The protocol has only strings. Spark stores the length in the field's metadata, and delta-spark refuses longer texts. So
the rule is of class *reference*: an engine may break it, and its table continues with the longer text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from delta_models.outcomes import Committed
from delta_models.schema import LENGTH, STRING, Field, Struct, limit_of
from delta_models.table.expectation import Expectation, expect_refusal
from delta_models.table.state import Table
from delta_models.values import Row, Value, row_keyer

REFUSALS = ("constraint", "schema", "overflow")


def varchar_field(name: str, limit: int) -> Field:
    """Return a column for texts of at most so many code points."""
    return Field(name, STRING).with_metadata({LENGTH: f"varchar({limit})"})


def char_field(name: str, width: int) -> Field:
    """Return a column for texts that blanks pad to so many code points."""
    return Field(name, STRING).with_metadata({LENGTH: f"char({width})"})


def refuse_too_long_texts(before: Table, expectation: Expectation) -> Expectation:
    """Return the outcomes of an operation that writes rows, with its too long texts refused.

    If only blanks at the end make a text too long, an engine may also cut them.
    """
    after = expectation.ordinary.table
    limits = _limits(after.schema)
    if not limits or not isinstance(expectation.ordinary.outcome, Committed):
        return expectation
    new = _new_rows(before, after)
    if not any(_exceeds(row, limits) for row in new):
        return expectation
    shortened = [_cut(row, limits) for row in new]
    if any(_exceeds(row, limits) for row in shortened):
        stored = replace(expectation.ordinary, breaks="outcome.too-long-refused")
        return expect_refusal(before, REFUSALS, "outcome.too-long-refused").or_else(stored)
    old = list(after.rows)
    for row in new:
        old.remove(row)
    cut = replace(expectation.ordinary, table=after.with_rows((*old, *shortened)))
    stored = replace(expectation.ordinary, breaks="outcome.too-long-refused")
    return expect_refusal(before, REFUSALS, "outcome.blanks-may-be-refused").or_else(cut, stored)


def _limits(schema: Struct) -> tuple[tuple[int, int], ...]:
    limits = ((position, limit_of(field)) for position, field in enumerate(schema))
    return tuple((position, limit) for position, limit in limits if limit is not None)


def _new_rows(before: Table, after: Table) -> list[Row]:
    """The rows that the table did not have before."""
    key = row_keyer(after.schema)
    known = Counter(before.bag) if before.exists and before.schema == after.schema else Counter()
    new = []
    for row in after.rows:
        if known[key(row)] > 0:
            known[key(row)] -= 1
        else:
            new.append(row)
    return new


def _exceeds(row: Row, limits: Iterable[tuple[int, int]]) -> bool:
    return any(row[position] is not None and len(row[position]) > limit for position, limit in limits)


def _cut(row: Row, limits: Iterable[tuple[int, int]]) -> Row:
    parts: list[Value] = list(row)
    for position, limit in limits:
        if parts[position] is not None and not parts[position][limit:].strip(" "):
            parts[position] = parts[position][:limit]
    return tuple(parts)
