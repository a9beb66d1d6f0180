"""The known deviations that come with the project: their entries are complete, and the installed engines show them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.findings import key_of
from conformance.findings.known_deviations import known_deviation, triggers_of
from conformance.histories import History, Step
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import (
    TRIGGERS,
    Deviation,
    all_deviations,
)
from delta_adapters.reference import Reference
from delta_models.operations import DeadTableAt
from delta_models.requirements import BY_ID
from tests.mutants.stage import ALWAYS_KNOWN, play

# The others need a JVM: tests/adapters/delta_spark and tests/execution/test_beside_delta_spark.py replay them.
BESIDE_DELTA_SPARK = (
    "delta-rs-far-timestamps",
    "delta-rs-stats-of-removes",
    "delta-rs-vacuum-of-deletion-vectors",
)
ABORTS = ("delta-rs-aborts-on-slices",)  # and would take these tests along: the script of it is run instead
UNDER_FAULTS = ("crashes", "races")  # tests/suites/crashes and tests/suites/races replay these
WITHOUT_JVM = [
    deviation
    for deviation in all_deviations()
    if deviation.engine == "delta-rs"
    and deviation.name not in (*BESIDE_DELTA_SPARK, *ABORTS)
    and deviation.history["suite"] not in UNDER_FAULTS
]


@pytest.mark.parametrize("entry", all_deviations(), ids=lambda entry: entry.name)
class TestEntries:
    def test_it_speaks_of_a_requirement_and_says_why(self, entry: Deviation):
        assert entry.requirement in BY_ID
        assert len(entry.cause) > 80
        assert entry.fingerprints

    def test_it_has_not_expired(self, entry: Deviation):
        assert not entry.expired(), (
            f"{entry.name}: look whether {entry.engine} still does it, and remove or renew it"
        )

    def test_its_forms_speak_of_requirements(self, entry: Deviation):
        assert {requirement for form in entry.forms for requirement in form.requirements} <= set(BY_ID)

    def test_its_trigger_exists(self, entry: Deviation):
        assert entry.trigger in {None, *TRIGGERS}

    def test_its_trigger_occurs_in_its_smallest_history(self, entry: Deviation):
        assert {entry.trigger} - {None} <= triggers_of(History.from_json(entry.history))


@pytest.mark.parametrize("entry", WITHOUT_JVM, ids=lambda entry: entry.name)
def test_its_smallest_history_still_shows_it(entry: Deviation, tmp_path):
    history = History.from_json(entry.history)
    others = [Reference()] if any(step.slot == "B" for step in history.steps) else []
    played = play(
        DeltaRs(),
        tmp_path / "table",
        [(step.operation, step.slot or "A") for step in history.steps],
        *others,
    )
    keys = [
        key_of(result.observation, violation) for result in played.result for violation in result.violations
    ]
    assert set(entry.fingerprints) & {key.fingerprint for key in keys}, (
        played.describe() or "it no longer happens"
    )
    assert {known_deviation(key, history=history) for key in keys} | ALWAYS_KNOWN == {
        entry.name
    } | ALWAYS_KNOWN, played.describe()


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


def test_every_trigger_is_one_of_an_entry():
    assert {deviation.trigger for deviation in all_deviations()} - {None} == set(TRIGGERS)


def test_an_entry_that_is_met_after_faults_says_in_which_files_they_strike():
    struck = [
        (deviation.name, operation, options)
        for deviation in all_deviations()
        for form in deviation.forms
        for operation, options in form.operations.items()
        if any(option.startswith("fault=") for option in options)
    ]
    assert struck
    for name, operation, options in struck:
        assert any(option.startswith("role=") for option in options), (name, operation)
