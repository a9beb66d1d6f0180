"""A campaign inside pytest: its tests, their names and markers, and what they say of an engine that lies."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from conformance.histories import History, Step
from conformance.pytest_suites.planned import OBSERVABLE
from delta_models.operations import Append, Create
from delta_models.schema import LONG, struct
from delta_models.values import Rows
from tests.command_runs import engine
from tests.pytest_suites.sessions import SMALL, campaign

SCHEMA = struct(("id", LONG))
KEPT = History("lockstep", "ci", 3, 77, (Step(Create(SCHEMA)), Step(Append(Rows(SCHEMA, ((1,), (2,)))))))


def keep(folder, *names: str) -> None:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps(KEPT.to_json()))


def collected(folder, *words: str) -> list[str]:
    """The names of the tests that are collected, from that of the engine on."""
    session = campaign(folder, "--collect-only", "-q", "--conformance-engine=reference", *SMALL, *words)
    assert session.exit in {0, 5}, session.output
    return re.findall(r"^\S*campaign\.py::(\S+)$", session.output, re.MULTILINE)


def test_each_requirement_of_each_engine_is_a_test_of_its_name_and_the_verdict_is_the_last(tmp_path):
    names = collected(tmp_path, "--conformance-engine=delta-rs")
    rules = [rule.id for rule in OBSERVABLE]
    assert names == [f"{name}::{rule}" for name in ("reference", "delta-rs") for rule in rules] + ["verdict"]


def test_engines_that_are_called_the_same_are_told_apart_by_their_versions(tmp_path):
    names = collected(tmp_path, "--conformance-engine=delta-rs@1.5.0", "--conformance-engine=delta-rs")
    assert {name.partition("::")[0] for name in names} == {
        "reference",
        "delta-rs@1.5.0",
        "delta-rs",
        "verdict",
    }


@pytest.mark.parametrize(
    ("words", "names"),
    (
        (("-k", "outcome.commits"), ["reference::outcome.commits"]),
        (
            ("-m", "conformance(area='vacuum', strength='must')"),
            [f"reference::{rule.id}" for rule in OBSERVABLE
             if rule.id.startswith("vacuum.") and rule.strength == "must"],
        ),
        (
            ("-m", "conformance(suite='races')"),
            [f"reference::{rule.id}" for rule in OBSERVABLE if rule.id.startswith("race.")],
        ),
        (("-m", "conformance(engine='delta-rs')"), []),
    ),
)  # fmt: skip
def test_names_and_markers_pick_tests(tmp_path, words, names):
    assert [name for name in collected(tmp_path, *words) if name != "verdict"] == names


def test_the_core_of_the_profile_is_a_marker(tmp_path):
    core = collected(tmp_path, "-m", "conformance(core=True)")
    assert "reference::contents.append" in core
    assert "reference::race.no-write-skew" not in core, "the suite lockstep alone is played"


def test_the_file_is_collected_whatever_the_project_calls_its_tests(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = check_*.py *.py\n")
    assert len(collected(tmp_path)) == len(OBSERVABLE) + 1


@pytest.mark.parametrize("folder", ("regressions", "kept"))
def test_kept_histories_are_tests_of_their_own_names_before_all_others(tmp_path, folder):
    keep(tmp_path / folder, "two-rows", "again")
    words = () if folder == "regressions" else (f"--conformance-regressions={folder}",)
    assert collected(tmp_path, *words)[:2] == ["kept::again", "kept::two-rows"]


@pytest.fixture(scope="module")
def lies(tmp_path_factory):
    """A campaign on an engine that lies, with a kept history that shows it, shared by two processes."""
    folder = tmp_path_factory.mktemp("lies")
    keep(folder / "regressions", "two-rows")
    return campaign(folder, *SMALL, "-n2", f"--conformance-engine={engine('Lies')}")


@pytest.mark.slow
def test_what_an_engine_breaks_fails_the_test_of_the_requirement_the_kept_history_and_the_verdict(lies):
    assert lies.exit == 1, lies.output
    broken = {finding["requirement"] for finding in lies.summary["findings"]}
    assert "outcome.commits" in broken
    assert lies.tests("failed") == {*(f"lies::{rule}" for rule in broken), "kept::two-rows", "verdict"}
    assert lies.tests("error") == set()


@pytest.mark.slow
def test_what_was_not_tested_never_passes(lies):
    held = {
        f"lies::{claim['requirement']}" for claim in lies.summary["claims"] if claim["verdict"] == "holds"
    }
    assert lies.tests("passed") <= held
    assert lies.outcomes["lies::race.no-write-skew"] == "skipped"


@pytest.mark.slow
def test_a_failure_says_the_history_what_was_tried_and_how_to_replay_it(lies):
    case = next(
        case
        for case in ET.parse(lies.folder / "junit.xml").iter("testcase")
        if case.get("name") == "outcome.commits"
    )
    failure = case.find("failure")
    assert failure is not None
    assert case.get("classname", "").endswith("campaign.lies"), "no version, so that servers follow it"
    said = failure.text or ""
    assert "0. Create (c0 long)" in said
    assert "1. Append 1 row" in said
    assert "no cause predicts it" in said
    assert "conformance replay conformance-results/" in said


@pytest.mark.slow
def test_the_campaign_is_played_once_for_all_workers_and_its_progress_is_shown(lies):
    runs = [path for path in (lies.folder / "conformance-results").iterdir() if not path.is_symlink()]
    assert len(runs) == 1
    assert lies.output.count("conformance: playing the campaign once") == 1
    assert "lies@1.0 is ready after" in lies.output
    assert "VIOLATED: a requirement does not hold (exit 1)" in lies.output


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    (
        ("-k", "lies and outcome.commits"),
        ("-k", "lies and outcome.commits", "-n2"),
        ("--lf",),
    ),
)
def test_a_rerun_of_what_failed_replays_its_finding_and_plays_no_campaign(lies, words):
    again = campaign(lies.folder, *SMALL, f"--conformance-engine={engine('Lies')}", *words)
    assert again.exit == 1, again.output
    assert "replayed, and it still fails" in again.output
    assert "playing the campaign" not in again.output
    assert "-n2" in words or "replaying what the campaign in conformance-results/" in again.output
    runs = [path for path in (lies.folder / "conformance-results").iterdir() if not path.is_symlink()]
    assert len(runs) == 1
