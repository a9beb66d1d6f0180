"""A vacuum after a fault answers for what it deleted itself, and one that met a fault for what it deleted too."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suites.crashes.scenarios import CHANGES, TOLD, UPDATE, rows
from delta_models.operations import (
    AdvanceClock,
    Append,
    Checkpoint,
    CleanLog,
    Create,
    DeadTableAt,
    Operation,
    Overwrite,
    Vacuum,
)
from tests.suites.crashes.conftest import Stage

APPEND = CHANGES[0]
CUT_APPEND: tuple[Operation, ...] = (*APPEND.before, DeadTableAt("commit"), APPEND.operation)
LAST = Append(rows(1000))


@pytest.fixture(params=("delta-rs", "honest"))
def engine(request: pytest.FixtureRequest) -> tuple[Stage, str]:
    """An engine that deletes what it may, and the folder in which it plays."""
    return request.getfixturevalue("delta_rs" if request.param == "delta-rs" else "mutants"), "Honest"


def test_no_vacuum_is_charged_with_orphans_that_a_cut_vacuum_deleted(
    engine: tuple[Stage, str], tmp_path: Path
):
    stage, folder = engine
    story = (*CUT_APPEND, LAST, DeadTableAt("clean-up", "after", 1), Vacuum(0.0), Vacuum())
    result = stage.play(tmp_path / folder, *story)
    assert result.table_session.struck == 2, str(result)
    assert result.broken == set(), str(result)


def test_no_vacuum_is_charged_with_files_that_a_cut_vacuum_deleted(engine: tuple[Stage, str], tmp_path: Path):
    stage, folder = engine
    story = (
        *APPEND.before,
        Overwrite(rows(7)),
        DeadTableAt("clean-up", "after"),
        Vacuum(0.0),
        LAST,
        Vacuum(),
    )
    result = stage.play(tmp_path / folder, *story)
    assert result.table_session.struck == 1, str(result)
    assert result.broken == set(), str(result)
    assert result.evidence["vacuum.keeps-data-files"] > 0


def test_a_cut_vacuum_is_charged_with_the_young_orphans_that_it_deleted(mutants: Stage, tmp_path: Path):
    story = (*CUT_APPEND, LAST, DeadTableAt("clean-up", "after", 1), Vacuum())
    result = mutants.play(tmp_path / "DeletesLeftOversAtOnce", *story)
    assert result.table_session.struck == 2
    assert result.broken == {"crash.left-overs-kept"}, str(result)


def test_a_cut_vacuum_is_charged_with_the_files_of_a_version_within_the_retention(
    mutants: Stage, tmp_path: Path
):
    story = (*APPEND.before, Overwrite(rows(7)), DeadTableAt("clean-up", "after"), Vacuum())
    result = mutants.play(tmp_path / "DeletesLeftOversAtOnce", *story)
    assert result.table_session.struck == 1
    assert result.broken == {"vacuum.keeps-data-files"}, str(result)


def test_files_that_the_cleaned_log_no_longer_names_are_no_orphans(delta_rs: Stage, tmp_path: Path):
    story = (
        *APPEND.before, Checkpoint(), AdvanceClock(40 * 24), Checkpoint(), CleanLog(), LAST, DeadTableAt("commit"),
        APPEND.operation, LAST, AdvanceClock(8 * 24), Vacuum(),
    )  # fmt: skip
    result = delta_rs.play(tmp_path, *story)
    names = sorted(path.name for path in (result.table_session.folder / "_delta_log").glob("*.json"))
    assert names[0] > "00000000000000000000.json"
    assert result.broken == set(), str(result)
    assert result.evidence["crash.left-overs-removed"] == 1


def test_change_data_that_a_cut_vacuum_could_delete_is_not_asked_of_the_next(delta_rs: Stage, tmp_path: Path):
    create = Create(APPEND.operation.rows.schema, properties=TOLD)
    story = (
        create,
        Append(rows(1, 2, 3)),
        UPDATE,
        DeadTableAt("clean-up", "after", 1),
        Vacuum(0.0),
        Vacuum(),
    )
    result = delta_rs.play(tmp_path, *story)
    assert result.broken == set(), str(result)
