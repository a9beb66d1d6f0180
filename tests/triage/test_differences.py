"""The class of a difference: the requirement, the role, the kind, the types; no data of the history."""

from __future__ import annotations

import pytest

from conformance.triage.differences import (
    COLUMNS,
    ROWS_ADDED,
    ROWS_DIFFER,
    ROWS_MISSING,
    DifferenceClass,
    class_of,
    family,
    outcome_kind,
    race_kind,
    rows_kind,
    skeleton,
)
from conformance.triage.replayer import Setup
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import BYTE, LONG, STRING, Array, DecimalType
from tests.mutants.reads import SkipsWrongly
from tests.mutants.stories import FILTER
from tests.triage.in_process import find, history_of, replayer_of


@pytest.mark.parametrize(
    ("detail", "kind"),
    (
        ("2 rows instead of 3; missing ('b', 1)", ROWS_MISSING),
        ("after Merge (version 3): 6 rows instead of 5; not expected (1, 'B')", ROWS_ADDED),
        ("2 rows; missing (1, NULL); not expected (1, '')", ROWS_DIFFER),
        ("3 rows instead of 4; missing (1), (2); not expected (3)", ROWS_DIFFER),
        ("columns a long instead of a double", COLUMNS),
        ("there is none of version 0", ""),
        ("the text '2 rows; missing (1)' stands in a file", ""),
    ),
)  # fmt: skip
def test_rows_that_are_missing_are_told_from_those_that_are_added(detail, kind):
    assert rows_kind(detail) == kind


@pytest.mark.parametrize(
    ("text", "words"),
    (
        ("part-00000-1982-c000.snappy.parquet: id: the maximum is said to be 9, it is 10", "the maximum is said to be"),
        ("when=-1/part-00000-1.parquet: my: col: nullCount is 3", "nullCount is"),
        ("[DELTA_MISSING_COLUMN] Cannot find x", "DELTA_MISSING_COLUMN"),
        ("DeltaError: No field named total. Valid are a, b", "DeltaError No field named _ Valid"),
        ("removes part=2/part-00000-a.parquet, which is not live", "removes"),
        ("", ""),
    ),
)  # fmt: skip
def test_the_words_of_a_message_hold_no_data(text, words):
    assert skeleton(text, {"Total"}) == words


def test_refusals_differ_by_kind_and_message():
    assert outcome_kind(Committed()) == "Committed"
    assert outcome_kind(None) == "none"
    first, second = Rejected("schema", "No column 'a'"), Rejected("schema", "No column 'b'")
    assert outcome_kind(first) == outcome_kind(second) == "Rejected(schema) No column"
    assert outcome_kind(Rejected("overflow", "No column 'a'")) != outcome_kind(first)


def test_a_smaller_history_may_concern_fewer_types_but_not_others():
    both = DifferenceClass("read.filter", "reader", ROWS_MISSING, frozenset({"decimal", "string"}))
    assert both.covers(DifferenceClass("read.filter", "reader", ROWS_MISSING, frozenset({"decimal"})))
    assert not both.covers(DifferenceClass("read.filter", "reader", ROWS_MISSING, frozenset({"date"})))
    assert not both.covers(DifferenceClass("read.filter", "reader", ROWS_MISSING))
    assert not both.covers(DifferenceClass("read.filter", "reader", ROWS_ADDED, both.types))
    assert not both.covers(DifferenceClass("read.latest", "reader", ROWS_MISSING, both.types))


def test_one_rule_on_the_rows_that_racing_writers_leave_stands_for_all():
    lost = DifferenceClass("race.no-lost-update", "writer", "", race=True)
    assert lost.covers(DifferenceClass("race.no-doubled-rows", "writer", "", race=True))
    assert not lost.covers(DifferenceClass("race.appends-read-nothing", "writer", "", race=False))


def test_what_raced_is_no_part_of_the_kind_but_how_it_was_refused_is():
    kinds = [
        race_kind(detail)
        for detail in (
            "Append beside Delete and Merge was rejected (conflict): no 1",
            "Append beside Merge was rejected (conflict): other words",
            "Append beside Merge was rejected (unclassified): other words",
        )
    ]
    assert kinds == ["conflict", "conflict", "unclassified"]


def test_types_are_told_apart_coarsely():
    assert family(BYTE) == family(LONG)
    assert family(DecimalType(10, 2)) == family(DecimalType(38, 18))
    assert family(Array(LONG)) == "array of whole number"
    assert family(STRING) != family(LONG)


def test_the_class_of_a_real_violation():
    with replayer_of(SkipsWrongly) as replayer:
        history = history_of(*FILTER)
        finding = find(replayer, history, "read.filter")
        played = replayer.play(history, Setup.of(finding))
        classes = {class_of(*found) for found in played.violations("reference")}
    assert DifferenceClass("read.filter", "reader", ROWS_MISSING) in classes
