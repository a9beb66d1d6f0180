"""A judgement that is begun while the engine reads says what one says that is made at once."""

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
def test_it_does_not_matter_when_the_log_is_judged(engine, tmp_path):
    played = play(engine(), tmp_path / "table", STEPS)
    assert sum(bool(each.observation.looks) for each in played.result) >= 3
    for each in played.result:
        begun = run_log_checks(replace(each.observation, looks=()))
        early = dict(begun.recorder.evidence)
        told, at_once = run_checks(each.observation, begun=begun), run_checks(each.observation)
        assert (told.evidence, told.violations, told.faults) == (
            at_once.evidence,
            at_once.violations,
            at_once.faults,
        )
        assert bool(early) == each.observation.wrote
