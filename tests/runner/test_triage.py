"""A run turns what it sees into findings: small, one for each cause, new only if new; and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.findings import load_finding
from tests.command_runs import Run, engine

SMALL = ("--suite", "lockstep", "--examples", "3", "--steps", "8")


def findings(run: Run, state: str) -> list[dict[str, object]]:
    return [finding for finding in run.summary["findings"] if finding["state"] == state]


@pytest.mark.slow
def test_one_fault_is_one_new_finding_with_one_fingerprint_on_any_seed(run):
    seen = [run("--engine", engine("Lies"), *SMALL, "--seed", seed) for seed in ("11", "12")]
    for done in seen:
        assert done.exit == 1
        (finding,) = findings(done, "new")
        assert len(done.summary["findings"]) == 1
        assert finding["minimal_steps"] == 2
        assert finding["reproduced"] is True
        folder = done.folder / str(finding["folder"])
        assert load_finding(folder).minimal is not None
        assert main(["replay", str(folder)]) == 1
        assert str(finding["fingerprint"]) in done.output
    assert len({str(findings(done, "new")[0]["fingerprint"]) for done in seen}) == 1


@pytest.mark.slow
def test_a_baseline_holds_on_another_seed(run):
    first = run("--engine", engine("Lies"), *SMALL, "--seed", "11")
    again = run(
        "--engine", engine("Lies"), *SMALL, "--seed", "12", "--baseline", str(first.folder / "summary.json")
    )
    assert first.exit == 1
    assert again.exit == 3, "nothing is new, and so small a run has no core"
    (finding,) = again.summary["findings"]
    assert (finding["state"], finding["cause"], finding["known"]) == ("known", None, True)
    assert "in the baseline" in again.output


def test_another_fault_is_new_beside_a_baseline(run):
    first = run("--engine", engine("Lies"), *SMALL, "--seed", "11")
    other = run(
        "--engine", engine("TextForNumbers"), *SMALL, "--baseline", str(first.folder / "summary.json")
    )
    assert other.exit == 1
    assert findings(other, "new")


def test_an_old_baseline_ends_the_run_before_it_begins(run):
    old = Path(__file__).parents[1] / "old_files" / "summary.json"
    done = run("--engine", engine("Honest"), "--baseline", str(old))
    assert done.exit == 2
    assert "holds no causes and no minimal histories" in done.output


@pytest.mark.slow
def test_a_budget_leaves_unexplained_what_it_has_no_time_for(run):
    done = run(
        "--engine", engine("HangsInTriage"), "--profile", "dev", "--suite", "lockstep", "--budget", "15s"
    )
    left = findings(done, "unexplained")
    assert done.exit == 1
    assert left
    for finding in left:
        folder = done.folder / str(finding["folder"])
        assert folder.parent.name == "sightings"
        assert load_finding(folder).fingerprint == finding["fingerprint"]
    assert "Left unshrunk, for want of time" in done.output
    assert "conformance shrink" in done.output


def test_a_worker_that_dies_in_triage_leaves_the_sighting(run):
    done = run("--engine", engine("KillsTheHarnessInTriage"), *SMALL)
    assert done.exit == 2
    assert "while it was to explain" in done.output
    left = findings(done, "unexplained")
    assert left
    assert all(load_finding(done.folder / str(finding["folder"])).state == "unexplained" for finding in left)


def test_a_report_of_the_recording_says_the_same(run, tmp_path):
    done = run("--engine", engine("Lies"), *SMALL)
    assert "Triaging" not in {event["event"] for event in done.events}
    merged = tmp_path / "merged.json"
    assert main(["report", str(done.folder), "--summary", str(merged)]) == 0
    assert json.loads(merged.read_text())["findings"] == done.summary["findings"]


def test_what_does_not_show_again_is_unstable_and_still_fails_the_run(run):
    done = run("--engine", engine("LiesOnce"), *SMALL)
    assert done.exit == 1
    assert {finding["state"] for finding in done.summary["findings"]} == {"unstable"}
    assert all(finding["reproduced"] is False for finding in done.summary["findings"])
    assert "unstable: it did not show again" in done.output


CAUSE = """
engine = "lies"
summary = "An append is reported and not made."
requirement = "outcome.commits"
issue = "not reported"
cause = "It returns before it has written anything."

[[predictions]]
requirements = ["outcome.commits"]
"""


def test_a_cause_of_the_users_own_explains_what_it_predicts(run, tmp_path):
    new = run("--engine", engine("Lies"), *SMALL)
    (finding,) = findings(new, "new")
    own = tmp_path / "own"
    own.mkdir()
    (own / "lies-about-appends.toml").write_text(CAUSE)
    minimal = new.folder / str(finding["folder"]) / "minimal.json"
    (own / "lies-about-appends.history.json").write_text(minimal.read_text())
    known = run("--engine", engine("Lies"), *SMALL, "--deviations", str(own))
    assert known.exit == 3, "nothing is new, and so small a run has no core"
    (finding,) = known.summary["findings"]
    assert (finding["state"], finding["cause"]) == ("known", "lies-about-appends")
    assert "lies-about-appends (lies@1.0" in known.output
    assert "An append is reported and not made." in known.output


def test_a_folder_without_causes_or_with_a_wrong_one_ends_the_run_before_it_begins(run, tmp_path):
    absent = run("--engine", engine("Lies"), "--deviations", str(tmp_path / "absent"))
    assert (absent.exit, "no such folder" in absent.output) == (2, True)
    (tmp_path / "own.toml").write_text(CAUSE.replace("summary", "sumary"))
    wrong = run("--engine", engine("Lies"), "--deviations", str(tmp_path))
    assert (wrong.exit, "sumary" in wrong.output) == (2, True)
