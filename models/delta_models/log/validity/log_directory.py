"""Rules for the log's folder: which files there are, and whether each tells the same state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise, repeat
from typing import Any

from delta_models.log import canonical_json
from delta_models.log.errors import LogError
from delta_models.log.file_names import DIGITS, LAST_CHECKPOINT, CheckpointName, Compaction, Listing
from delta_models.log.reader import LogReader
from delta_models.log.validity import checkpoints, checksums
from delta_models.requirements.base import Checked, Verdict, checked

_ONE = re.compile(r"(\d+)\.(?:json|crc|checkpoint\.parquet|checkpoint\.\d+\.\d+\.parquet)")
_RANGE = re.compile(r"(\d+)\.(\d+)\.compacted\.json")


def judge(reader: LogReader, since: int) -> Iterator[Checked]:
    """The rules on the folder; of files of versions before `since`, which have counted already, only what is wrong."""
    listing = reader.listing()
    yield from _contiguous(listing)
    yield from _names(listing)
    yield from _never_changed(reader, listing)
    for checkpoint in listing.checkpoints:
        if checkpoint.complete:
            judge_file = partial(checkpoints.judge, reader, listing, checkpoint)
            verdicts = reader.cached_violations(checkpoint.files[0], judge_file)
            yield from _new_or_wrong(verdicts, counts=checkpoint.version >= since)
    for compaction in listing.compactions:
        verdicts = reader.cached_violations(compaction.name, partial(_compaction, reader, compaction))
        yield from _new_or_wrong(verdicts, counts=compaction.last >= since)
    if listing.has_hint:
        for requirement, wrong in _hint(reader, listing):
            yield checked(requirement, wrong, LAST_CHECKPOINT)
    for version, name in listing.checksums.items():
        verdicts = reader.cached_violations(name, partial(_checksum, reader, listing, version, name))
        yield from _new_or_wrong(verdicts, counts=version >= since)


def _new_or_wrong(verdicts: list[Checked], *, counts: bool) -> Iterable[Checked]:
    return verdicts if counts else (verdict for verdict in verdicts if verdict.violation is not None)


def _compaction(reader: LogReader, compaction: Compaction) -> Iterator[Checked]:
    yield checked("log.compaction-range")  # one that ends before it begins has another name: see `_names`
    for requirement, wrong in checkpoints.judge_compaction(reader, compaction):
        yield checked(requirement, wrong, compaction.name)


def _checksum(reader: LogReader, listing: Listing, version: int, name: str) -> Iterator[Checked]:
    for requirement, wrong in checksums.judge(reader, listing, version):
        yield checked(requirement, wrong, name)


def _contiguous(listing: Listing) -> Iterator[Checked]:
    versions = list(listing.commits)
    gaps = [(earlier, later) for earlier, later in pairwise(versions) if later != earlier + 1]
    for earlier, later in gaps:
        detail = f"version {later} follows {earlier}"
        yield checked("log.versions-contiguous", detail, listing.commits[later])
    if not gaps:
        yield checked("log.versions-contiguous")
    if not versions or versions[0] == 0:
        return
    oldest, where = versions[0], listing.commits[versions[0]]
    complete = [checkpoint.version for checkpoint in listing.checkpoints if checkpoint.complete]
    wrong = None
    if not any(version >= oldest - 1 for version in complete):
        wrong = f"the oldest commit is {oldest}, and no checkpoint covers what came before"
    yield checked("log.oldest-version-has-checkpoint", wrong, where)
    if complete:
        wrong = None
        if min(complete) == oldest - 1:
            wrong = f"the checkpoint {min(complete)} is there, its commit is not"
        yield checked("log.cleanup-keeps-checkpoint-commit", wrong, where)


def _names(listing: Listing) -> Iterator[Checked]:
    """Names that nearly mean something."""
    padded = True
    for name in listing.others:
        match = _ONE.fullmatch(name) or _RANGE.fullmatch(name)
        if match is None:
            continue
        if any(len(digits) != DIGITS for digits in match.groups()):
            padded = False
            yield checked("log.file-names-padded", "a version is written with 20 digits", name)
        elif len(match.groups()) > 1:
            yield checked("log.compaction-range", f"from {int(match[1])} to {int(match[2])}", name)
    if padded:
        yield checked("log.file-names-padded")


def _never_changed(reader: LogReader, listing: Listing) -> Iterator[Checked]:
    detail = "the bytes are not those that were read before"
    commits = reader.changed_commits()
    yield from (checked("log.commit-never-changes", detail, name) for name in commits)
    if not commits:
        yield checked("log.commit-never-changes")
    files = reader.changed_checksums()
    yield from (checked("checksum.never-changes", detail, name) for name in files)
    yield from repeat(checked("checksum.never-changes"), len(listing.checksums) - len(files))


def _hint(reader: LogReader, listing: Listing) -> Iterator[Verdict]:
    try:
        text = (reader.log / LAST_CHECKPOINT).read_bytes()
    except FileNotFoundError:
        return
    try:
        form = json.loads(text)
    except ValueError as error:
        yield "checkpoint.hint-well-formed", f"no JSON: {error}"
        return
    version = form.get("version") if isinstance(form, dict) else None
    if type(version) is not int or type(form.get("size")) is not int:
        yield "checkpoint.hint-well-formed", "no object with version and size"
        return
    yield "checkpoint.hint-well-formed", None
    said = form.get("checksum")
    try:
        checksum = canonical_json.checksum(text)
    except canonical_json.DuplicateKey as error:
        yield "checkpoint.hint-keys-once", str(error)
        return
    yield "checkpoint.hint-keys-once", None
    if said is not None:
        yield "checkpoint.hint-checksum", None if checksum == said else f"it says {said}, it is {checksum}"
    there = [
        checkpoint
        for checkpoint in listing.checkpoints
        if checkpoint.version == version and checkpoint.complete
    ]
    if not there:
        yield "checkpoint.hint-names-checkpoint", f"there is no complete checkpoint {version}"
        return
    yield "checkpoint.hint-names-checkpoint", None
    parts = form.get("parts")
    if parts is not None:
        known = [checkpoint.parts for checkpoint in there]
        yield "checkpoint.hint-parts", None if parts in known else f"parts is {parts}, there are {known}"
    yield from _hint_counts(reader, form, there)


def _hint_counts(reader: LogReader, form: dict[str, Any], there: list[CheckpointName]) -> Iterator[Verdict]:
    try:
        contents = [reader.checkpoint(name) for name in there]
    except LogError:
        return  # reported as a checkpoint that cannot be read
    adds = [sum(len(part) for part in checkpoint.adds) for checkpoint in contents]
    count = form.get("numOfAddFiles")
    if type(count) is int:
        wrong = None if count in adds else f"numOfAddFiles is {count}, the checkpoint holds {adds[0]}"
        yield "checkpoint.hint-add-files", wrong
    if any(checkpoint.checkpoint_metadatas for checkpoint in contents):
        return  # whether sidecars count is not said
    size, sizes = form["size"], [checkpoint.size for checkpoint in contents]
    wrong = None if size in sizes else f"size is {size}, the checkpoint holds {sizes[0]} actions"
    yield "checkpoint.hint-size", wrong
    length = form.get("sizeInBytes")
    if type(length) is int:
        lengths = [sum((reader.log / file).stat().st_size for file in name.files) for name in there]
        wrong = None if length in lengths else f"sizeInBytes is {length}, the checkpoint has {lengths[0]}"
        yield "checkpoint.hint-bytes", wrong
