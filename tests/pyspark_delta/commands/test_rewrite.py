"""Optimize packs the right files into bins."""

from __future__ import annotations

import pytest

from pyspark_delta.commands.optimize import size_of
from pyspark_delta.commands.rewrite import group_by_partition, pack_bins
from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.log.actions import Add


def add(size: int, **values: str | None) -> Add:
    return Add(f"{size}.parquet", values, size, 0)


def test_bins_stay_within_the_limit_and_lose_no_file():
    sizes = [7, 1, 5, 3, 9, 2, 20]
    bins = list(pack_bins([add(size) for size in sizes], 10))
    assert sorted(file.size for files in bins for file in files) == sorted(sizes)
    assert all(len(files) == 1 or sum(file.size for file in files) <= 10 for files in bins)
    assert len(bins) < len(sizes)


def test_files_of_different_partitions_are_never_together():
    groups = group_by_partition([add(1, p="x"), add(2, p=None), add(3, p="x"), add(4, p="")])
    assert sorted(sorted(file.size for file in group) for group in groups) == [[1, 3], [2], [4]]


@pytest.mark.parametrize(("text", "size"), (("12", 12), ("2k", 2048), ("128mb", 128 << 20), ("1G", 1 << 30)))
def test_a_size_may_have_a_unit(text, size):
    assert size_of(text) == size


def test_what_is_no_size_is_refused():
    with pytest.raises(InvalidArgument, match="is no size"):
        size_of("large")
