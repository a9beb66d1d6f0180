"""The honest engine plays histories of every table profile without a violation."""

from __future__ import annotations

import pytest

from conformance.generation import PROFILES, RandomChoices, draw_operation, draw_shape
from conformance.generation.table_profiles import TABLES
from conformance.histories import Step
from delta_adapters.reference import Reference
from delta_models.table import ModelHistory
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
