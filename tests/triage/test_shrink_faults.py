"""Findings of races and of faults get small too, and so do findings of released engines and of engines on a JVM."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.findings import EARLIEST, PLANTED, shrink_planted
from conformance.findings.storage import Finding, load_finding
from conformance.histories import History, Step
from conformance.triage.references import with_inserted
from conformance.triage.replayer import Replayer
from conformance.triage.shrink import Shrunk, shrink
from delta_adapters.spark.java import BRIEF
from delta_models.operations import Append, Interleave, LoseReplyAt, Operation, Read, Reopen
from tests.triage.fresh_clone import CRASH, RACE, record_finding


def padded(finding: Finding) -> Finding:
    """The finding with steps in its history that do not matter."""
    write = next(step for step in finding.history.steps if isinstance(step.operation, Append))
    more = [Step(Read()), write, Step(Reopen()), write]
    history = replace(finding.history, steps=with_inserted(finding.history.steps, {1: more}))
    return replace(finding, history=history, step=finding.step + len(more))


def shrunk(finding: Finding) -> Shrunk:
    with Replayer() as replayer:
        return shrink(finding, replayer, deadline=time.monotonic() + 120)


def operations(history: History) -> list[Operation]:
    return [step.operation for step in history.steps]


@pytest.mark.slow
def test_a_race_shrinks_to_the_race_and_the_rows_that_it_needs(tmp_path: Path):
    finding = padded(load_finding(record_finding(RACE, tmp_path)))
    result = shrunk(finding)
    assert result.reproduced, result.why
    assert len(result.history.steps) <= 3
    race = operations(result.history)[-1]
    assert isinstance(race, Interleave)
    assert len(race.operations) == 2
    assert result.requirements[0] == finding.key.requirement


@pytest.mark.slow
def test_a_fault_shrinks_to_the_fault_and_the_operation_that_meets_it(tmp_path: Path):
    finding = padded(load_finding(record_finding(CRASH, tmp_path)))
    result = shrunk(finding)
    assert result.reproduced, result.why
    assert len(result.history.steps) <= 4
    fault, hit = operations(result.history)[-2:]
    assert isinstance(fault, LoseReplyAt)
    assert not isinstance(hit, LoseReplyAt)
    assert result.requirements[0] == finding.key.requirement


@pytest.mark.slow  # `benchmarks/findings.py` has delta-spark do the same, in four minutes
def test_a_planted_fault_late_in_a_long_history_shrinks_on_a_jvm(monkeypatch):
    monkeypatch.setenv(BRIEF, "0")  # it is called hundreds of times
    finding, result, _ = shrink_planted("pyspark")
    assert PLANTED.is_file()
    assert finding.step >= EARLIEST
    assert len(result.history.steps) <= 4
