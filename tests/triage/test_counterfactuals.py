"""A counterfactual takes out what sets a cause off, and nothing else."""

from __future__ import annotations

import pytest

from conformance.findings.candidates import BY_PREDICTION_ALONE, needs_counterfactual, triggers_of
from conformance.histories import History, Step
from conformance.triage.counterfactuals import counterfactual_of
from conformance.triage.model_play import play_on_model
from delta_adapters.deviations import TRIGGERS, Cause, all_causes, cause_named
from delta_models.expressions import And, Column, Compare, In, Literal
from delta_models.operations import AddColumn, Append, Create, Delete, EnableFeature, Read, Vacuum
from delta_models.schema import DOUBLE, LONG, STRING, Field, struct
from delta_models.values import Rows

NAN = float("nan")
NUMBERS = struct(("id", LONG), ("v", DOUBLE))


def cause(name: str) -> Cause:
    found = cause_named(name)
    assert found is not None
    return found


def history(*operations) -> History:
    return History("lockstep", "dev", 0, 1, tuple(map(Step, operations)))


TOLD_APART = [one for one in all_causes() if needs_counterfactual(one)]


@pytest.mark.parametrize("one", TOLD_APART, ids=lambda one: one.id)
class TestEveryCause:
    def test_its_minimal_history_has_a_legal_counterfactual(self, one: Cause):
        original = History.from_json(one.history)
        changed = counterfactual_of(one, original)
        assert changed is not None
        assert one.trigger not in triggers_of(changed)
        before, after = play_on_model(original.steps), play_on_model(changed.steps)
        assert before is not None
        assert after is not None
        assert after.is_legal_beside(before)

    def test_no_feature_and_no_writer_is_taken_out(self, one: Cause):
        original = History.from_json(one.history)
        changed = counterfactual_of(one, original)
        assert changed is not None
        assert features(changed) == features(original)
        assert {step.slot for step in changed.steps} == {step.slot for step in original.steps}
        assert changed.suite == original.suite


def features(found: History) -> list[object]:
    return [
        (getattr(step.operation, "properties", ()), getattr(step.operation, "feature", ""))
        for step in found.steps
        if isinstance(step.operation, Create | EnableFeature)
    ]


def test_a_cause_by_prediction_alone_has_no_counterfactual():
    assert set(TRIGGERS) >= BY_PREDICTION_ALONE
    for one in all_causes():
        if not needs_counterfactual(one):
            assert counterfactual_of(one, History.from_json(one.history)) is None


def test_a_value_is_replaced_everywhere_by_one_that_the_history_has_not():
    where = Compare("=", Column(("v",)), Literal(DOUBLE, NAN))
    changed = counterfactual_of(
        cause("delta-rs-nan-left-out-of-bounds"),
        history(Create(NUMBERS), Append(Rows(NUMBERS, ((1, 1.0), (2, NAN), (3, NAN)))), Read(where=where)),
    )
    assert changed is not None
    create, append, read = (step.operation for step in changed.steps)
    assert create == Create(NUMBERS)
    assert append == Append(Rows(NUMBERS, ((1, 1.0), (2, 2.0), (3, 2.0))))
    assert read == Read(where=Compare("=", Column(("v",)), Literal(DOUBLE, 2.0)))


def test_the_null_of_a_comparison_is_taken_out_and_the_rest_of_the_filter_stays():
    null = Literal(LONG, None)
    where = And(
        (Compare("=", Column(("v",)), Literal(DOUBLE, 1.0)), In(Column(("id",)), (Literal(LONG, 7), null)))
    )
    changed = counterfactual_of(
        cause("delta-rs-null-in-filter"),
        history(Create(NUMBERS), Append(Rows(NUMBERS, ((1, 1.0),))), Read(where=where)),
    )
    assert changed is not None
    assert changed.steps[-1].operation == Read(
        where=And((where.operands[0], In(Column(("id",)), (Literal(LONG, 7),))))
    )


def test_an_item_that_a_list_names_twice_is_named_once():
    seven, one = Literal(LONG, 7), Literal(LONG, 1)
    where = And((Compare("=", Column(("id",)), seven), In(Column(("id",)), (one, one))))
    changed = counterfactual_of(
        cause("delta-rs-rewrites-by-contradictions"),
        history(Create(NUMBERS), Append(Rows(NUMBERS, ((1, 1.0), (7, 1.0)))), Delete(where)),
    )
    assert changed is not None
    assert changed.steps[-1].operation == Delete(And((where.operands[0], In(Column(("id",)), (one,)))))


def test_partition_texts_that_become_one_stay_one_partition():
    texts = struct(("id", LONG), ("part", STRING))
    changed = counterfactual_of(
        cause("delta-rs-compacts-no-tilde"),
        history(Create(texts, ("part",)), Append(Rows(texts, ((1, "~"), (2, "~"), (3, "a"))))),
    )
    assert changed is not None
    assert changed.steps[1].operation == Append(Rows(texts, ((1, "b"), (2, "b"), (3, "a"))))


def test_a_name_of_a_partition_column_is_plain_afterwards_everywhere():
    texts = struct(("id", LONG), ("é", STRING))
    where = Compare("=", Column(("é",)), Literal(STRING, "a"))
    changed = counterfactual_of(
        cause("delta-rs-respelt-paths"),
        history(Create(texts, ("é",)), Append(Rows(texts, ((1, "a"),))), Delete(where)),
    )
    assert changed is not None
    plain = struct(("id", LONG), ("column1", STRING))
    assert changed.steps[0].operation == Create(plain, ("column1",))
    assert changed.steps[2].operation == Delete(Compare("=", Column(("column1",)), Literal(STRING, "a")))


def test_a_history_that_does_not_set_it_off_has_none():
    plain = history(Create(NUMBERS), Append(Rows(NUMBERS, ((1, 1.0),))), Vacuum())
    assert counterfactual_of(cause("delta-rs-nan-left-out-of-bounds"), plain) is None


def test_several_causes_are_taken_out_together():
    where = Compare("=", Column(("id",)), Literal(LONG, None))
    both = history(Create(NUMBERS), Append(Rows(NUMBERS, ((1, NAN),))), Read(where=where))
    causes = [cause("delta-rs-nan-left-out-of-bounds"), cause("delta-rs-null-in-filter")]
    changed = counterfactual_of(causes, both)
    assert changed is not None
    assert not triggers_of(changed) & {"nan", "comparison-with-null"}


def test_a_column_that_is_there_gets_a_name_that_is_free():
    wide = struct(("id", LONG), ("ID1", LONG))
    changed = counterfactual_of(
        cause("delta-rs-adds-existing-columns"), history(Create(wide), AddColumn(Field("id", LONG)))
    )
    assert changed is not None
    assert changed.steps[1].operation == AddColumn(Field("id2", LONG))
