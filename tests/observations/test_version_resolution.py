"""Operations that name a step's state are translated to a version or a commit time of one table."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.observations.version_resolution import resolve_states
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log import LogReader
from tests.mutants import stories


@pytest.fixture
def reader(tmp_path: Path) -> LogReader:
    engine = Reference()
    engine.open(str(tmp_path / "table"))
    for operation in stories.TWICE:
        engine.execute(operation, "")
    return LogReader(tmp_path / "table")


def test_changes_are_read_from_the_first_version_of_the_first_step(reader):
    read = ops.ReadChanges(ops.AtState(1), ops.AtState(2))
    resolved = resolve_states(read, {0: 0, 1: 2, 2: 5}, reader)
    assert resolved == ops.ReadChanges(ops.AtVersion(1), ops.AtVersion(5))


def test_steps_that_added_no_version_have_no_changes_to_read(reader):
    read = ops.ReadChanges(ops.AtState(1), ops.AtState(1))
    assert resolve_states(read, {0: 3, 1: 3}, reader) is None


def test_a_state_that_a_copy_never_had_is_not_resolved(reader):
    assert resolve_states(ops.Restore(ops.AtState(4)), {0: 0}, reader) is None


def test_the_time_of_a_state_is_that_of_its_commit(reader):
    resolved = resolve_states(ops.Read(ops.AtTime(2)), {2: 2}, reader)
    assert isinstance(resolved, ops.Read)
    assert isinstance(resolved.at, ops.AtTimestamp)
    assert resolved.at.micros == reader.commit_times()[2] * 1000
