"""Checkpoints of the policy v2 that the reference engine writes: a cold reader gets the state from them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.log import LogReader
from delta_models.log.validity import version_breaches
from tests.mutants import stories

POLICY = (("delta.checkpointInterval", "1"), ("delta.checkpointPolicy", "v2"))
STEPS = (
    ops.Create(stories.SCHEMA, (), POLICY),
    stories.FILL,
    stories.FILL_MORE,
    ops.Delete(stories.SMALL),
    ops.Append(stories.rows((9, "z", 9.0)), transaction=("nightly", 4)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    engine = Reference()
    engine.open(str(tmp_path / "table"))
    for step in STEPS:
        engine.execute(step, "")
    return tmp_path / "table"


def test_both_forms_occur_and_no_other(folder):
    checkpoints = sorted((folder / "_delta_log").glob("*.checkpoint.*"))
    forms = [(int(path.name[:20]), path.suffix) for path in checkpoints]
    assert forms == [(1, ".parquet"), (2, ".json"), (3, ".parquet"), (4, ".json")]
    assert len(list((folder / "_delta_log" / "_sidecars").iterdir())) == 2


def test_the_protocol_names_the_feature(folder):
    protocol = LogReader(folder).snapshot().protocol
    assert "v2Checkpoint" in (protocol.reader_features or ())
    assert "v2Checkpoint" in (protocol.writer_features or ())


@pytest.mark.parametrize("version", (1, 2, 3, 4))
def test_a_checkpoint_gives_the_state_without_the_commits_before_it(folder, version):
    whole = LogReader(folder)
    expected, rows = whole.snapshot(version), whole.rows(whole.snapshot(version)).rows
    for earlier in range(version):
        (folder / "_delta_log" / f"{earlier:020}.json").unlink()
    alone = LogReader(folder).snapshot(version)
    assert set(alone.live) == set(expected.live)
    assert set(alone.tombstones) == set(expected.tombstones)
    assert alone.transactions == expected.transactions
    assert sorted(map(str, LogReader(folder).rows(alone).rows)) == sorted(map(str, rows))


def test_every_version_is_valid(folder):
    reader = LogReader(folder)
    for version in range(len(STEPS)):
        assert list(version_breaches(reader, version)) == [], version


def test_a_sidecar_holds_files_and_the_other_file_none(folder):
    [name] = (folder / "_delta_log").glob(f"{4:020}.checkpoint.*.json")
    kinds = {next(iter(json.loads(line))) for line in name.read_text("utf-8").splitlines()}
    assert kinds == {"checkpointMetadata", "sidecar", "protocol", "metaData", "txn"}
