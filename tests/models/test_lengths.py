"""Texts of limited length: what is too long, and what may become of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import LONG, STRING, Field, Struct, struct
from delta_models.table import Expectation, World
from delta_models.table.lengths import SAID, limit_of, varchar
from delta_models.values import Rows

SCHEMA = Struct((Field("id", LONG), varchar("text", 3)))
ON_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
UPDATE_ALL = ops.MergeClause("matched", "update", everything=True)


def world(*texts: str | None) -> World:
    rows = tuple(enumerate(texts))
    return World().after(ops.Create(SCHEMA)).after(ops.Append(Rows(SCHEMA, rows)))


def ends(expectation: Expectation) -> tuple[list[str], list[tuple[str | None, tuple[object, ...]]]]:
    """The kinds of refusal, and each other end with the rule that it breaks and its texts."""
    kinds = [each.outcome.kind for each in expectation.branches if isinstance(each.outcome, Rejected)]
    others = [
        (each.breaks, tuple(sorted(row[1] for row in each.table.rows)))
        for each in expectation.branches
        if isinstance(each.outcome, Committed)
    ]
    return kinds, others


@pytest.mark.parametrize(
    ("said", "limit"), (("varchar(3)", 3), ("char(12)", 12), ("array<varchar(3)>", None), ("string", None))
)
def test_a_field_says_its_length_in_its_metadata(said, limit):
    assert limit_of(Field("text", STRING).with_metadata({SAID: said})) == limit


def test_a_column_of_another_type_has_no_length():
    assert limit_of(Field("number", LONG).with_metadata({SAID: "varchar(3)"})) is None
    assert limit_of(Field("text", STRING)) is None


@pytest.mark.parametrize("text", ("", "abc", "日本語", "😀😀😀", "a  ", None))
def test_code_points_count_and_not_bytes(text):
    assert world(text).table.rows == ((0, text),)


WRITES: dict[str, Callable[[str], ops.Operation]] = {
    "append": lambda text: ops.Append(Rows(SCHEMA, ((9, text),))),
    "overwrite": lambda text: ops.Overwrite(Rows(SCHEMA, ((9, text),))),
    "update": lambda text: ops.Update((("text", Literal(STRING, text)),)),
    "merge": lambda text: ops.Merge(Rows(SCHEMA, ((0, text),)), ON_ID, (UPDATE_ALL,)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
class TestTooLong:
    def test_a_text_that_is_too_long_is_refused_and_told_of_where_it_is_not(self, write):
        refusals, others = ends(world("a").expect(write("abcd")))
        assert "constraint" in refusals
        assert [rule for rule, _ in others] == ["outcome.too-long-refused"]
        assert "abcd" in others[0][1]

    def test_blanks_that_are_too_many_may_be_cut(self, write):
        refusals, others = ends(world("a").expect(write("ab   ")))
        assert "constraint" in refusals
        assert [rule for rule, _ in others] == [None, "outcome.too-long-refused"]
        assert "ab " in others[0][1]
        assert "ab   " in others[1][1]

    def test_what_fits_is_written(self, write):
        assert ends(world("a").expect(write("abc")))[0] == []


def test_a_long_text_that_stays_is_no_reason_to_refuse():
    long = World().after(ops.Create(SCHEMA))
    told = next(
        each for each in long.expect(WRITES["append"]("abcd")).branches if isinstance(each.outcome, Committed)
    )
    later = long.after(WRITES["append"]("abcd"), told)
    assert isinstance(later.expect(WRITES["append"]("abc")).ordinary.outcome, Committed)


def test_a_table_without_lengths_takes_any_text():
    schema = struct(("id", LONG), ("text", STRING))
    now = World().after(ops.Create(schema)).after(ops.Append(Rows(schema, ((1, "x" * 1000),))))
    assert len(now.table.rows) == 1
