"""The causes that come with the project: they are complete, and the installed engine shows them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.findings.candidates import triggers_of
from conformance.findings.predictions import DIFFERENCES
from conformance.histories import History, Step
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import TRIGGERS, Cause, Names, all_causes, load_causes
from delta_adapters.deviations.causes import FOLDER
from delta_adapters.reference import Reference
from delta_models.operations import DeadTableAt
from delta_models.requirements import BY_ID
from tests.adapters.deviations.shown import assert_shown
from tests.mutants.stage import ALWAYS_KNOWN, play

# The others need a JVM: tests/adapters/delta_spark and tests/execution/test_beside_delta_spark.py replay them.
BESIDE_DELTA_SPARK = (
    "delta-rs-far-timestamps",
    "delta-rs-overflows-int96",
    "delta-rs-stats-of-removes",
    "delta-rs-vacuum-of-deletion-vectors",
)
ABORTS = ("delta-rs-aborts-on-slices",)  # and would take these tests along: the script of it is run instead
# Causes whose minimal history shows another one as well.
BESIDE = {"delta-rs-nan-left-out-of-bounds": {"delta-rs-nan-left-out-of-maximum"}}
UNDER_FAULTS = ("crashes", "races")  # tests/suites/crashes and tests/suites/races replay these
WITHOUT_JVM = [
    cause
    for cause in all_causes()
    if cause.engine == "delta-rs"
    and not cause.shown_in  # tests/triage/test_causes.py plays these on the version that shows them
    and cause.id not in (*BESIDE_DELTA_SPARK, *ABORTS)
    and cause.history["suite"] not in UNDER_FAULTS
]


def test_every_cause_uses_requirements_and_differences_that_there_are():
    assert len(load_causes(FOLDER, Names(BY_ID, DIFFERENCES))) == len(all_causes())


def test_every_difference_is_one_of_a_cause():
    named = {prediction.difference for cause in all_causes() for prediction in cause.predictions}
    assert named - {None} == set(DIFFERENCES)


@pytest.mark.parametrize("cause", all_causes(), ids=lambda cause: cause.id)
class TestCauses:
    def test_it_says_what_happens_and_why(self, cause: Cause):
        assert cause.summary.endswith(".")
        assert len(cause.summary.split()) <= 25
        assert len(cause.cause) > 80

    def test_its_trigger_occurs_in_its_minimal_history(self, cause: Cause):
        assert {cause.trigger} - {None} <= triggers_of(History.from_json(cause.history))

    def test_each_prediction_names_the_wrong_answer(self, cause: Cause):
        assert all(prediction.difference is not None for prediction in cause.predictions)


@pytest.mark.parametrize("cause", WITHOUT_JVM, ids=lambda cause: cause.id)
def test_its_minimal_history_still_shows_it(cause: Cause, tmp_path):
    history = History.from_json(cause.history)
    others = [Reference()] if any(step.slot == "B" for step in history.steps) else []
    played = play(
        DeltaRs(),
        tmp_path / "table",
        [(step.operation, step.slot or "A") for step in history.steps],
        *others,
    )
    assert_shown(cause, played.result, ALWAYS_KNOWN | BESIDE.get(cause.id, set()))


@pytest.mark.parametrize("name", ABORTS)
def test_what_ends_the_process_still_ends_one(name: str):
    path = Path(__file__).parents[3] / "tools" / "deviations" / f"{name.replace('-', '_')}.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("fault", "cut"),
    (
        (DeadTableAt("stream-plan", "before"), True),
        (DeadTableAt("stream-plan-staging", "after"), True),
        (DeadTableAt("side", "before", 4), True),  # Hadoop's checksum of the plan's temporary file
        (DeadTableAt("side", "before", 3), False),
        (DeadTableAt("stream-done", "before"), False),
    ),
)
def test_a_stream_is_cut_while_it_plans_at_its_plan_and_at_the_checksum_of_that(
    fault: DeadTableAt, cut: bool
):
    history = History("crashes", "dev", 0, 1, (Step(fault),))
    assert ("stream-plan-cut" in triggers_of(history)) is cut


def test_every_trigger_is_one_of_a_cause():
    assert {cause.trigger for cause in all_causes()} - {None} == set(TRIGGERS)
