"""Identity columns, whose values only the engine knows at first."""

from __future__ import annotations

from pathlib import Path

import pytest

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import LONG, STRING, Struct, struct
from delta_models.table import ModelHistory
from delta_models.table.identity import (
    UNKNOWN,
    Identity,
    bind_generated_values,
    generated_values,
    identities,
    identity_field,
    without_identities,
)
from delta_models.values import Row, Rows

BARE = struct(("id", LONG), ("name", STRING))
ALWAYS = Struct((*BARE.fields, identity_field("serial", 10, 5, explicit=False)))
BY_DEFAULT = Struct((*BARE.fields, identity_field("serial", 10, 5, explicit=True)))
WITH_VALUES = struct(*BARE.fields, ("Serial", LONG))
ON_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))


def append(*rows: Row) -> ops.Append:
    return ops.Append(Rows(BARE, rows))


def model_history(schema: Struct, *operations: ops.Operation) -> ModelHistory:
    now = ModelHistory().after(ops.Create(schema))
    for operation in operations:
        now = now.after(operation)
    return now


def refusal(now: ModelHistory, operation: ops.Operation) -> str | None:
    end = now.expect(operation).ordinary
    return end.requirement if isinstance(end.outcome, Rejected) else None


class TestValues:
    def test_a_value_that_is_not_given_is_unknown(self) -> None:
        assert model_history(ALWAYS, append((1, "a"))).table.rows == ((1, "a", UNKNOWN),)

    def test_rows_without_the_column_are_no_reason_to_refuse(self) -> None:
        ends = model_history(ALWAYS).expect(append((1, "a")))
        assert {type(allowed.outcome) for allowed in ends.allowed_outcomes} == {Committed}

    def test_values_are_bound_to_what_a_copy_holds(self) -> None:
        table = model_history(ALWAYS, append((1, "a"), (1, "a"), (2, None))).table
        observed = Rows(ALWAYS, ((2, None, 20), (1, "a", 15), (1, "a", 10)))
        after = bind_generated_values(table, observed)
        assert sorted(after.rows, key=str) == sorted(observed.rows, key=str)
        assert sorted(generated_values(table, after)["serial"]) == [10, 15, 20]

    def test_a_known_value_keeps_its_row(self) -> None:
        table = model_history(ALWAYS, append((1, "a"))).table
        known = bind_generated_values(table, Rows(ALWAYS, ((1, "a", 10),)))
        more = known.with_rows((*known.rows, (1, "a", UNKNOWN)))
        assert bind_generated_values(more, Rows(ALWAYS, ((1, "a", 15), (1, "a", 10)))).rows == (
            (1, "a", 10),
            (1, "a", 15),
        )

    def test_what_a_copy_does_not_hold_stays_unknown(self) -> None:
        table = model_history(ALWAYS, append((1, "a"))).table
        assert bind_generated_values(table, Rows(ALWAYS, ((2, "a", 10),))) is not None
        assert bind_generated_values(table, Rows(ALWAYS, ((2, "a", 10),))).rows == ((1, "a", UNKNOWN),)

    def test_an_update_and_a_delete_leave_known_values_alone(self) -> None:
        now = model_history(BY_DEFAULT, ops.Append(Rows(WITH_VALUES, ((1, "a", 3), (2, "b", 4)))))
        one = Compare("=", Column(("id",)), Literal(LONG, 1))
        now = now.after(ops.Update((("name", Literal(STRING, "z")),), one))
        assert set(now.table.rows) == {(1, "z", 3), (2, "b", 4)}
        assert now.after(ops.Delete(one)).table.rows == ((2, "b", 4),)

    def test_what_a_merge_inserts_is_unknown(self) -> None:
        insert = ops.MergeClause("not-matched", "insert", (("id", Column(("source", "id"))),))
        now = model_history(ALWAYS, ops.Merge(Rows(BARE, ((7, "x"),)), ON_ID, (insert,)))
        assert now.table.rows == ((7, None, UNKNOWN),)

    def test_nothing_is_drawn_from_such_a_column(self) -> None:
        table = without_identities(model_history(ALWAYS, append((1, "a"))).table)
        assert (table.schema, table.rows) == (BARE, ((1, "a"),))


class TestGiven:
    def test_a_value_is_refused_where_all_are_generated(self) -> None:
        given = ops.Append(Rows(WITH_VALUES, ((1, "a", 3),)))
        assert refusal(model_history(ALWAYS), given) == "outcome.identity-given-refused"
        assert refusal(model_history(BY_DEFAULT), given) is None

    def test_a_merge_may_give_values_where_an_append_may(self) -> None:
        values = (("id", Column(("source", "id"))), ("serial", Column(("source", "Serial"))))
        insert = ops.MergeClause("not-matched", "insert", values)
        merge = ops.Merge(Rows(WITH_VALUES, ((7, "x", 1),)), ON_ID, (insert,))
        assert refusal(model_history(ALWAYS), merge) == "outcome.identity-given-refused"
        assert model_history(BY_DEFAULT, merge).table.rows == ((7, None, 1),)

    @pytest.mark.parametrize("schema", (ALWAYS, BY_DEFAULT))
    def test_an_update_is_refused(self, schema: Struct) -> None:
        update = ops.Update((("serial", Literal(LONG, 3)),))
        assert refusal(model_history(schema, append((1, "a"))), update) == "outcome.identity-update-refused"
        clause = ops.MergeClause("matched", "update", (("serial", Column(("source", "id"))),))
        merge = ops.Merge(Rows(BARE, ((1, "x"),)), ON_ID, (clause,))
        assert refusal(model_history(schema, append((1, "a"))), merge) == "outcome.identity-given-refused"


class TestLattice:
    def test_a_value_is_the_start_plus_steps(self) -> None:
        up, down = Identity(0, "up", 10, 5, False, None), Identity(0, "down", 0, -3, False, None)
        assert [value for value in range(30) if up.on_the_lattice(value)] == [10, 15, 20, 25]
        assert [value for value in range(-10, 10) if down.on_the_lattice(value)] == [-9, -6, -3, 0]

    def test_beyond_is_in_the_direction_of_the_step(self) -> None:
        up, down = Identity(0, "up", 1, 5, False, None), Identity(0, "down", 0, -3, False, None)
        assert (up.beyond(6, 1), up.beyond(1, 1), down.beyond(-3, 0), down.beyond(3, 0)) == (
            True,
            False,
            True,
            False,
        )

    def test_a_schema_says_how_far_it_has_come(self) -> None:
        field = ALWAYS["serial"]
        marked = Struct((field.with_metadata({**field.metadata, "delta.identity.highWaterMark": 25}),))
        assert identities(marked) == (Identity(0, "serial", 10, 5, False, 25),)


class TestOverflow:
    NEAR = Struct((*BARE.fields, identity_field("serial", 2**63 - 2, 1, explicit=True)))

    def test_where_values_run_out_a_write_is_done_or_refused(self) -> None:
        ends = model_history(self.NEAR).expect(append((1, "a")))
        assert isinstance(ends.ordinary.outcome, Committed)
        refusals = {
            allowed.requirement for allowed in ends.allowed_outcomes if isinstance(allowed.outcome, Rejected)
        }
        assert refusals == {"outcome.identity-overflow-may-be-refused"}

    def test_rows_with_values_of_their_own_are_no_reason(self) -> None:
        given = ops.Append(Rows(WITH_VALUES, ((1, "a", 3),)))
        assert {
            type(allowed.outcome)
            for allowed in model_history(self.NEAR, given).expect(given).allowed_outcomes
        } == {Committed}

    def test_the_honest_engine_refuses_and_does_not_wrap_around(self, tmp_path: Path) -> None:
        engine = Reference()
        engine.open(str(tmp_path / "table"))
        assert engine.execute(ops.Create(self.NEAR), "") == Committed()
        assert engine.execute(append((1, "a"), (2, "b")), "") == Committed()
        refused = engine.execute(append((3, "c")), "")
        assert isinstance(refused, Rejected)
        assert refused.kind == "overflow"
