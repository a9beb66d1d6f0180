"""An empty partition text that is read as a text: each form of it is recognised, a second fault beside it is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.findings import candidate_causes
from conformance.histories import History, Step
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import all_causes, cause_named
from delta_models.expressions import And, Column, Compare, IsNotNull, IsNull, Literal
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtState,
    Create,
    Delete,
    Merge,
    MergeClause,
    Operation,
    Overwrite,
    Read,
    ReadChanges,
    Reopen,
    SetZone,
    Update,
)
from delta_models.schema import LONG, STRING, Field, struct
from delta_models.values import Rows
from tests.adapters.deviations.shown import assert_shown
from tests.findings import like_delta_spark
from tests.findings.like_delta_spark import LikeDeltaSpark
from tests.mutants.stage import Table, play

CAUSE = "delta-spark-reads-empty-partition-text"
TEXTS = struct(("id", LONG), ("part", STRING))
ID, PART = Column(("id",)), Column(("part",))
EMPTY, ONE, NINE = Literal(STRING, ""), Literal(LONG, 1), Literal(LONG, 9)
IS_EMPTY = Compare("=", PART, EMPTY)
BY_PART = Compare("=", Column(("source", "part")), Column(("target", "part")))
SAME_PART = Compare("<=>", Column(("source", "part")), Column(("target", "part")))
WRITTEN = ((1, ""), (2, None), (3, "a"))
CHANGES = (("delta.enableChangeDataFeed", "true"),)
UPDATE_ID = MergeClause("matched", "update", (("id", NINE),))
SAME = MergeClause("matched", "update", everything=True)
INSERT = MergeClause("not-matched", "insert", everything=True)


def shared(operation: Operation, rows=WRITTEN, properties=()) -> list[tuple[Operation, str]]:
    """A table of the one engine, in which the other one writes an empty text before an operation of the first."""
    return [
        (Create(TEXTS, ("part",), properties), "A"),
        (Append(Rows(TEXTS, rows)), "B"),
        (operation, "A"),
    ]


def merged(*rows, on=BY_PART, clauses=(UPDATE_ID, INSERT)) -> Merge:
    return Merge(Rows(TEXTS, rows), on, clauses)


def found_in(engine, steps: list[tuple[Operation, str]], folder: Path) -> dict[str, set[tuple[str, ...]]]:
    """The candidates of what the first engine violates in the last step, by requirement.

    Before it nobody reads, for an engine that has answered wrongly takes no more part.
    """
    history = History("shared", "dev", 0, 1, tuple(Step(operation, slot) for operation, slot in steps))
    table = Table(engine, folder, DeltaRs(), reads=False)
    for step in history.steps[:-1]:
        assert [result.violations for result in table.play(step)] == [()] or step.slot == "B"
    table.session.readers = table.session.engine_sessions
    found: dict[str, set[tuple[str, ...]]] = {}
    for result in table.play(history.steps[-1]):
        assert result.faults == ()
        if result.observation.engine.startswith("delta-spark"):
            for violation in result.violations:
                names = candidate_causes(result.observation, violation, history, all_causes())
                found.setdefault(violation.requirement, set()).add(names)
    return found


FORMS: tuple[tuple[list[tuple[Operation, str]], str], ...] = (
    (shared(Read()), "read.latest"),
    (shared(Read(at=AtState(1), columns=("part",))), "read.state"),
    (shared(Read(where=IsNull(PART))), "read.filter"),
    (shared(Read(where=And((IsNotNull(PART), Compare("<", ID, NINE))), columns=("id",))), "read.filter"),
    (shared(Read(where=IS_EMPTY)), "read.filter"),
    (shared(Reopen()), "metamorphic.upkeep-keeps-answer"),
    (shared(SetZone("Asia/Kathmandu")), "metamorphic.zone-keeps-answer"),
    (shared(AddColumn(Field("more", LONG))), "metamorphic.definition-keeps-answer"),
    (shared(Delete(IsNotNull(PART))), "contents.delete"),
    (shared(Delete(IsNull(PART))), "metamorphic.delete-takes-what-filter-picks"),
    (shared(Delete(IS_EMPTY)), "contents.delete-nothing"),
    (shared(Delete(IsNull(PART)), ((1, ""),)), "outcome.allowed"),
    (shared(Update((("id", NINE),), IsNull(PART))), "contents.update"),
    (shared(Update((("id", NINE),), IS_EMPTY)), "contents.update-nothing"),
    (shared(Update((("id", ONE),), IS_EMPTY)), "write.untouched-files-stay"),
    (shared(merged((5, ""))), "contents.merge"),
    (shared(merged((1, ""), clauses=(SAME,))), "metrics.rows-merged"),
    (shared(merged((5, ""), (6, ""), clauses=(UPDATE_ID,))), "outcome.allowed"),
    (shared(merged((5, None), (6, None), on=SAME_PART, clauses=(UPDATE_ID,)), ((1, ""),)),
     "outcome.ambiguous-match-refused"),
    (shared(Overwrite(Rows(TEXTS, ((7, None),)), IsNull(PART))), "contents.replace-where"),
    (shared(Overwrite(Rows(TEXTS, ((7, None),)), dynamic=True)), "contents.overwrite-partitions"),
    (shared(AddConstraint("there", IsNotNull(PART)), ((1, ""),)), "outcome.broken-rule-refused"),
    (shared(ReadChanges(AtState(1)), properties=CHANGES), "changes.rows"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "requirement"), FORMS, ids=[f"{number}-{name}" for number, (_, name) in enumerate(FORMS)]
)
def test_a_form_of_the_cause_is_recognised(
    steps: list[tuple[Operation, str]], requirement: str, tmp_path: Path
):
    found = found_in(LikeDeltaSpark(), steps, tmp_path / "table")
    assert requirement in found
    assert {names for known in found.values() for names in known} == {(CAUSE,)}, found


def test_the_minimal_history_shows_the_cause_alone(tmp_path: Path):
    cause = cause_named(CAUSE)
    assert cause is not None
    steps = [(step.operation, step.slot or "A") for step in History.from_json(cause.history).steps]
    played = play(LikeDeltaSpark(), tmp_path / "table", steps, DeltaRs(), extra_reads=False)
    assert_shown(cause, played.result)


def test_rows_that_the_engine_itself_rewrites_are_right(tmp_path: Path):
    rewritten = shared(Update((("id", NINE),)))
    assert found_in(LikeDeltaSpark(), [*rewritten, (Read(), "A")], tmp_path / "table") == {}


SECOND: tuple[tuple[str, list[tuple[Operation, str]], str], ...] = (
    ("AnswersNullAsEmptyToo", shared(Read()), "read.latest"),
    ("AnswersNullAsEmptyToo", shared(Read(where=IS_EMPTY)), "read.filter"),
    ("AnswersNullAsEmptyToo", shared(Reopen()), "metamorphic.upkeep-keeps-answer"),
    ("AnswersNullAsEmptyToo", shared(ReadChanges(AtState(1)), properties=CHANGES), "changes.rows"),
    ("AnswersAnotherText", shared(Read()), "read.latest"),
    ("LosesTheLastRow", shared(Read(where=Compare("<", ID, NINE))), "read.filter"),
    ("LosesTheLastRow", shared(ReadChanges(AtState(1)), properties=CHANGES), "changes.rows"),
    ("DeletesOneRowMore", shared(Delete(IS_EMPTY)), "contents.delete-nothing"),
    ("DeletesOneRowMore", shared(Update((("id", NINE),), IS_EMPTY)), "contents.update-nothing"),
    ("DeletesOneRowMore", shared(merged((5, ""))), "contents.merge"),
    ("RewritesAnotherFile", shared(Update((("id", ONE),), IS_EMPTY)), "write.untouched-files-stay"),
    ("CountsOneRowMore", shared(merged((1, ""), clauses=(SAME,))), "metrics.rows-merged"),
    ("RefusesWhatItFinds", shared(Delete(IsNull(PART))), "outcome.allowed"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "steps", "requirement"), SECOND, ids=[f"{fault}-{name}" for fault, _, name in SECOND]
)
def test_a_second_fault_beside_an_empty_partition_text_is_new(
    fault: str, steps: list[tuple[Operation, str]], requirement: str, tmp_path: Path
):
    found = found_in(getattr(like_delta_spark, fault)(), steps, tmp_path / "table")
    assert found[requirement] == {()}, found
