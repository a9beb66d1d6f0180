"""What engines may do at a table with delta.appendOnly=true: the rule was tried on each of them, case by case.

deltalake and delta-spark refuse deletes, updates and overwrites whatever they pick. They let merges pass that act on no
row; delta-spark refuses those with a clause for rows that the source does not match. `pyspark` refuses merges by the
kinds of their clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from conformance.execution.step_result import StepResult
from conformance.histories import History, Step
from conformance.triage.replayer import Replayer, Setup
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from tests.mutants.stage import ALWAYS

SCHEMA = struct(("id", LONG), ("part", STRING))
CREATE = ops.Create(SCHEMA, ("part",), (("delta.appendOnly", "true"),))


def rows(*values: tuple[int, str]) -> Rows:
    return Rows(SCHEMA, values)


def has_id(number: int) -> Compare:
    return Compare("=", Column(("id",)), Literal(LONG, number))


SAME = Compare("=", Column(("source", "id")), Column(("target", "id")))
FAR = Compare(">", Column(("target", "id")), Literal(LONG, 100))
DELETE = ops.MergeClause("matched", "delete")
DELETE_FAR = ops.MergeClause("matched", "delete", condition=FAR)
UPDATE = ops.MergeClause("matched", "update", everything=True)
INSERT = ops.MergeClause("not-matched", "insert", everything=True)
DELETE_UNNAMED = ops.MergeClause("not-matched-by-source", "delete", condition=FAR)
SET_PART = (("part", Literal(STRING, "z")),)

ONE, NINE = rows((1, "a")), rows((9, "a"))
ACTS_ON_NO_ROW: dict[str, ops.Operation] = {
    "no-match": ops.Merge(NINE, SAME, (DELETE,)),
    "no-match-to-update": ops.Merge(NINE, SAME, (UPDATE,)),
    "condition-false": ops.Merge(ONE, SAME, (DELETE_FAR,)),
    "no-match-and-insert": ops.Merge(NINE, SAME, (DELETE, INSERT)),
    "no-row-beside-the-source": ops.Merge(ONE, SAME, (DELETE_UNNAMED,)),
    "no-source": ops.Merge(rows(), SAME, (DELETE, INSERT)),
}
ADDS_ONLY: dict[str, ops.Operation] = {
    "insert-only": ops.Merge(NINE, SAME, (INSERT,)),
    "insert-nothing": ops.Merge(ONE, SAME, (INSERT,)),
}
ACTS: dict[str, ops.Operation] = {
    "merge": ops.Merge(ONE, SAME, (DELETE,)),
    "delete-one": ops.Delete(has_id(1)),
    "delete-all": ops.Delete(),
    "update-one": ops.Update(SET_PART, has_id(1)),
    "overwrite": ops.Overwrite(NINE),
}
COULD_ACT: dict[str, ops.Operation] = {
    "delete-nothing": ops.Delete(has_id(77)),
    "update-nothing": ops.Update(SET_PART, has_id(77)),
    "replace-nothing": ops.Overwrite(rows((77, "a")), where=has_id(77)),
    "replace-nothing-by-nothing": ops.Overwrite(rows(), where=has_id(77)),
}


@pytest.fixture(scope="module")
def replayer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayer]:
    with Replayer(tmp_path_factory.mktemp("replayer")) as made:
        yield made


def outcomes(
    replayer: Replayer, engine: str, cases: Mapping[str, ops.Operation], *, empty: bool = False
) -> dict[str, Outcome]:
    """The outcome of each operation at a table of its own, which no violation may follow."""
    begin = (CREATE,) if empty else (CREATE, ops.Append(rows((1, "a"), (2, "b"))))
    found: dict[str, Outcome] = {}
    for name, operation in cases.items():
        history = History("lockstep", "dev", 0, 1, tuple(map(Step, (*begin, operation))))
        results = replayer.play(history, Setup("lockstep", (engine,)), extra_reads=False).results
        assert violations_of(results) == {}, (name, results[-1].observation.outcome)
        found[name] = results[-1].observation.outcome
    return found


def violations_of(results: tuple[StepResult, ...]) -> dict[str, str]:
    return {
        violation.requirement: violation.detail
        for result in results
        for violation in result.violations
        if violation.requirement not in ALWAYS
    }


ENGINES = ("reference", "delta-rs", "delta-spark", "pyspark")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_what_takes_rows_away_is_refused_and_what_leaves_them_is_never_charged(
    replayer: Replayer, engine: str
):
    assert all(map(is_refusal, outcomes(replayer, engine, ACTS).values()))
    assert not any(map(is_refusal, outcomes(replayer, engine, ADDS_ONLY).values()))
    outcomes(replayer, engine, {**COULD_ACT, **ACTS_ON_NO_ROW})


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_charged_at_an_empty_table(replayer: Replayer, engine: str):
    outcomes(replayer, engine, {**ACTS, **COULD_ACT, **ACTS_ON_NO_ROW}, empty=True)
    assert not any(map(is_refusal, outcomes(replayer, engine, ADDS_ONLY, empty=True).values()))


def is_refusal(outcome: Outcome) -> bool:
    assert isinstance(outcome, Committed | NoChange | Rejected)
    return isinstance(outcome, Rejected) and outcome.kind == "append-only"
