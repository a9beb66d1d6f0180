"""Tombstones expire by the table's retention, and a clean-up keeps what the oldest kept version needs."""

from __future__ import annotations

import pytest

from delta_models.log import Metadata, Protocol, Remove, Snapshot
from delta_models.log.file_names import checkpoint_name, checksum_name, commit_name, sort_names
from delta_models.log.retention import WEEK, cleanable_files, is_expired, parse_duration


def state(**configuration):
    metadata = Metadata(
        "id", "{}", (), {name.replace("_", "."): value for name, value in configuration.items()}
    )
    return Snapshot(0, Protocol(1, 2), metadata, {}, {}, {}, {})


def tombstone(timestamp):
    return Remove("a", data_change=True, deletion_timestamp=timestamp)


def test_a_tombstone_expires_after_a_week():
    assert not is_expired(state(), tombstone(1_000), 1_000 + WEEK)
    assert is_expired(state(), tombstone(1_000), 1_001 + WEEK)


def test_a_tombstone_expires_as_the_table_says():
    hours = state(delta_deletedFileRetentionDuration="interval 2 hours")
    assert not is_expired(hours, tombstone(0), 7_200_000)
    assert is_expired(hours, tombstone(0), 7_200_001)


def test_a_retention_that_is_malformed_is_the_default():
    assert not is_expired(state(delta_deletedFileRetentionDuration="a while"), tombstone(0), WEEK)


def test_a_tombstone_without_a_time_may_always_go():
    assert is_expired(state(), tombstone(None), 0)


def log(*checkpoints, commits=range(8)):
    names = [commit_name(version) for version in commits]
    names += [checksum_name(version) for version in commits]
    return sort_names([*names, *(checkpoint_name(version) for version in checkpoints)])


def versions(names):
    return sorted({int(name[:20]) for name in names})


def test_without_a_checkpoint_nothing_is_cleaned():
    assert cleanable_files(log(), 5) == ()
    assert cleanable_files(log(6), 5) == ()
    assert cleanable_files(log(3), None) == ()


@pytest.mark.parametrize(
    ("newest_expired", "gone"), ((3, [0, 1, 2]), (5, [0, 1, 2]), (6, [0, 1, 2, 3, 4, 5]))
)
def test_the_newest_covering_checkpoint_and_its_commit_stay(newest_expired, gone):
    assert versions(cleanable_files(log(3, 6), newest_expired)) == gone


def test_a_checkpoint_with_a_missing_part_covers_nothing():
    part = f"{4:020d}.checkpoint.{1:010d}.{2:010d}.parquet"
    listing = sort_names([*(commit_name(version) for version in range(8)), part])
    assert cleanable_files(listing, 6) == ()


def test_a_compaction_that_begins_before_the_checkpoint_goes_with_its_commits():
    compactions = [f"{1:020d}.{2:020d}.compacted.json", f"{5:020d}.{7:020d}.compacted.json"]
    names = [*(commit_name(version) for version in range(8)), checkpoint_name(3), *compactions]
    assert compactions[0] in cleanable_files(sort_names(names), 4)
    assert compactions[1] not in cleanable_files(sort_names(names), 4)


@pytest.mark.parametrize(
    ("text", "millis"),
    (
        ("interval 1 week", 604_800_000),
        ("interval 2 days 3 hours", 183_600_000),
        ("0 hours", 0),
        ("INTERVAL 30 MINUTES", 1_800_000),
    ),
)
def test_a_duration_has_its_milliseconds(text, millis):
    assert parse_duration(text) == millis


@pytest.mark.parametrize("text", ("", "interval", "soon", "1 month", "1 day and more"))
def test_what_is_no_fixed_time_is_no_duration(text):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)
