"""The reference engine's rows keep their ids through copies, deletion vectors, updates, merges and compaction."""

from __future__ import annotations

import pytest

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import Literal
from delta_models.log import LogReader
from delta_models.log.reader import live_adds
from delta_models.log.row_ids import tracked_rows
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import STRING
from tests.mutants import stories
from tests.mutants.stories import SCHEMA, rows

TRACKED = (("delta.enableRowTracking", "true"),)
RENAME = ops.Update((("name", Literal(STRING, "z")),), stories.compare(stories.ID, "=", stories.number(1)))


@pytest.fixture(params=("copies", "vectors"))
def engine(request, tmp_path) -> Reference:
    """Two files: rows 1 and 2 with the ids 0 and 1, rows 4 and 5 with the ids 2 and 3."""
    engine = Reference()
    engine.open(str(tmp_path / "table"))
    vectors = (("delta.enableDeletionVectors", "true"),) if request.param == "vectors" else ()
    create = ops.Create(SCHEMA, (), tuple(sorted((*TRACKED, *vectors))))
    for operation in (create, ops.Append(rows((1, "a", 1.0), (2, "b", 2.0))), stories.FILL_MORE):
        assert engine.execute(operation, "") == Committed()
    return engine


def ids(engine: Reference) -> dict[int, tuple[int, int]]:
    """The id and the version of each row, by its first column."""
    reader = LogReader(engine.folder)
    state = reader.snapshot()
    return {
        tracked_row.row[0]: (tracked_row.id, tracked_row.version)
        for add in live_adds(state)
        for tracked_row in tracked_rows(reader, state, add)
    }


def test_appended_rows_are_counted_through(engine):
    assert ids(engine) == {1: (0, 1), 2: (1, 1), 4: (2, 2), 5: (3, 2)}


def test_what_an_update_or_a_delete_leaves_alone_keeps_id_and_version(engine):
    engine.execute(RENAME, "")
    assert ids(engine) == {1: (0, 3), 2: (1, 1), 4: (2, 2), 5: (3, 2)}
    engine.execute(ops.Delete(stories.compare(stories.ID, "=", stories.number(4))), "")
    assert ids(engine) == {1: (0, 3), 2: (1, 1), 5: (3, 2)}


def test_what_a_merge_updates_keeps_its_id_and_what_it_inserts_gets_a_new_one(engine):
    source = rows((2, "new", 0.0), (9, "nine", 9.0))
    engine.execute(ops.Merge(source, stories.ON_ID, (stories.UPDATE_ALL, stories.INSERT_ALL)), "")
    id_of = ids(engine)
    assert (id_of[1], id_of[2], id_of[5]) == ((0, 1), (1, 3), (3, 2))
    assert id_of[9][0] > 3
    assert id_of[9][1] == 3


def test_files_that_are_rewritten_take_ids_and_versions_along(engine):
    engine.execute(RENAME, "")
    before = ids(engine)
    assert engine.execute(ops.Optimize(), "") == Committed()
    assert ids(engine) == before
    assert len(list(live_adds(LogReader(engine.folder).snapshot()))) == 1


def test_a_restore_brings_ids_back_and_gives_none_away_again(engine):
    engine.execute(ops.Delete(), "")
    engine.execute(ops.Restore(ops.AtVersion(1)), "")
    engine.execute(ops.Append(rows((7, "x", 0.0))), "")
    id_of = ids(engine)
    assert (id_of[1][0], id_of[2][0]) == (0, 1)
    assert id_of[7][0] > 3


@pytest.mark.parametrize("vectors", (True, False))
def test_files_from_before_get_ids_when_row_tracking_is_switched_on(tmp_path, vectors):
    engine = Reference()
    engine.open(str(tmp_path / "table"))
    properties = (("delta.enableDeletionVectors", "true"),) if vectors else ()
    gone = ops.Delete(stories.compare(stories.ID, "=", stories.number(1)))
    operations = (
        ops.Create(SCHEMA, (), properties),
        ops.Append(rows((1, "a", 1.0), (2, "b", 2.0))),
        stories.FILL_MORE,
        gone,
    )
    for operation in (*operations, ops.SetProperties(TRACKED)):
        assert engine.execute(operation, "") == Committed()
    before = ids(engine)
    assert set(before) == {2, 4, 5}
    assert len({number for number, _ in before.values()}) == len(before)
    for later in (RENAME, stories.FILL_MORE, ops.Optimize()):
        engine.execute(later, "")
    after = ids(engine)
    assert after[2] == before[2]
    assert (
        not LogReader(engine.folder).snapshot().live.keys() & LogReader(engine.folder).snapshot(3).live.keys()
    )


def test_row_tracking_is_not_dropped(engine):
    assert isinstance(engine.execute(ops.DropFeature("rowTracking"), ""), Rejected)
