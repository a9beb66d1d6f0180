"""Rules for the log's folder: which files there are, and whether each tells the same state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from delta_models.log import canonical
from delta_models.log.errors import LogError
from delta_models.log.names import DIGITS, LAST_CHECKPOINT, CheckpointName, Listing
from delta_models.log.reader import LogReader
from delta_models.log.validity import checkpoints, checksums
from delta_models.requirements.base import Breach

_ONE = re.compile(r"(\d+)\.(?:json|crc|checkpoint\.parquet|checkpoint\.\d+\.\d+\.parquet)")
_RANGE = re.compile(r"(\d+)\.(\d+)\.compacted\.json")


def breaches(reader: LogReader, since: int) -> Iterator[Breach]:
    """Breaches of the rules on the folder; what belongs to versions before `since` is left out."""
    listing = reader.listing()
    yield from _contiguous(listing)
    yield from _names(listing)
    for name in reader.changed_commits():
        yield Breach("log.commit-never-changes", "the bytes are not those that were read before", name)
    for name in reader.changed_checksums():
        yield Breach("checksum.never-changes", "the bytes are not those that were read before", name)
    for checkpoint in listing.checkpoints:
        if checkpoint.complete and checkpoint.version >= since:
            judge = partial(checkpoints.breaches, reader, listing, checkpoint)
            yield from reader.verdict(checkpoint.files[0], judge)
    for compaction in listing.compactions:
        if compaction.last >= since:
            judge = partial(checkpoints.compaction_breaches, reader, compaction)
            yield from reader.verdict(compaction.name, judge)
    if listing.has_hint:
        yield from _hint(reader, listing)
    for version, name in listing.checksums.items():
        if version >= since:
            yield from reader.verdict(name, partial(checksums.breaches, reader, listing, version, name))


def _contiguous(listing: Listing) -> Iterator[Breach]:
    versions = list(listing.commits)
    for earlier, later in pairwise(versions):
        if later != earlier + 1:
            yield Breach(
                "log.versions-contiguous", f"version {later} follows {earlier}", listing.commits[later]
            )
    complete = [each.version for each in listing.checkpoints if each.complete]
    if versions and versions[0] > 0 and not any(version >= versions[0] - 1 for version in complete):
        detail = f"the oldest commit is {versions[0]}, and no checkpoint covers what came before"
        yield Breach("log.oldest-version-has-checkpoint", detail, listing.commits[versions[0]])
    if versions and versions[0] > 0 and complete and min(complete) == versions[0] - 1:
        detail = f"the checkpoint {min(complete)} is there, its commit is not"
        yield Breach("log.cleanup-keeps-checkpoint-commit", detail, listing.commits[versions[0]])


def _names(listing: Listing) -> Iterator[Breach]:
    """Names that nearly mean something."""
    for name in listing.others:
        found = _ONE.fullmatch(name) or _RANGE.fullmatch(name)
        if found is None:
            continue
        if any(len(each) != DIGITS for each in found.groups()):
            yield Breach("log.file-names-padded", "a version is written with 20 digits", name)
        elif len(found.groups()) > 1:
            yield Breach("log.compaction-range", f"from {int(found[1])} to {int(found[2])}", name)


def _hint(reader: LogReader, listing: Listing) -> Iterator[Breach]:
    try:
        text = (reader.log / LAST_CHECKPOINT).read_bytes()
    except FileNotFoundError:
        return
    try:
        form = json.loads(text)
    except ValueError as error:
        yield Breach("checkpoint.hint-well-formed", f"no JSON: {error}", LAST_CHECKPOINT)
        return
    version = form.get("version") if isinstance(form, dict) else None
    if type(version) is not int or type(form.get("size")) is not int:
        yield Breach("checkpoint.hint-well-formed", "no object with version and size", LAST_CHECKPOINT)
        return
    said = form.get("checksum")
    try:
        found = canonical.checksum(text)
    except canonical.DuplicateKey as error:
        yield Breach("checkpoint.hint-keys-once", str(error), LAST_CHECKPOINT)
        return
    if said is not None and found != said:
        yield Breach("checkpoint.hint-checksum", f"it says {said}, it is {found}", LAST_CHECKPOINT)
    there = [each for each in listing.checkpoints if each.version == version and each.complete]
    if not there:
        detail = f"there is no complete checkpoint {version}"
        yield Breach("checkpoint.hint-names-checkpoint", detail, LAST_CHECKPOINT)
        return
    parts = form.get("parts")
    if parts is not None and not any(each.parts == parts for each in there):
        detail = f"parts is {parts}, there are {[each.parts for each in there]}"
        yield Breach("checkpoint.hint-parts", detail, LAST_CHECKPOINT)
    yield from _hint_counts(reader, form, there)


def _hint_counts(reader: LogReader, form: dict[str, Any], there: list[CheckpointName]) -> Iterator[Breach]:
    try:
        found = [reader.checkpoint(name) for name in there]
    except LogError:
        return  # reported as a checkpoint that cannot be read
    adds = [sum(len(part) for part in each.adds) for each in found]
    if type(form.get("numOfAddFiles")) is int and form["numOfAddFiles"] not in adds:
        detail = f"numOfAddFiles is {form['numOfAddFiles']}, the checkpoint holds {adds[0]}"
        yield Breach("checkpoint.hint-add-files", detail, LAST_CHECKPOINT)
    if any(each.checkpoint_metadatas for each in found):
        return  # whether sidecars count is not said
    sizes = [each.size for each in found]
    if form["size"] not in sizes:
        detail = f"size is {form['size']}, the checkpoint holds {sizes[0]} actions"
        yield Breach("checkpoint.hint-size", detail, LAST_CHECKPOINT)
    lengths = [sum((reader.log / file).stat().st_size for file in name.files) for name in there]
    if type(form.get("sizeInBytes")) is int and form["sizeInBytes"] not in lengths:
        detail = f"sizeInBytes is {form['sizeInBytes']}, the checkpoint has {lengths[0]}"
        yield Breach("checkpoint.hint-bytes", detail, LAST_CHECKPOINT)
