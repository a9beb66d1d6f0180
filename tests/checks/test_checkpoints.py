"""The folder of the log is judged by what a clean-up that was cut short may leave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.checks.checkpoints import CHECK, left_by_a_cut_clean_up
from conformance.checks.recorder import CheckRecorder
from conformance.observations.observation import FaultContext, Observation
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log import LogReader
from tests.mutants import stories
from tests.mutants.stage import play

RULE = "log.cleanup-keeps-checkpoint-commit"
MORE = ops.Append(stories.rows((1, "a", 1.0)))


@pytest.fixture
def observation(tmp_path: Path) -> Observation:
    """The last step at a table with the checkpoints 1 and 3, whose commits 0 and 1 are gone."""
    story = (stories.CREATE, MORE, ops.Checkpoint(), MORE, MORE, ops.Checkpoint(), MORE)
    observation = play(Reference(), tmp_path / "table", story).result[-1].observation
    for version in (0, 1):
        (observation.folder / "_delta_log" / f"{version:020}.json").unlink()
    return replace(observation, reader=LogReader(observation.folder))


def broken(observation: Observation, *, cut: bool = False, left: LogReader | None = None) -> set[str]:
    """What is wrong with the log. It was cut now, or an earlier step was that left what `left` reads."""
    reader = observation.reader if left is None else left
    left_in_log = left_by_a_cut_clean_up(reader) if cut or left else frozenset()
    observation = replace(observation, fault_context=FaultContext(left_in_log=left_in_log))
    judgements = CHECK.run(observation, CheckRecorder())
    return {judgement.requirement for judgement in judgements if judgement.violation is not None}


def test_a_clean_up_that_ended_keeps_the_commit_of_the_oldest_checkpoint(observation):
    assert RULE in broken(observation, cut=False)


def test_a_clean_up_that_was_cut_may_leave_an_old_checkpoint_without_its_commit(observation):
    assert RULE not in broken(observation, cut=True)


def test_no_clean_up_takes_the_commit_of_the_only_checkpoint(observation):
    for file in (observation.folder / "_delta_log").glob("*3.checkpoint*"):
        file.unlink()
    observation = replace(observation, reader=LogReader(observation.folder))
    assert RULE in broken(observation, cut=True)


def test_what_a_cut_clean_up_has_left_is_not_charged_to_later_steps(observation):
    left = LogReader(observation.folder)
    assert RULE not in broken(observation, left=left)


def test_a_later_clean_up_that_does_the_same_is_charged(observation):
    left = LogReader(observation.folder)
    log = observation.folder / "_delta_log"
    for number in (2, 3):  # and the checkpoint 3 stays
        (log / f"{number:020}.json").unlink()
    (log / f"{1:020}.checkpoint.parquet").unlink()
    assert RULE in broken(replace(observation, reader=LogReader(observation.folder)), left=left)


def test_a_gap_that_a_later_clean_up_leaves_is_charged(observation):
    left = LogReader(observation.folder)
    (observation.folder / "_delta_log" / f"{3:020}.json").unlink()
    later = replace(observation, reader=LogReader(observation.folder))
    assert "log.versions-contiguous" in broken(later, left=left)
