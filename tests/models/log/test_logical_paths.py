"""One file has one key, however its URI is written."""

from __future__ import annotations

import pytest

from delta_models.log import Add, Remove
from delta_models.log.paths import logical


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
    assert logical(path) == known_as


def test_a_remove_takes_away_the_file_that_an_add_wrote_without_the_scheme():
    add = Add("/data/x.parquet", {}, 1, 0, data_change=True)
    remove = Remove("file:/data/x.parquet", deletion_timestamp=1, data_change=True)
    assert add.key == remove.key
