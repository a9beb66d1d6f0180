"""Rules that a table stores as SQL text are judged in the time zones of the sessions that wrote its rows."""

from __future__ import annotations

from pathlib import Path

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import DATE, LONG, TIMESTAMP, Field, struct
from delta_models.values import Rows
from tests.mutants.stage import play

BARE = struct(("id", LONG), ("at", TIMESTAMP))
COMPUTED = struct(
    *BARE.fields, Field("day", DATE).with_metadata({"delta.generationExpression": "CAST(at AS DATE)"})
)
AT_NIGHT = 3_600_000_000
CREATE = ops.Create(COMPUTED)
TWO = ops.Append(Rows(BARE, ((1, AT_NIGHT), (2, AT_NIGHT))))
FIRST = Compare("=", Column(("id",)), Literal(LONG, 1))
WEST = ops.SetZone("America/Los_Angeles")


def test_a_rewrite_is_not_charged_with_rows_that_a_session_in_another_zone_wrote(tmp_path: Path):
    played = play(Reference(), tmp_path / "table", (CREATE, TWO, WEST, ops.Delete(FIRST), TWO))
    assert played.broken == set(), played.describe()
    assert played.evidence["rules.generated-columns-hold"] == 3


def test_each_engine_at_a_shared_table_has_a_zone_of_its_own(tmp_path: Path):
    story = (CREATE, (WEST, "A"), (TWO, "B"), (TWO, "A"), (TWO, "B"))
    played = play(Reference(), tmp_path / "table", story, Reference())
    assert played.broken == set(), played.describe()
    assert sorted(row[2] for row in played.result[-1].observation.model.rows) == [-1, -1, 0, 0, 0, 0]
