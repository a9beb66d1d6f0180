"""What the user asked for and the run did not play is said first, and the run ends 3."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from conformance.events.types import (
    EngineReady,
    EngineUnavailable,
    HistoryEnded,
    Interrupted,
    Note,
    RunStarted,
)
from conformance.reporting.aggregation import ResultAggregator

STARTED = RunStarted(
    1, "0.1.0", (), 1, "ci", "local", "", "3.11", "", engines=("pyspark", "delta-rs"), suites=("crashes", "races"),
    asked=("pyspark", "delta-rs"),
)  # fmt: skip
READY = (EngineReady("pyspark@0.1.0", spec="pyspark"), EngineReady("delta-rs@1.6.6", spec="delta-rs"))


def outcome(*events):
    aggregator = ResultAggregator(Path())
    for event in events:
        aggregator(event)
    return aggregator.results(1.0).outcome


def ended(suite, **operations):
    identities = {"pyspark": "pyspark@0.1.0", "delta_rs": "delta-rs@1.6.6"}
    return HistoryEnded(suite, 0, 0, 3, {identities[name]: count for name, count in operations.items()})


def test_an_engine_that_was_left_out_of_a_suite_is_said_first_and_the_run_ends_3():
    result = outcome(STARTED, *READY, ended("crashes", delta_rs=9), ended("races", delta_rs=9, pyspark=4))
    assert result.exit == 3
    assert result.reasons[0] == "pyspark@0.1.0 was asked for and did not play in crashes"


def test_an_engine_that_performed_nothing_in_a_history_did_not_play_in_it():
    events = (ended(suite, delta_rs=9, pyspark=0) for suite in STARTED.suites)
    reasons = outcome(STARTED, *READY, *events).reasons
    assert reasons[0] == "pyspark@0.1.0 was asked for and did not play in crashes, races"


def test_the_note_that_says_why_is_part_of_the_reason():
    note = Note("pyspark: there are no faults and no schedules: no cc on the PATH")
    events = (ended(suite, delta_rs=9) for suite in STARTED.suites)
    assert outcome(STARTED, *READY, note, *events).reasons[0].endswith(f"crashes, races ({note.message})")


def test_nothing_is_said_of_engines_that_played_everywhere():
    events = (ended(suite, delta_rs=9, pyspark=4) for suite in STARTED.suites)
    whole = outcome(STARTED, *READY, *events)
    assert not any("was asked for" in reason for reason in whole.reasons)


def test_default_engines_were_not_asked_for():
    reasons = outcome(replace(STARTED, asked=()), *READY, ended("crashes", delta_rs=9)).reasons
    assert not any("was asked for" in reason for reason in reasons)


def test_an_engine_that_can_not_be_tested_is_the_only_reason():
    broken = EngineUnavailable("pyspark", "it fails", "mend it", asked=True, broken=True)
    result = outcome(STARTED, READY[1], broken)
    assert (result.exit, result.reasons) == (
        2,
        ("pyspark was asked for and can't be tested: it fails To mend it: mend it",),
    )
    assert outcome(STARTED, replace(broken, broken=False)).exit == 3


def test_a_run_that_was_stopped_by_hand_stays_so():
    assert outcome(STARTED, *READY, Interrupted()).exit == 130
