"""The honest engine plays histories of every table profile without a finding; queries name versions of its table."""

from __future__ import annotations

import pytest

from conformance.generation import PROFILES, RandomChoices, draw_operation, draw_shape
from conformance.generation.table_profiles import TABLES
from conformance.histories import Step
from conformance.observations.version_resolution import resolve_states
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log import LogReader
from delta_models.table import ModelHistory
from tests.mutants import stories
from tests.mutants.stage import Table

STEPS = 15


@pytest.mark.slow
@pytest.mark.parametrize("name", [profile.name for profile in TABLES])
def test_the_honest_engine_breaks_nothing_in_a_table_profile(name, tmp_path):
    played = 0
    for number in range(2):
        choices, model_history = RandomChoices(number), ModelHistory()
        shape = draw_shape(choices, PROFILES[name])
        table = Table(Reference(), tmp_path / str(number) / "table")
        engine_session = table.session.engine_sessions[0]
        if engine_session.capabilities.covers_table(shape.schema, shape.partition_by, dict(shape.properties)):
            continue
        for _ in range(STEPS):
            operation = draw_operation(choices, model_history, shape)
            model_history = model_history.after(operation)
            if not table.plays:
                break
            for result in table.play(Step(operation)):
                assert result.violations == (), operation
                assert result.faults == (), operation
            played += 1
    assert played > 0


class TestTranslation:
    @pytest.fixture
    def reader(self, tmp_path) -> LogReader:
        engine = Reference()
        engine.open(str(tmp_path / "table"))
        for operation in stories.TWICE:
            engine.execute(operation, "")
        return LogReader(tmp_path / "table")

    def test_changes_are_asked_from_the_first_version_of_the_first_step(self, reader):
        look = ops.ReadChanges(ops.AtState(1), ops.AtState(2))
        resolved = resolve_states(look, {0: 0, 1: 2, 2: 5}, reader)
        assert resolved == ops.ReadChanges(ops.AtVersion(1), ops.AtVersion(5))

    def test_steps_that_added_no_version_have_no_changes_to_ask_for(self, reader):
        look = ops.ReadChanges(ops.AtState(1), ops.AtState(1))
        assert resolve_states(look, {0: 3, 1: 3}, reader) is None

    def test_a_state_that_a_copy_never_had_is_not_asked_for(self, reader):
        assert resolve_states(ops.Restore(ops.AtState(4)), {0: 0}, reader) is None

    def test_a_time_is_that_of_the_commit(self, reader):
        resolved = resolve_states(ops.Read(ops.AtTime(2)), {2: 2}, reader)
        assert isinstance(resolved, ops.Read)
        assert isinstance(resolved.at, ops.AtTimestamp)
        assert resolved.at.micros == reader.commit_times()[2] * 1000
