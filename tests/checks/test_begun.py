"""A judgement that is begun while the engine reads says what one says that is made at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.checks import begin, judge
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.checks.test_lasting import WritesOneMore
from tests.liars.stage import play
from tests.races.liars import Honest, ReadsTheFolder

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
    assert sum(bool(each.seen.looks) for each in played.judged) >= 3
    for each in played.judged:
        begun = begin(replace(each.seen, looks=()))
        early = dict(begun.ledger.evidence)
        told, at_once = judge(each.seen, begun=begun), judge(each.seen)
        assert (told.evidence, told.breaches, told.faults) == (
            at_once.evidence,
            at_once.breaches,
            at_once.faults,
        )
        assert bool(early) == each.seen.wrote
