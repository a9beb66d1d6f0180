"""NaN as the bound of a file whose NaN a deletion vector deletes: a wide bound may be NaN, a tight one may not."""

from __future__ import annotations

import math

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import DOUBLE, LONG, struct
from delta_models.values import Rows
from tests.mutants.stage import play
from tests.mutants.wrappers import WrongDraft

SCHEMA = struct(("id", LONG), ("price", DOUBLE))
STEPS = (
    ops.Create(SCHEMA, (), (("delta.enableDeletionVectors", "true"),)),
    ops.Append(Rows(SCHEMA, ((1, 1.0), (2, math.nan)))),
    ops.Delete(Compare("=", Column(("id",)), Literal(LONG, 2))),
)


class StaysTight(WrongDraft):
    """Says that bounds are tight after a deletion vector deleted a row."""

    kind = ops.Delete

    def bend(self, draft, operation, snapshot):
        for form in draft.adds:
            form["add"]["stats"] = form["add"]["stats"].replace('"tightBounds":false', '"tightBounds":true')
        return draft


def test_a_wide_maximum_may_be_nan(tmp_path):
    played = play(Reference(), tmp_path / "table", STEPS)
    assert played.broken == set(), played.describe()


def test_a_tight_maximum_may_not_be_nan(tmp_path):
    played = play(StaysTight(), tmp_path / "table", STEPS)
    assert "stats.tight-bounds" in played.broken, played.describe()
    assert "stats.max-values" not in played.broken
