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
from delta_models.requirements.base import Violation

_DELETED_BINS = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 2_147_483_647)


def violations(reader: LogReader, listing: Listing, version: int, name: str) -> Iterator[Violation]:
    """Breaches of the rules on one version checksum."""
    try:
        said = reader.checksum(version)
    except LogError as error:
        yield Violation("checksum.well-formed", str(error), name)
        return
    if said is None:
        return
    if listing.commits and version > max(listing.commits):
        yield Violation("checksum.after-commit", f"the newest commit is {max(listing.commits)}", name)
        return
    try:
        state = reader.snapshot(version)
    except LogError:
        return  # the state cannot be reached any more, or what is wrong with it is reported elsewhere
    for requirement, detail in (*_counts(said, state), *_contents(said, state), *_lists(said, state)):
        yield Violation(requirement, detail, name)


def _counts(said: Checksum, state: Snapshot) -> Iterator[tuple[str, str]]:
    if said.files != len(state.live):
        yield "checksum.agrees-with-state", f"numFiles is {said.files}, live are {len(state.live)}"
    sizes = [add.size for add in state.live.values()]
    if said.size != sum(sizes):
        yield "checksum.agrees-with-state", f"tableSizeBytes is {said.size}, it is {sum(sizes)}"
    if said.form["numMetadata"] != 1 or said.form["numProtocol"] != 1:
        yield "checksum.agrees-with-state", "numMetadata and numProtocol are always 1"
    histogram = said.form.get("fileSizeHistogram")
    if isinstance(histogram, dict) and not _is_histogram(histogram, sizes):
        yield "checksum.histograms", "fileSizeHistogram is not that of the live files"
    vectors = [add.deletion_vector for add in state.live.values() if add.deletion_vector is not None]
    deleted = [vector.cardinality for vector in vectors]
    for key, value in (("numDeletionVectorsOpt", len(vectors)), ("numDeletedRecordsOpt", sum(deleted))):
        if said.form.get(key) not in (None, value):
            yield "checksum.deletion-vectors", f"{key} is {said.form[key]}, it is {value}"
    counts = said.form.get("deletedRecordCountsHistogramOpt")
    if isinstance(counts, dict):
        bins = [0] * len(_DELETED_BINS)
        for number in (*deleted, *[0] * (len(state.live) - len(vectors))):
            bins[bisect_right(_DELETED_BINS, number) - 1] += 1
        if counts.get("deletedRecordCounts") != bins:
            yield "checksum.histograms", "deletedRecordCountsHistogramOpt is not that of the live files"


def _contents(said: Checksum, state: Snapshot) -> Iterator[tuple[str, str]]:
    if not same_metadata(said.metadata, state.metadata):
        yield "checksum.metadata", f"{said.metadata}, the state has {state.metadata}"
    if not same_protocol(said.protocol, state.protocol):
        yield "checksum.protocol", f"{said.protocol}, the state has {state.protocol}"
    time = state.in_commit_timestamp
    enabled = state.properties.get(commit_timestamps.ENABLED, "false").lower() == "true"
    if (said.in_commit_timestamp is not None) != enabled:
        yield "checksum.in-commit-timestamp", f"inCommitTimestampOpt is {said.in_commit_timestamp}"
    elif enabled and time is not None and said.in_commit_timestamp != time:
        yield "checksum.in-commit-timestamp", f"{said.in_commit_timestamp}, the commit says {time}"


def _lists(said: Checksum, state: Snapshot) -> Iterator[tuple[str, str]]:
    if said.transactions is not None:
        versions = {transaction.app_id: transaction.version for transaction in said.transactions}
        if versions != {name: transaction.version for name, transaction in state.transactions.items()}:
            yield "checksum.transactions", f"{versions} are not the transactions of the state"
    if said.domains is not None and {domain.name: domain for domain in said.domains} != dict(state.domains):
        yield "checksum.domains", f"{[domain.name for domain in said.domains]} are not the state's domains"
    if said.adds is not None:
        adds = {file.key: file for file in said.adds}
        alike = adds.keys() == set(state.live) and all(
            same_add(add, state.live[key]) for key, add in adds.items()
        )
        if not alike:
            yield "checksum.all-files", "allFiles are not the live files"


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
