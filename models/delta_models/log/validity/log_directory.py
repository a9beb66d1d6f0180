"""Rules for the log's folder: which files there are, and whether each tells the same state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from delta_models.log import canonical_json
from delta_models.log.errors import LogError
from delta_models.log.file_names import DIGITS, LAST_CHECKPOINT, CheckpointName, Listing
from delta_models.log.reader import LogReader
from delta_models.log.validity import checkpoints, checksums
from delta_models.requirements.base import Violation

_ONE = re.compile(r"(\d+)\.(?:json|crc|checkpoint\.parquet|checkpoint\.\d+\.\d+\.parquet)")
_RANGE = re.compile(r"(\d+)\.(\d+)\.compacted\.json")


def violations(reader: LogReader, since: int) -> Iterator[Violation]:
    """Breaches of the rules on the folder; what belongs to versions before `since` is left out."""
    listing = reader.listing()
    yield from _contiguous(listing)
    yield from _names(listing)
    for name in reader.changed_commits():
        yield Violation("log.commit-never-changes", "the bytes are not those that were read before", name)
    for name in reader.changed_checksums():
        yield Violation("checksum.never-changes", "the bytes are not those that were read before", name)
    for checkpoint in listing.checkpoints:
        if checkpoint.complete and checkpoint.version >= since:
            judge = partial(checkpoints.violations, reader, listing, checkpoint)
            yield from reader.verdict(checkpoint.files[0], judge)
    for compaction in listing.compactions:
        if compaction.last >= since:
            judge = partial(checkpoints.compaction_breaches, reader, compaction)
            yield from reader.verdict(compaction.name, judge)
    if listing.has_hint:
        yield from _hint(reader, listing)
    for version, name in listing.checksums.items():
        if version >= since:
            yield from reader.verdict(name, partial(checksums.violations, reader, listing, version, name))


def _contiguous(listing: Listing) -> Iterator[Violation]:
    versions = list(listing.commits)
    for earlier, later in pairwise(versions):
        if later != earlier + 1:
            yield Violation(
                "log.versions-contiguous", f"version {later} follows {earlier}", listing.commits[later]
            )
    complete = [checkpoint.version for checkpoint in listing.checkpoints if checkpoint.complete]
    if versions and versions[0] > 0 and not any(version >= versions[0] - 1 for version in complete):
        detail = f"the oldest commit is {versions[0]}, and no checkpoint covers what came before"
        yield Violation("log.oldest-version-has-checkpoint", detail, listing.commits[versions[0]])
    if versions and versions[0] > 0 and complete and min(complete) == versions[0] - 1:
        detail = f"the checkpoint {min(complete)} is there, its commit is not"
        yield Violation("log.cleanup-keeps-checkpoint-commit", detail, listing.commits[versions[0]])


def _names(listing: Listing) -> Iterator[Violation]:
    """Names that nearly mean something."""
    for name in listing.others:
        found = _ONE.fullmatch(name) or _RANGE.fullmatch(name)
        if found is None:
            continue
        if any(len(group) != DIGITS for group in found.groups()):
            yield Violation("log.file-names-padded", "a version is written with 20 digits", name)
        elif len(found.groups()) > 1:
            yield Violation("log.compaction-range", f"from {int(found[1])} to {int(found[2])}", name)


def _hint(reader: LogReader, listing: Listing) -> Iterator[Violation]:
    try:
        text = (reader.log / LAST_CHECKPOINT).read_bytes()
    except FileNotFoundError:
        return
    try:
        form = json.loads(text)
    except ValueError as error:
        yield Violation("checkpoint.hint-well-formed", f"no JSON: {error}", LAST_CHECKPOINT)
        return
    version = form.get("version") if isinstance(form, dict) else None
    if type(version) is not int or type(form.get("size")) is not int:
        yield Violation("checkpoint.hint-well-formed", "no object with version and size", LAST_CHECKPOINT)
        return
    said = form.get("checksum")
    try:
        found = canonical_json.checksum(text)
    except canonical_json.DuplicateKey as error:
        yield Violation("checkpoint.hint-keys-once", str(error), LAST_CHECKPOINT)
        return
    if said is not None and found != said:
        yield Violation("checkpoint.hint-checksum", f"it says {said}, it is {found}", LAST_CHECKPOINT)
    there = [
        checkpoint
        for checkpoint in listing.checkpoints
        if checkpoint.version == version and checkpoint.complete
    ]
    if not there:
        detail = f"there is no complete checkpoint {version}"
        yield Violation("checkpoint.hint-names-checkpoint", detail, LAST_CHECKPOINT)
        return
    parts = form.get("parts")
    if parts is not None and not any(each.parts == parts for each in there):
        detail = f"parts is {parts}, there are {[each.parts for each in there]}"
        yield Violation("checkpoint.hint-parts", detail, LAST_CHECKPOINT)
    yield from _hint_counts(reader, form, there)


def _hint_counts(reader: LogReader, form: dict[str, Any], there: list[CheckpointName]) -> Iterator[Violation]:
    try:
        found = [reader.checkpoint(name) for name in there]
    except LogError:
        return  # reported as a checkpoint that cannot be read
    adds = [sum(len(part) for part in each.adds) for each in found]
    if type(form.get("numOfAddFiles")) is int and form["numOfAddFiles"] not in adds:
        detail = f"numOfAddFiles is {form['numOfAddFiles']}, the checkpoint holds {adds[0]}"
        yield Violation("checkpoint.hint-add-files", detail, LAST_CHECKPOINT)
    if any(each.checkpoint_metadatas for each in found):
        return  # whether sidecars count is not said
    sizes = [each.size for each in found]
    if form["size"] not in sizes:
        detail = f"size is {form['size']}, the checkpoint holds {sizes[0]} actions"
        yield Violation("checkpoint.hint-size", detail, LAST_CHECKPOINT)
    lengths = [sum((reader.log / file).stat().st_size for file in name.files) for name in there]
    if type(form.get("sizeInBytes")) is int and form["sizeInBytes"] not in lengths:
        detail = f"sizeInBytes is {form['sizeInBytes']}, the checkpoint has {lengths[0]}"
        yield Violation("checkpoint.hint-bytes", detail, LAST_CHECKPOINT)
