"""Texts that are too long for a char or varchar column, and the padding of char."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import LENGTH, LONG, STRING, Field, Struct, limit_of, struct, width_of
from delta_models.table import Expectation, ModelHistory
from delta_models.table.char_varchar import char_field, varchar_field
from delta_models.values import Rows, bag, row_key

SCHEMA = Struct((Field("id", LONG), varchar_field("text", 3)))
ON_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
UPDATE_ALL = ops.MergeClause("matched", "update", everything=True)


def model_history(*texts: str | None) -> ModelHistory:
    rows = tuple(enumerate(texts))
    return ModelHistory().after(ops.Create(SCHEMA)).after(ops.Append(Rows(SCHEMA, rows)))


def ends(expectation: Expectation) -> tuple[list[str], list[tuple[str | None, tuple[object, ...]]]]:
    """The kinds of refusal, and each other end with the rule that it breaks and its texts."""
    kinds = [
        allowed.outcome.kind
        for allowed in expectation.allowed_outcomes
        if isinstance(allowed.outcome, Rejected)
    ]
    others = [
        (allowed.breaks, tuple(sorted(row[1] for row in allowed.table.rows)))
        for allowed in expectation.allowed_outcomes
        if isinstance(allowed.outcome, Committed)
    ]
    return kinds, others


@pytest.mark.parametrize(
    ("said", "limit"), (("varchar(3)", 3), ("char(12)", 12), ("array<varchar(3)>", None), ("string", None))
)
def test_a_field_says_its_length_in_its_metadata(said, limit):
    assert limit_of(Field("text", STRING).with_metadata({LENGTH: said})) == limit


def test_a_column_of_another_type_has_no_length():
    assert limit_of(Field("number", LONG).with_metadata({LENGTH: "varchar(3)"})) is None
    assert limit_of(Field("text", STRING)) is None


@pytest.mark.parametrize("text", ("", "abc", "日本語", "😀😀😀", "a  ", None))
def test_code_points_count_and_not_bytes(text):
    assert model_history(text).table.rows == ((0, text),)


WRITES: dict[str, Callable[[str], ops.Operation]] = {
    "append": lambda text: ops.Append(Rows(SCHEMA, ((9, text),))),
    "overwrite": lambda text: ops.Overwrite(Rows(SCHEMA, ((9, text),))),
    "update": lambda text: ops.Update((("text", Literal(STRING, text)),)),
    "merge": lambda text: ops.Merge(Rows(SCHEMA, ((0, text),)), ON_ID, (UPDATE_ALL,)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
class TestTooLong:
    def test_a_text_that_is_too_long_is_refused_and_a_stored_one_breaks_a_rule(self, write):
        refusals, others = ends(model_history("a").expect(write("abcd")))
        assert "constraint" in refusals
        assert [rule for rule, _ in others] == ["outcome.too-long-refused"]
        assert "abcd" in others[0][1]

    def test_blanks_that_are_too_many_may_be_cut(self, write):
        refusals, others = ends(model_history("a").expect(write("ab   ")))
        assert "constraint" in refusals
        assert [rule for rule, _ in others] == [None, "outcome.too-long-refused"]
        assert "ab " in others[0][1]
        assert "ab   " in others[1][1]

    def test_what_fits_is_written(self, write):
        assert ends(model_history("a").expect(write("abc")))[0] == []


def test_a_long_text_that_stays_is_no_reason_to_refuse():
    long = ModelHistory().after(ops.Create(SCHEMA))
    stored = next(
        allowed
        for allowed in long.expect(WRITES["append"]("abcd")).allowed_outcomes
        if isinstance(allowed.outcome, Committed)
    )
    later = long.after(WRITES["append"]("abcd"), stored)
    assert isinstance(later.expect(WRITES["append"]("abc")).ordinary.outcome, Committed)


WIDE = Struct((Field("id", LONG), char_field("text", 3)))
COPIED = Struct((*WIDE.fields, varchar_field("copy", 5)))


class TestFilledUp:
    @pytest.mark.parametrize(
        ("text", "kept"),
        (("", "   "), ("a", "a  "), ("日", "日  "), (" a", " a "), ("abc", "abc"), (None, None)),
    )
    def test_a_text_is_kept_with_the_blanks_that_it_lacks(self, text, kept):
        now = ModelHistory().after(ops.Create(WIDE)).after(ops.Append(Rows(WIDE, ((0, text),))))
        assert now.table.rows == ((0, kept),)

    def test_a_text_takes_its_blanks_along_to_another_column(self):
        now = ModelHistory().after(ops.Create(COPIED)).after(ops.Append(Rows(COPIED, ((0, "a", None),))))
        assert now.after(ops.Update((("copy", Column(("text",))),))).table.rows == ((0, "a  ", "a  "),)

    def test_a_row_is_the_same_whether_writer_or_reader_adds_the_blanks(self):
        assert bag(WIDE, ((0, "a"), (0, "a "), (0, "a  ")))[(0, "a  ")] == 3
        assert row_key(WIDE, (0, "a")) == row_key(WIDE, (0, "a  "))

    @pytest.mark.parametrize("other", (" a", "a   ", "b", None))
    def test_other_texts_are_other_rows(self, other):
        assert bag(WIDE, ((0, "a"), (0, other)))[(0, "a  ")] == 1
        assert row_key(WIDE, (0, "a")) != row_key(WIDE, (0, other))

    def test_blanks_mean_something_where_no_width_is_said(self):
        assert width_of(SCHEMA["text"]) is None
        assert len(bag(SCHEMA, ((0, "a"), (0, "a ")))) == 2

    def test_an_update_to_the_same_text_without_its_blanks_changes_nothing(self):
        now = ModelHistory().after(ops.Create(WIDE)).after(ops.Append(Rows(WIDE, ((0, "a  "),))))
        ends = now.expect(ops.Update((("text", Literal(STRING, "a")),)))
        assert {allowed.commits[0] for allowed in ends.allowed_outcomes} == {0}

    def test_a_text_that_is_too_long_is_refused(self):
        now = ModelHistory().after(ops.Create(WIDE))
        refusals, others = ends(now.expect(ops.Append(Rows(WIDE, ((0, "abcd"),)))))
        assert "constraint" in refusals
        assert [rule for rule, _ in others] == ["outcome.too-long-refused"]


def test_a_table_without_lengths_takes_any_text():
    schema = struct(("id", LONG), ("text", STRING))
    now = ModelHistory().after(ops.Create(schema)).after(ops.Append(Rows(schema, ((1, "x" * 1000),))))
    assert len(now.table.rows) == 1
