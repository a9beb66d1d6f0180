"""The folder of the log is judged by what a clean-up that was cut short may leave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.checks.checkpoints import CHECK
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


def broken(observation: Observation, *, cleaned: bool) -> set[str]:
    observation = replace(observation, fault_context=FaultContext(cleaned=cleaned))
    judgements = CHECK.run(observation, CheckRecorder())
    return {judgement.requirement for judgement in judgements if judgement.violation is not None}


def test_a_clean_up_that_ended_keeps_the_commit_of_the_oldest_checkpoint(observation):
    assert RULE in broken(observation, cleaned=False)


def test_a_clean_up_that_was_cut_may_leave_an_old_checkpoint_without_its_commit(observation):
    assert RULE not in broken(observation, cleaned=True)


def test_no_clean_up_takes_the_commit_of_the_only_checkpoint(observation):
    for file in (observation.folder / "_delta_log").glob("*3.checkpoint*"):
        file.unlink()
    observation = replace(observation, reader=LogReader(observation.folder))
    assert RULE in broken(observation, cleaned=True)
