"""Checks that run in two phases report the same as checks that run at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.checks import run_checks, run_log_checks
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.execution.test_stop_conditions import WritesOneMore
from tests.mutants.race_mutants import Honest, ReadsTheFolder
from tests.mutants.stage import play

ONE = struct(("id", LONG), ("part", LONG))
STEPS = (
    ops.Create(ONE),
    ops.Append(Rows(ONE, ((1, 1), (2, 2)))),
    ops.Delete(Compare("=", Column(("id",)), Literal(LONG, 1))),
    ops.Optimize(),
    ops.Vacuum(0.0),
    ops.Overwrite(Rows(ONE, ((3, 3),))),
    ops.Read(ops.AtState(1)),
)


@pytest.mark.parametrize("engine", (Honest, WritesOneMore, ReadsTheFolder))
def test_two_phases_report_the_same_as_one(engine, tmp_path):
    played = play(engine(), tmp_path / "table", STEPS)
    assert sum(bool(result.observation.looks) for result in played.result) >= 3
    for result in played.result:
        pending = run_log_checks(replace(result.observation, looks=()))
        log_evidence = dict(pending.recorder.evidence)
        in_two_phases, in_one = (
            run_checks(result.observation, pending=pending),
            run_checks(result.observation),
        )
        assert in_two_phases == in_one
        assert bool(log_evidence) == result.observation.wrote
