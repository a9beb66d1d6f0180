"""A worked example that is played again is held to what is written down, as the suite holds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.histories import History
from conformance.suites.examples import EXAMPLES, Example
from conformance.suites.examples.judge import example_of
from conformance.suites.examples.suite import AS_WRITTEN, drawn_form
from conformance.triage.replayer import Setup
from delta_adapters.reference import Reference
from delta_models.operations import Vacuum
from delta_models.outcomes import NoChange
from tests.triage.in_process import NAME, replayer_of


class Hoards(Reference):
    """Reports that a vacuum changed nothing."""

    def execute(self, operation, tag):
        return NoChange() if isinstance(operation, Vacuum) else super().execute(operation, tag)


@pytest.fixture(scope="module")
def vacuumed() -> Example:
    return EXAMPLES["overwrite-then-vacuum"]()


def history(example: Example) -> History:
    """The history of an example, as a finding keeps it: a file that the harness wrote is a read of the engines."""
    kept = History("examples", "ci", 0, 1, tuple(map(drawn_form, example.steps)))
    return History.from_json(kept.to_json())


def as_written(played: History, adapter: type[Reference]) -> list[str]:
    """What is not as written when a history is played again."""
    with replayer_of(adapter) as replayer:
        playthrough = replayer.play(played, Setup("examples", (NAME,)))
    assert playthrough.error is None
    return [
        violation.detail
        for _, violation in playthrough.violations("reference")
        if violation.requirement == AS_WRITTEN
    ]


def test_files_that_a_vacuum_should_have_removed_are_reported_again(vacuumed):
    (problem,) = as_written(history(vacuumed), Hoards)
    assert "files of step 1 are still in the folder" in problem
    assert as_written(history(vacuumed), Reference) == []


def test_a_history_that_ends_before_its_example_does_is_judged_as_far_as_it_goes(vacuumed):
    whole = history(vacuumed)
    at = next(number for number, step in enumerate(whole.steps) if isinstance(step.operation, Vacuum))
    assert len(as_written(replace(whole, steps=whole.steps[: at + 1]), Hoards)) == 1


def test_a_history_that_was_made_smaller_has_no_judge(vacuumed):
    whole = history(vacuumed)
    assert example_of(whole) == vacuumed
    assert example_of(replace(whole, steps=(whole.steps[0], *whole.steps[2:]))) is None
    assert example_of(replace(whole, suite="lockstep")) is None
    assert example_of(replace(whole, steps=(*whole.steps, whole.steps[-1]))) is None
