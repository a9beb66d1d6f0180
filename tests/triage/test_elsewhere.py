"""A finding of storage that fails, or of writers that race, shows again wherever it is played: see `elsewhere`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conformance.triage.replay import FAILS, FIXED, replay
from tests.triage.elsewhere import CRASH, RACE, elsewhere, fresh_clone, kept, replays

TIMES = 2  # twenty of each: `./dev bench replays`


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept(RACE, tmp_path_factory.mktemp("race"))


def test_a_race_shows_again_in_a_fresh_clone_under_another_hash_seed_and_zone_beside_a_busy_core(
    race: Path, tmp_path: Path
):
    told = list(replays(race, tmp_path, TIMES))
    assert len(told) == TIMES
    assert set(told) == {told[0]}
    assert told[0].exit == FAILS
    assert (
        "still fails at step 2: race.appends-read-nothing: Append beside Delete was rejected" in told[0].said
    )


def test_so_does_a_fault_of_the_storage(tmp_path: Path):
    (told,) = replays(kept(CRASH, tmp_path / "crash"), tmp_path / "again", 1)
    assert told.exit == FAILS
    assert "still fails at step 2: crash.once: it is in the table twice, in 2 commits" in told.said


def test_it_is_the_order_of_the_writers_that_shows_it(race: Path, tmp_path: Path):
    other = shutil.copytree(race, tmp_path / race.name)
    form = json.loads((other / "history.json").read_text())
    form["steps"][-1]["operation"]["schedule"] = [0, 0, 0, 0, 1, 1, 1, 1]  # the append first
    (other / "history.json").write_text(json.dumps(form))
    told = replay(other)
    assert told.exit == FIXED, "what else is known of deltalake does not make it fail"
    assert told.text.endswith("is fixed: its 3 steps hold")


def test_a_clone_is_played_by_its_own_code(tmp_path: Path):
    clone = fresh_clone(tmp_path / "clone")
    names = ("conformance", "delta_adapters", "delta_models")
    asked = f"import {', '.join(names)}; print({', '.join(f'{name}.__file__' for name in names)})"
    found = elsewhere(clone, 0, "-c", asked).stdout.split()
    assert len(found) == len(names)
    assert all(Path(each).is_relative_to(clone) for each in found), found
