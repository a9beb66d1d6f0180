"""The history's seed and the step alone decide which reads follow a step."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.execution.read_results import rows_from_arrow
from conformance.execution.read_schedule import ReadSchedule
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, AtState, Delete
from delta_models.schema import DATE, LONG, STRING, TIMESTAMP, DecimalType, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("name", STRING))
IS_ONE = Compare("=", Column(("id",)), Literal(LONG, 1))


def looks(seed: int, steps: int = 200, *, sparing: bool = False):
    rhythm = ReadSchedule(seed, sparing=sparing)
    rhythm.before(Delete(IS_ONE), SCHEMA)
    return [rhythm.after(step, SCHEMA, range(step)) for step in range(steps)]


class TestReadSchedule:
    def test_the_schedule_is_the_same_for_every_engine_and_run(self):
        assert looks(7) == looks(7)
        assert looks(7) != looks(8)

    def test_old_states_and_filters_are_read_after_about_a_quarter_of_the_steps(self):
        kinds = [kind for reads in looks(7) for kind, _ in reads]
        assert 25 < kinds.count("state") < 75
        assert 25 < kinds.count("filter") < 75

    def test_an_engine_with_expensive_reads_reads_half_as_often(self):
        often, seldom = looks(7), looks(7, sparing=True)
        assert 0.3 < sum(map(len, seldom)) / sum(map(len, often)) < 0.7

    def test_only_states_before_the_step_are_read(self):
        for step, reads in enumerate(looks(7)):
            assert all(read.at.step < step for _, read in reads if isinstance(read.at, AtState))

    def test_some_filters_read_some_columns_only(self):
        columns = {read.columns for reads in looks(7) for kind, read in reads if kind == "filter"}
        assert {None, ("id",), ("name",)} <= columns

    def test_a_filter_is_dropped_once_its_columns_change_type_or_vanish(self):
        rhythm = ReadSchedule(7)
        rhythm.before(Delete(IS_ONE), SCHEMA)
        for schema in (struct(("id", STRING), ("name", STRING)), struct(("name", STRING))):
            assert not any(rhythm.after(step, schema, ()) for step in range(100))

    def test_an_operation_without_a_predicate_reads_nothing_before(self):
        assert ReadSchedule(7).before(Append(Rows(SCHEMA, ())), SCHEMA) is None
        assert ReadSchedule(7).before(Delete(), SCHEMA) is None


class TestAnswers:
    def test_encodings_of_a_type_are_read_as_that_type(self):
        schema = struct(("s", STRING), ("t", TIMESTAMP), ("d", DATE), ("n", DecimalType(10, 2)))
        table = pa.table({
            "s": pa.array(["a", None]).dictionary_encode(),
            "t": pa.array([0, 1], pa.timestamp("ms", "Europe/Paris")),
            "d": pa.array([0, None], pa.date32()),
            "n": pa.array([None, None], pa.decimal128(10, 2)),
        })  # fmt: skip
        answer = rows_from_arrow(table, schema)
        assert isinstance(answer, Rows)
        assert answer.rows == (("a", 0, 0, None), (None, 1000, None, None))

    @pytest.mark.parametrize(
        ("table", "words"),
        (
            (
                pa.table({"name": ["a"], "id": [1]}),
                "columns name string, id long instead of id long, name string",
            ),
            (pa.table({"id": [1]}), "columns id long instead of"),
            (pa.table({"id": pa.array([1], pa.int32()), "name": ["a"]}), "id integer, name string"),
            (pa.table({"id": pa.array([1], pa.uint64()), "name": ["a"]}), "Arrow's uint64"),
        ),
        ids=("order", "missing", "width", "foreign"),
    )
    def test_other_columns_are_described_in_words(self, table, words):
        answer = rows_from_arrow(table, SCHEMA)
        assert isinstance(answer, str)
        assert words in answer
