"""A stream reader keeps each batch in a file. A stream's progress lies below the table and is no checkpoint."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from conformance.fault_injection.file_roles import ROLES, role_of
from delta_adapters.streams import ReceivedBatches, arrivals_of, progress_of


def batch(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


def test_a_batch_that_comes_again_takes_its_own_place(tmp_path: Path):
    assert ReceivedBatches(progress_of(tmp_path, "tail")).newest is None
    received = ReceivedBatches(progress_of(tmp_path, "tail"))
    for number, ids in ((0, (1, 2)), (3, (3,)), (3, (3, 4))):
        received.keep(number, batch(*ids))
    assert received.newest == 3
    assert ReceivedBatches(progress_of(tmp_path, "tail")).all().column("id").to_pylist() == [1, 2, 3, 4]
    assert ReceivedBatches(progress_of(tmp_path, "other")).newest is None


def test_half_a_batch_is_none(tmp_path: Path):
    received = ReceivedBatches(progress_of(tmp_path, "tail"))
    received.keep(0, batch(1))
    (whole,) = (tmp_path / "_checkpoints" / "tail" / "received").iterdir()
    whole.rename(whole.with_name(f".{1:020}.tmp"))
    assert received.newest is None
    with pytest.raises(FileNotFoundError):
        received.all()


def test_arrivals_stay_where_they_are_when_the_table_is_moved(tmp_path: Path):
    table, link = tmp_path / "table", tmp_path / "link"
    table.mkdir()
    link.symlink_to("table")
    before = arrivals_of(link, "pour")
    moved = table.rename(tmp_path / "table@1")
    assert arrivals_of(moved, "pour") == before


@pytest.mark.parametrize(
    ("path", "role"),
    (
        ("_checkpoints/pour/offsets/0", "stream-plan"),
        ("_checkpoints/pour/offsets/.0.8a.tmp", "stream-plan-staging"),
        ("_checkpoints/pour/commits/0", "stream-done"),
        ("_checkpoints/pour/commits/.0.8a.tmp", "stream-done-staging"),
        ("_checkpoints/pour/commits/.0.crc", "side"),
        ("_checkpoints/pour/metadata", "stream"),
        ("_checkpoints/pour/sources/0/0", "stream"),
        ("_checkpoints/commits/received/1.arrow", "stream"),
        ("_delta_log/00000000000000000010.checkpoint.parquet", "checkpoint"),
    ),
)
def test_the_progress_of_a_stream_has_roles_of_its_own(path: str, role: str):
    assert role_of(path) == role
    assert role in ROLES
