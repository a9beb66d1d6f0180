"""Histories that a test writes, judged by the model after each step, and the example project that shows them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command_runs import engine
from tests.pytest_suites.sessions import Session, pytest_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "pytest-project"
BEGIN = """
import pytest
from delta_models.operations import *
from delta_models.outcomes import *
from delta_models.schema import *
from delta_models.values import Rows

IDS = struct(("id", LONG))
TWO = Rows(IDS, ((1,), (2,)))
"""
APPENDS = """
def test_an_append(conformance_table):
    conformance_table.play(Create(IDS))
    assert isinstance(conformance_table.play(Append(TWO)), Committed)
    assert conformance_table.rows == ((1,), (2,))
    assert (conformance_table.path / "_delta_log").is_dir()
"""
OTHERS = """
def test_a_refusal(conformance_table):
    conformance_table.play(Create(IDS))
    misfit = Rows(struct(("id", STRING)), (("one",),))
    assert isinstance(conformance_table.play(Append(misfit)), Rejected)
    assert isinstance(conformance_table.play(Read()), NoChange)

def test_what_the_model_refuses(conformance_table):
    with pytest.raises(LookupError, match="play a Create first"):
        conformance_table.rows
    with pytest.raises(TypeError, match="is for the suites crashes and races"):
        conformance_table.play(AdvanceClock(5))
"""
UPDATES = """
def test_an_update(conformance_table):
    conformance_table.play(Create(IDS))
    conformance_table.play(Append(TWO))
    conformance_table.play(Delete())
"""


def own(folder, text: str, *words: str) -> Session:
    """A session of tests of one's own."""
    (folder / "test_own.py").write_text(BEGIN + text)
    return pytest_in(folder, "-rs", *words)


@pytest.mark.slow
def test_steps_that_an_engine_does_right_pass_and_leave_no_folder(tmp_path):
    session = own(
        tmp_path,
        APPENDS + OTHERS,
        "--conformance-engine=reference",
        f"--conformance-engine={engine('Honest')}",
    )
    assert session.exit == 0, session.output
    assert "test_an_append[reference]" in session.outcomes_of_own
    assert "test_an_append[honest]" in session.outcomes_of_own
    assert set(session.outcomes_of_own.values()) == {"passed"}
    assert list((tmp_path / "conformance-results").iterdir()) == []


@pytest.mark.slow
def test_a_step_that_breaks_a_requirement_fails_with_a_finding_that_can_be_replayed(tmp_path):
    session = own(tmp_path, APPENDS, f"--conformance-engine={engine('Lies')}")
    assert session.exit == 1, session.output
    assert "lies@1.0 breaks outcome.commits" in session.output
    assert "1. Append 1 row" in session.output
    assert "conformance replay conformance-results/" in session.output
    (finding,) = (tmp_path / "conformance-results").glob("*/findings/*")
    assert (finding / "minimal.json").exists()


@pytest.mark.slow
def test_the_engine_is_back_at_the_table_once_a_known_cause_is_explained(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # so that the cause is played
    session = own(tmp_path, APPENDS, "--conformance-engine=delta-rs")  # its first commit has no checksum
    assert session.exit == 0, session.output
    assert session.outcomes_of_own == {"test_an_append[delta-rs]": "passed"}
    assert list((tmp_path / "conformance-results").glob("*/findings/*")), "nothing was explained"


@pytest.mark.slow
def test_a_step_that_the_engine_does_not_claim_skips(tmp_path):
    session = own(tmp_path, UPDATES, f"--conformance-engine={engine('NeverUpdates')}")
    assert session.exit == 0, session.output
    assert session.outcomes_of_own == {"test_an_update[neverupdates]": "skipped"}
    assert "Delete" in session.output


@pytest.mark.slow
def test_an_engine_that_does_not_start_fails_with_its_last_words(tmp_path):
    session = own(tmp_path, APPENDS, f"--conformance-engine={engine('DiesAtStart')}")
    assert session.exit == 1, session.output
    assert "can't be tested" in session.output
    assert "no licence found" in session.output


def example(folder, *words: str) -> Session:
    """A session in a copy of the example project."""
    project = folder / "project"
    shutil.copytree(
        EXAMPLE, project, ignore=shutil.ignore_patterns("conformance-results", ".*", "__pycache__")
    )
    return pytest_in(project, *words)


def test_the_example_project_holds_on_the_reference(tmp_path):
    session = example(tmp_path, "--conformance-engine=reference")
    assert session.exit == 0, session.output
    assert len(session.outcomes_of_own) == 3
    assert set(session.outcomes_of_own.values()) == {"passed"}


@pytest.mark.slow
def test_the_example_project_tests_delta_rs_with_its_campaign(tmp_path):
    words = ("--conformance-suite=lockstep", "--conformance-examples=2", "--conformance-steps=6")
    session = example(tmp_path, "--pyargs", "./tests", "conformance.suites", *words, "-rs")
    assert set(session.outcomes_of_own.values()) <= {"passed", "skipped"}, session.output
    assert len(session.outcomes_of_own) == 3
    assert session.summary["engines"][0]["name"] == "delta-rs"
    assert session.exit == session.summary["exit"] == 3, "six steps are no core"
    assert session.outcomes["delta-rs::checksum.each-commit"] == "skipped"
    assert "known: delta-rs-no-checksums" in session.output
