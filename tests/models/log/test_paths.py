"""The file that a path in the log means, and its one key for all spellings of a URI."""

from __future__ import annotations

from pathlib import Path

import pytest

from delta_models.log import Add, Remove, paths
from delta_models.log.paths import logical_path


@pytest.mark.parametrize(
    ("written", "meant"),
    (
        ("a.parquet", "/t/a.parquet"),
        ("p=a%20b/x%25y.parquet", "/t/p=a b/x%y.parquet"),
        ("p=%C3%A4/x.parquet", "/t/p=ä/x.parquet"),
        ("p=a+b/x.parquet", "/t/p=a+b/x.parquet"),
        ("/elsewhere/x%20y", "/elsewhere/x y"),
        ("file:/elsewhere/x", "/elsewhere/x"),
        ("file:///elsewhere/x%23", "/elsewhere/x#"),
        ("file://host/elsewhere/x", "/elsewhere/x"),
    ),
)
def test_a_path_means_a_file(written, meant):
    assert paths.resolve(Path("/t"), written) == Path(meant)


def test_bytes_that_are_no_utf_8_stay_in_a_path():
    assert paths.decode("%FF").encode("utf-8", "surrogateescape") == b"\xff"


@pytest.mark.parametrize(
    ("path", "known_as"),
    (
        ("file:/data/x%20y.parquet", "/data/x%20y.parquet"),
        ("file:///data/x.parquet", "/data/x.parquet"),
        ("file://host/data/x.parquet", "/data/x.parquet"),
        ("/data/x.parquet", "/data/x.parquet"),
        ("part=1/x.parquet", "part=1/x.parquet"),
        ("s3://bucket/x.parquet", "s3://bucket/x.parquet"),
    ),
)
def test_a_path_with_the_scheme_file_is_known_as_the_same_path_without(path, known_as):
    assert logical_path(path) == known_as


def test_a_remove_takes_away_the_file_that_an_add_wrote_without_the_scheme():
    add = Add("/data/x.parquet", {}, 1, 0, data_change=True)
    remove = Remove("file:/data/x.parquet", deletion_timestamp=1, data_change=True)
    assert add.key == remove.key
