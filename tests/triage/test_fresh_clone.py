"""A finding of a race replays in a fresh clone. `./dev bench replays` does it twenty times, and with a fault too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conformance.triage.replay import FAILS, FIXED, replay
from tests.triage.fresh_clone import RACE, fresh_clone, record_finding, replays, run_python


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_finding(RACE, tmp_path_factory.mktemp("race"))


@pytest.mark.parametrize(
    "busy", (False, pytest.param(True, marks=pytest.mark.slow)), ids=("idle", "beside-a-busy-core")
)
def test_a_race_replays_in_a_fresh_clone_with_another_hash_seed_and_zone(
    race: Path, tmp_path: Path, busy: bool
):
    (replayed,) = replays(race, tmp_path, 1, busy=busy)
    assert replayed.exit == FAILS
    assert (
        "still fails at step 2: race.appends-read-nothing: Append beside Delete was rejected"
        in replayed.output
    )


def test_a_replay_follows_the_order_of_the_writers(race: Path, tmp_path: Path):
    other = shutil.copytree(race, tmp_path / race.name)
    form = json.loads((other / "history.json").read_text())
    form["steps"][-1]["operation"]["schedule"] = [0, 0, 0, 0, 1, 1, 1, 1]  # the append first
    (other / "history.json").write_text(json.dumps(form))
    replayed = replay(other)
    assert replayed.exit == FIXED, "other known deviations of deltalake do not make it fail"
    assert replayed.text.endswith("is fixed: its 3 steps hold")


def test_a_clone_replays_with_its_own_code(tmp_path: Path):
    clone = fresh_clone(tmp_path / "clone")
    names = ("conformance", "delta_adapters", "delta_models")
    program = f"import {', '.join(names)}; print({', '.join(f'{name}.__file__' for name in names)})"
    files = run_python(clone, 0, "-c", program).stdout.split()
    assert len(files) == len(names)
    assert all(Path(file).is_relative_to(clone) for file in files), files
