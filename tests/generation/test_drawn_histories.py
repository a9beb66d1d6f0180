"""Histories drawn for the pure model: what occurs, how often it hits, and that draws depend on the seed alone."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis import strategies as st

from conformance import histories as history
from conformance.findings.candidates import triggers_of
from conformance.generation import (
    PROFILES,
    RandomChoices,
    TableProfile,
    TableShape,
    draw_operation,
    draw_shape,
    generate_operations,
    generate_shapes,
)
from conformance.generation.column_specs import every_value, is_known_trigger, is_storable
from delta_adapters.deviations import TRIGGERS, operation_triggers
from delta_adapters.deviations.triggers import value_trigger
from delta_models.codec import decode, encode
from delta_models.expressions import Expression, columns_of, compile_expression
from delta_models.operations import Append, AtState, Create, Delete, Merge, Operation, Read, Restore, Update
from delta_models.outcomes import Rejected
from delta_models.portability import strength_of
from delta_models.schema import DATE, TIMESTAMP, TIMESTAMP_NTZ, VARIANT, VOID, DataType, limit_of, width_of
from delta_models.table import ModelHistory
from delta_models.values import Value
from delta_models.wire_names import name_of
from tests.adapters.extremes import DAY, FIRST_DAY, LAST_DAY

STEPS = 25

History = tuple[TableShape, list[tuple[ModelHistory, Operation]]]


def drawn(profile: TableProfile, histories: int) -> Iterator[History]:
    for number in range(histories):
        choices = RandomChoices(number)
        shape = draw_shape(choices, profile)
        model_history, steps = ModelHistory(), []
        for _ in range(STEPS):
            operation = draw_operation(choices, model_history, shape)
            steps.append((model_history, operation))
            model_history = model_history.after(operation)
        yield shape, steps


@pytest.fixture(scope="module")
def histories() -> list[History]:
    return list(drawn(PROFILES["ci"], 150))


def play(number: int, do: Callable[[TableShape, list[Operation]], None], examples: int = 12) -> None:
    """Histories drawn by Hypothesis, as a machine draws them."""

    @seed(number)
    @settings(
        max_examples=examples, phases=[Phase.generate], database=None, deadline=None, derandomize=False,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.data())
    def run(data: st.DataObject) -> None:
        shape = data.draw(generate_shapes("dev"))
        model_history, steps = ModelHistory(), []
        for _ in range(STEPS):
            operation = data.draw(generate_operations(model_history, shape))
            steps.append(operation)
            model_history = model_history.after(operation)
        do(shape, steps)

    run()


def predicates(operation: Operation) -> Iterator[Expression]:
    match operation:
        case Delete(where=where) | Update(where=where) | Read(where=where) if where is not None:
            yield where


class TestWhatOccurs:
    def test_the_first_command_is_create_and_every_operation_of_the_profile_occurs(
        self, histories: list[History]
    ) -> None:
        counts = Counter(name_of(operation) for _, steps in histories for _, operation in steps)
        assert all(isinstance(steps[0][1], Create) for _, steps in histories)
        assert set(counts) == {name for name, _ in PROFILES["ci"].operations}
        assert min(counts.values()) > len(histories) * STEPS // 100

    def test_every_type_partitions_and_is_data(self, histories: list[History]) -> None:
        data = {str(shape.schema[name].type) for shape, _ in histories for name in shape.data_columns()}
        parts = {str(shape.schema[name].type) for shape, _ in histories for name in shape.partition_by}
        names = {"long", "integer", "string", "double", "boolean", "date", "timestamp"}
        assert names <= data
        assert names - {"double"} <= parts
        assert any(name.startswith("decimal") for name in data)
        assert {len(shape.partition_by) for shape, _ in histories} == {0, 1, 2}

    def test_nulls_and_limits_reach_the_table_in_every_type(self, histories: list[History]) -> None:
        values_of_type: dict[str, set[object]] = {}
        for _, steps in histories:
            for model_history, _ in steps:
                for row in model_history.table.rows:
                    for field, value in zip(model_history.table.schema, row, strict=True):
                        values_of_type.setdefault(str(field.type), set()).add(repr(value))
        assert all("None" in values for values in values_of_type.values())
        assert {"nan", "-0.0", "inf", "-inf"} <= values_of_type["double"]
        assert {str(2**63 - 1), str(-(2**63))} <= values_of_type["long"]
        assert {"-719162", "2932896", "-1"} <= values_of_type["date"]
        assert {"-62135596800000000", "253402300799999999"} <= values_of_type["timestamp"]

    def test_merges_match_miss_and_are_sometimes_ambiguous(self, histories: list[History]) -> None:
        ends = Counter(
            name_of(model_history.expect(operation).ordinary.outcome)
            for _, steps in histories
            for model_history, operation in steps
            if isinstance(operation, Merge)
        )
        assert ends["Committed"] > ends["NoChange"]
        assert 0 < ends["Rejected"] < ends["Committed"] // 5

    def test_rejections_are_the_exception(self, histories: list[History]) -> None:
        steps = [
            (model_history, operation)
            for _, drawn_steps in histories
            for model_history, operation in drawn_steps
        ]
        refused = sum(
            isinstance(model_history.expect(operation).ordinary.outcome, Rejected)
            for model_history, operation in steps
        )
        assert 0.005 < refused / len(steps) < 0.08

    def test_only_states_that_must_be_readable_are_looked_back_to(self, histories: list[History]) -> None:
        for _, steps in histories:
            for model_history, operation in steps:
                if isinstance(operation, (Read, Restore)) and isinstance(operation.at, AtState):
                    assert operation.at.step in model_history.readable_steps()


class TestPredicates:
    def test_a_third_pick_some_rows_but_not_all(self, histories: list[History]) -> None:
        partial = total = 0
        for _, steps in histories:
            for model_history, operation in steps:
                for where in predicates(operation):
                    table = model_history.table
                    if len(table.rows) > 1:
                        picks = compile_expression(where, table.schema)
                        picked = sum(picks(row) is True for row in table.rows)
                        partial += 0 < picked < len(table.rows)
                        total += 1
        assert total > 500
        assert partial / total > 1 / 3

    def test_they_stay_within_the_portable_core_unless_the_profile_says_otherwise(
        self, histories: list[History]
    ) -> None:
        for _, steps in histories:
            for model_history, operation in steps:
                for where in predicates(operation):
                    assert strength_of(where, model_history.table.as_rows) == "must"

    def test_the_nightly_profile_goes_beyond_it(self) -> None:
        strengths = Counter(
            strength_of(where, model_history.table.as_rows)
            for _, steps in drawn(PROFILES["nightly"], 120)
            for model_history, operation in steps
            for where in predicates(operation)
        )
        assert strengths["reference"] > 5
        assert strengths["must"] > strengths["reference"]


class TestDraws:
    def test_every_command_survives_json(self, histories: list[History]) -> None:
        for _, steps in histories[::3]:
            for _, operation in steps:
                form = json.loads(json.dumps(encode(operation)))
                assert repr(decode(form)) == repr(operation)

    def test_a_seed_gives_the_same_histories_again(self) -> None:
        first: list[str] = []
        second: list[str] = []
        play(7, lambda shape, steps: first.append(repr((shape, steps))))
        play(7, lambda shape, steps: second.append(repr((shape, steps))))
        assert first == second
        assert len(set(first)) > 8

    def test_the_simplest_history_is_simple(self) -> None:
        @st.composite
        def three(draw: Callable[..., object]) -> tuple[TableShape, Operation]:
            shape = draw(generate_shapes("dev"))
            assert isinstance(shape, TableShape)
            operation = draw(generate_operations(ModelHistory().after(Create(shape.schema)), shape))
            return shape, operation  # type: ignore[return-value]

        shape, operation = find(three(), lambda _: True, settings=settings(database=None, max_examples=20))
        assert not shape.partition_by
        assert name_of(operation) == "Append"
        assert len(repr(operation)) < 700


class TestSpeed:
    def test_the_model_takes_thousands_of_steps_a_second(self) -> None:
        drawn_histories = list(drawn(PROFILES["dev"], 40))
        start = time.process_time()
        for _, steps in drawn_histories:
            for model_history, operation in steps:
                model_history.after(operation)
        assert 40 * STEPS / (time.process_time() - start) > 2000

    def test_drawing_with_hypothesis_takes_milliseconds_a_step(self) -> None:
        start = time.process_time()
        play(3, lambda _shape, _steps: None, examples=12)
        assert 12 * STEPS / (time.process_time() - start) > 300


class TestGuards:
    def test_half_of_the_histories_stay_clear_of_what_is_known_to_trip_engines(
        self, histories: list[History]
    ) -> None:
        tame = [(shape, steps) for shape, steps in histories if shape.tame]
        assert 1 / 3 < len(tame) / len(histories) < 2 / 3
        for shape, steps in tame:
            for model_history, _ in steps:
                for row in model_history.table.rows:
                    for spec, value in zip(shape.column_specs, row, strict=True):
                        assert not is_known_trigger(spec.type, value, partition=spec.partition)

    def test_the_commands_of_tame_histories_set_off_no_trigger(self) -> None:
        tame = []

        def check(shape: TableShape, steps: list[Operation]) -> None:
            if shape.tame:
                tame.append(shape)
                triggers = triggers_of(
                    history.History("lockstep", "dev", 0, 1, tuple(map(history.Step, steps)))
                )
                assert not {trigger for trigger in triggers if not TRIGGERS[trigger].everywhere}

        play(11, check, examples=40)
        assert len(tame) > 10

    def test_every_trigger_that_can_be_drawn_occurs_in_the_other_half(self) -> None:
        triggers: set[str | None] = set()
        for name in ("nightly", "changes", "rules", "limits", "nested", "lengths", "protocol"):
            for _, steps in drawn(PROFILES[name], 200 if name == "nightly" else 30):
                for model_history, operation in steps:
                    triggers |= operation_triggers(model_history.table, operation)
        for number in range(2000):  # some types seldom partition a table
            for spec in draw_shape(RandomChoices(number), PROFILES["ci"]).column_specs:
                triggers |= {
                    value_trigger(spec.type, value, partition=spec.partition) for value in every_value(spec)
                }
        elsewhere = {"commit-found-taken", "creation-cut", "stream-plan-cut"}  # tests/suites/crashes
        elsewhere |= {"bytes-as-text"}  # docs/model.md tells why it is not drawn
        elsewhere |= {trigger for trigger in TRIGGERS if trigger.endswith("-at-once")}  # tests/suites/races
        assert set(TRIGGERS) - {"binary-partition"} - elsewhere <= triggers

    def test_no_partition_value_is_too_long_for_the_name_of_a_folder(self, histories: list[History]) -> None:
        for shape, steps in histories:
            for model_history, _ in steps:
                for row in model_history.table.rows:
                    for spec, value in zip(shape.column_specs, row, strict=True):
                        assert is_storable(spec.type, value, partition=spec.partition)


class TestTableProfiles:
    def values_of(self, name: str, histories: int = 25) -> Iterator[tuple[DataType, Value]]:
        """Each value that an append of a profile's histories has, with its type."""
        for _, steps in drawn(PROFILES[name], histories):
            for _, operation in steps:
                if isinstance(operation, Append):
                    for row in operation.rows.rows:
                        yield from zip((field.type for field in operation.rows.schema), row, strict=True)

    def test_limits_are_drawn_before_the_year_1_and_after_9999(self) -> None:
        days_of_type: dict[DataType, list[Value]] = {DATE: [], TIMESTAMP: [], TIMESTAMP_NTZ: []}
        for data_type, value in self.values_of("limits"):
            if data_type in days_of_type and value is not None:
                days_of_type[data_type].append(value if data_type == DATE else value // DAY)
        for data_type, days in days_of_type.items():
            assert min(days) < FIRST_DAY, data_type
            assert max(days) > LAST_DAY, data_type

    def test_the_run_profiles_draw_no_such_day(self) -> None:
        days = [value for of, value in self.values_of("ci") if of == DATE and value is not None]
        assert min(days) >= FIRST_DAY
        assert max(days) <= LAST_DAY

    def test_variants_and_void_are_drawn(self) -> None:
        drawn_values = list(self.values_of("variants"))
        assert len({value for of, value in drawn_values if of == VARIANT}) > 10
        assert {value for of, value in drawn_values if of == VOID} == {None}

    def test_most_texts_fit_their_columns_and_some_are_too_long(self) -> None:
        fit, long = 0, 0
        for _, steps in drawn(PROFILES["lengths"], 25):
            for _, operation in steps:
                if isinstance(operation, Append):
                    limits = [limit_of(field) for field in operation.rows.schema]
                    for row in operation.rows.rows:
                        lengths = [
                            len(value) - limit
                            for value, limit in zip(row, limits, strict=True)
                            if limit is not None and value is not None
                        ]
                        fit += sum(length <= 0 for length in lengths)
                        long += sum(length > 0 for length in lengths)
        assert fit > 10 * long > 0

    def test_some_texts_are_filled_up_by_blanks_and_no_predicate_names_those(self) -> None:
        filled = 0
        for shape, steps in drawn(PROFILES["lengths"], 25):
            names = {field.name for field in shape.schema if width_of(field) is not None}
            filled += bool(names)
            for _, operation in steps:
                where = operation.on if isinstance(operation, Merge) else getattr(operation, "where", None)
                assert not names & {column.path[-1] for column in columns_of(where)}
        assert 3 < filled < 15

    @pytest.mark.parametrize("name", ("variants", "lengths", "limits", "zoned", "renamed", "counted"))
    def test_their_commands_survive_json(self, name: str) -> None:
        for _, steps in drawn(PROFILES[name], 6):
            for _, operation in steps:
                form = encode(operation)
                assert encode(decode(json.loads(json.dumps(form)))) == form
