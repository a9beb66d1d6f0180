"""A vacuum answers for the files that it deleted itself, not for those that an earlier one could delete."""

from __future__ import annotations

import time
from pathlib import Path

from delta_adapters.reference import Reference
from delta_models import operations as ops
from tests.mutants import stories
from tests.mutants.introspection import CHANGED
from tests.mutants.stage import play
from tests.mutants.vacuum import VacuumsChangeData

HOUR = 3600.0

YOUNG_CHANGES = ops.Update((("name", stories.text("newer")),), stories.SMALL)


class VacuumsOldChangeData(Reference):
    """An honest engine whose vacuum deletes change data too, once it is as old as the retention."""

    def unreferenced(self, snapshot, hours):
        changes = (self.folder / "_change_data").rglob("*.parquet")
        old = [path for path in changes if time.time() - path.stat().st_mtime >= hours * HOUR]
        return [*super().unreferenced(snapshot, hours), *old]


def test_no_later_vacuum_is_charged_with_change_data_that_an_earlier_one_could_delete(tmp_path: Path):
    story = (*CHANGED, ops.Vacuum(0.0), ops.Read(), ops.Vacuum(), ops.Vacuum())
    played = play(VacuumsOldChangeData(), tmp_path / "table", story)
    assert not list((tmp_path / "table" / "_change_data").rglob("*.parquet"))
    assert played.broken == set(), played.describe()


def test_a_later_vacuum_is_charged_with_change_data_that_came_after_an_earlier_one(tmp_path: Path):
    story = (*CHANGED, ops.Vacuum(0.0), YOUNG_CHANGES, ops.Vacuum())
    assert play(VacuumsOldChangeData(), tmp_path / "honest", story).broken == set()
    assert play(VacuumsChangeData(), tmp_path / "table", story).broken == {"vacuum.keeps-change-data"}


def test_a_change_feed_may_be_refused_where_a_vacuum_could_delete_change_data(tmp_path: Path):
    story = (*CHANGED, ops.Vacuum(0.0), ops.ReadChanges(ops.AtState(4)))
    played = play(VacuumsOldChangeData(), tmp_path / "table", story)
    assert played.broken == set(), played.describe()
    assert played.result[-1].observation.looks[-1].refused is not None
