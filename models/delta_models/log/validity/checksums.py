"""Rules for version checksums: each thing that one says is so in the state of its version."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from delta_models.log import commit_timestamps
from delta_models.log.checksums import Checksum
from delta_models.log.errors import LogError
from delta_models.log.file_names import Listing
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.log.validity.state_comparison import same_add, same_metadata, same_protocol
from delta_models.requirements.base import Verdict, once_each

_DELETED_BINS = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 2_147_483_647)


def judge(reader: LogReader, listing: Listing, version: int) -> Iterator[Verdict]:
    """The rules on one version checksum."""
    try:
        said = reader.checksum(version)
    except LogError as error:
        yield "checksum.well-formed", str(error)
        return
    if said is None:
        return
    yield "checksum.well-formed", None
    if listing.commits:
        newest = max(listing.commits)
        if version > newest:
            yield "checksum.after-commit", f"the newest commit is {newest}"
            return
        yield "checksum.after-commit", None
    try:
        state = reader.snapshot(version)
    except LogError:
        return  # the state cannot be reached any more, or what is wrong with it is reported elsewhere
    yield from once_each((*_counts(said, state), *_contents(said, state), *_lists(said, state)))


def _counts(said: Checksum, state: Snapshot) -> Iterator[Verdict]:
    rule = "checksum.agrees-with-state"
    count = len(state.live)
    yield rule, None if said.files == count else f"numFiles is {said.files}, live are {count}"
    sizes = [add.size for add in state.live.values()]
    total = sum(sizes)
    yield rule, None if said.size == total else f"tableSizeBytes is {said.size}, it is {total}"
    one = said.form["numMetadata"] == 1 and said.form["numProtocol"] == 1
    yield rule, None if one else "numMetadata and numProtocol are always 1"
    histogram = said.form.get("fileSizeHistogram")
    if isinstance(histogram, dict):
        right = _is_histogram(histogram, sizes)
        yield "checksum.histograms", None if right else "fileSizeHistogram is not that of the live files"
    vectors = [add.deletion_vector for add in state.live.values() if add.deletion_vector is not None]
    deleted = [vector.cardinality for vector in vectors]
    for key, value in (("numDeletionVectorsOpt", len(vectors)), ("numDeletedRecordsOpt", sum(deleted))):
        stated = said.form.get(key)
        if stated is not None:
            yield (
                "checksum.deletion-vectors",
                None if stated == value else f"{key} is {stated}, it is {value}",
            )
    counts = said.form.get("deletedRecordCountsHistogramOpt")
    if isinstance(counts, dict):
        bins = [0] * len(_DELETED_BINS)
        for number in (*deleted, *[0] * (count - len(vectors))):
            bins[bisect_right(_DELETED_BINS, number) - 1] += 1
        right = counts.get("deletedRecordCounts") == bins
        wrong = None if right else "deletedRecordCountsHistogramOpt is not that of the live files"
        yield "checksum.histograms", wrong


def _contents(said: Checksum, state: Snapshot) -> Iterator[Verdict]:
    same = same_metadata(said.metadata, state.metadata)
    yield "checksum.metadata", None if same else f"{said.metadata}, the state has {state.metadata}"
    same = same_protocol(said.protocol, state.protocol)
    yield "checksum.protocol", None if same else f"{said.protocol}, the state has {state.protocol}"
    time = state.in_commit_timestamp
    enabled = state.properties.get(commit_timestamps.ENABLED, "false").lower() == "true"
    wrong = None
    if (said.in_commit_timestamp is not None) != enabled:
        wrong = f"inCommitTimestampOpt is {said.in_commit_timestamp}"
    elif enabled and time is not None and said.in_commit_timestamp != time:
        wrong = f"{said.in_commit_timestamp}, the commit says {time}"
    yield "checksum.in-commit-timestamp", wrong


def _lists(said: Checksum, state: Snapshot) -> Iterator[Verdict]:
    if said.transactions is not None:
        versions = {transaction.app_id: transaction.version for transaction in said.transactions}
        same = versions == {name: transaction.version for name, transaction in state.transactions.items()}
        yield "checksum.transactions", None if same else f"{versions} are not the transactions of the state"
    if said.domains is not None:
        same = {domain.name: domain for domain in said.domains} == dict(state.domains)
        wrong = None if same else f"{[domain.name for domain in said.domains]} are not the state's domains"
        yield "checksum.domains", wrong
    if said.adds is not None:
        adds = {add.key: add for add in said.adds}
        same = adds.keys() == set(state.live) and all(
            same_add(add, state.live[key]) for key, add in adds.items()
        )
        yield "checksum.all-files", None if same else "allFiles are not the live files"


def _is_histogram(form: Mapping[str, Any], sizes: list[int]) -> bool:
    bounds = form.get("sortedBinBoundaries")
    if not isinstance(bounds, list) or not bounds or bounds[0] != 0 or bounds != sorted(bounds):
        return False
    counts, totals = [0] * len(bounds), [0] * len(bounds)
    for size in sizes:
        index = bisect_right(bounds, size) - 1
        counts[index] += 1
        totals[index] += size
    return bool(form.get("fileCounts") == counts and form.get("totalBytes") == totals)
