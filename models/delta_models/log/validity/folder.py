"""Rules for the log's folder: which files there are, and whether each tells the same state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from delta_models.log.actions import Add
from delta_models.log.checkpoints import Checkpoint
from delta_models.log.errors import CorruptLog, LogError, MissingVersion
from delta_models.log.names import LAST_CHECKPOINT, CheckpointName, Listing
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Breach


def breaches(reader: LogReader, since: int) -> Iterator[Breach]:
    """Breaches of the rules on the folder; checkpoints and checksums of versions before `since` are left out."""
    listing = reader.listing()
    yield from _contiguous(listing)
    for name in reader.changed_commits():
        yield Breach("log.commit-never-changes", "the bytes are not those that were read before", name)
    for checkpoint in listing.checkpoints:
        if checkpoint.complete and checkpoint.version >= since:
            judge = partial(_checkpoint, reader, listing, checkpoint)
            yield from reader.verdict(checkpoint.files[0], judge)
    if listing.has_hint:
        yield from _hint(reader, listing)
    for version, name in listing.checksums.items():
        if version >= since:
            yield from reader.verdict(name, partial(_checksum, reader, listing, version, name))


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


def _checkpoint(reader: LogReader, listing: Listing, name: CheckpointName) -> Iterator[Breach]:
    where = name.files[0]
    if listing.commits and name.version > max(listing.commits):
        yield Breach("checkpoint.after-commit", f"the newest commit is {max(listing.commits)}", where)
    try:
        checkpoint = reader.checkpoint(name)
    except LogError as error:
        yield Breach("checkpoint.readable", str(error), where)
        return
    yield from _contents(checkpoint, where)
    try:
        held = checkpoint.snapshot()
    except CorruptLog:
        return  # reported above as a count of actions
    replayed = _replayed_without(reader, name)
    if replayed is not None:
        for detail in differences(held, replayed):
            yield Breach("checkpoint.equals-replay", detail, where)


def _contents(checkpoint: Checkpoint, where: str) -> Iterator[Breach]:
    for problem in checkpoint.problems:
        yield Breach("checkpoint.actions-well-formed", problem.detail, where)
    for kind in sorted({*checkpoint.foreign} & {"commitInfo", "cdc"}):
        yield Breach("checkpoint.no-provenance", f"it holds {kind} actions", where)
    if len(checkpoint.protocols) != 1:
        yield Breach("checkpoint.one-protocol", f"{len(checkpoint.protocols)} protocol actions", where)
    if len(checkpoint.metadatas) != 1:
        yield Breach("checkpoint.one-metadata", f"{len(checkpoint.metadatas)} metaData actions", where)
    if any(each.removed for each in checkpoint.domains):
        yield Breach("checkpoint.no-removed-domains", "it holds a removed domain", where)
    keys = [key for part in checkpoint.adds for key in list(part.keys())]
    if len(keys) != len(set(keys)):
        yield Breach(
            "checkpoint.adds-once", f"{len(keys) - len(set(keys))} files stand in it more than once", where
        )
    for remove in checkpoint.removes:
        if remove.stats is not None or remove.tags is not None:
            yield Breach("checkpoint.removes-without-stats", f"{remove.path} has stats or tags", where)
            break
    if len(checkpoint.checkpoint_metadatas) > 1:
        yield Breach(
            "checkpoint.one-checkpoint-metadata", f"{len(checkpoint.checkpoint_metadatas)} of them", where
        )
    elif checkpoint.name.kind == "named" and not checkpoint.checkpoint_metadatas:
        yield Breach("checkpoint.one-checkpoint-metadata", "there is none", where)
    if checkpoint.sidecars and checkpoint.top_level_file_actions:
        yield Breach("checkpoint.file-actions-in-one-place", "file actions beside sidecars", where)


def _replayed_without(reader: LogReader, name: CheckpointName) -> Snapshot | None:
    """The state at a checkpoint's version without that checkpoint; None if there is no other way to it."""
    try:
        starts = [each for each in reader.starts(name.version) if each is None or each.version < name.version]
    except (CorruptLog, MissingVersion):
        return None
    for start in starts:
        try:
            return reader.replayed(name.version, start)
        except LogError:
            continue
    return None


def differences(held: Snapshot, replayed: Snapshot) -> Iterator[str]:
    """How the state in a checkpoint differs from the replayed one."""
    if held.protocol != replayed.protocol:
        yield f"protocol {held.protocol}, by replay {replayed.protocol}"
    if held.metadata != replayed.metadata:
        yield f"metadata {held.metadata}, by replay {replayed.metadata}"
    yield from _keys("live files", held.live, replayed.live)
    for key, add in held.live.items():
        other = replayed.live.get(key)
        if other is not None and not same_add(add, other):
            yield f"the add of {key[0]} is not the one by replay"
            break
    unknown = [key for key in held.tombstones if key not in replayed.tombstones]
    if unknown:
        yield f"tombstones that replay does not have: {_some(unknown)}"
    missing = [key for key in replayed.transactions if key not in held.transactions]
    if missing and "delta.setTransactionRetentionDuration" not in held.properties:
        yield f"no transaction of {_some(missing)}"
    for name, transaction in held.transactions.items():
        found = replayed.transactions.get(name)
        if found is None or found.version != transaction.version:
            yield f"transaction {name!r} at {transaction.version}, by replay {found.version if found else 'nowhere'}"
    if dict(held.domains) != dict(replayed.domains):
        yield f"domains {sorted(held.domains)}, by replay {sorted(replayed.domains)}, or other configurations"


def same_add(left: Add, right: Add) -> bool:
    """Whether two adds say the same of a file; statistics may be there in one only, and dataChange means nothing."""
    return (
        left.size == right.size
        and left.modification_time == right.modification_time
        and _as_nulls(left.partition_values) == _as_nulls(right.partition_values)
        and left.deletion_vector == right.deletion_vector
        and left.base_row_id == right.base_row_id
        and left.default_row_commit_version == right.default_row_commit_version
        and (left.stats is None or right.stats is None or _same_stats(left, right))
    )


def _same_stats(left: Add, right: Add) -> bool:
    if left.stats == right.stats:
        return True
    try:
        return left.statistics == right.statistics
    except ValueError:
        return False


def _as_nulls(values: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: value or None for name, value in values.items()}


def _keys(what: str, held: Mapping[Any, Any], replayed: Mapping[Any, Any]) -> Iterator[str]:
    missing = [key for key in replayed if key not in held]
    extra = [key for key in held if key not in replayed]
    if missing:
        yield f"{what} are missing: {_some(missing)}"
    if extra:
        yield f"{what} are too many: {_some(extra)}"


def _some(keys: list[Any]) -> str:
    shown = ", ".join(str(key[0] if isinstance(key, tuple) else key) for key in keys[:3])
    return shown if len(keys) <= 3 else f"{shown} and {len(keys) - 3} more"


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
    there = [each for each in listing.checkpoints if each.version == version and each.complete]
    if not there:
        yield Breach(
            "checkpoint.hint-names-checkpoint", f"there is no complete checkpoint {version}", LAST_CHECKPOINT
        )
        return
    parts = form.get("parts")
    if parts is not None and not any(each.parts == parts for each in there):
        detail = f"parts is {parts}, there are {[each.parts for each in there]}"
        yield Breach("checkpoint.hint-parts", detail, LAST_CHECKPOINT)


def _checksum(reader: LogReader, listing: Listing, version: int, name: str) -> Iterator[Breach]:
    try:
        form = json.loads((reader.log / name).read_bytes())
    except FileNotFoundError:
        return
    except ValueError as error:
        yield Breach("checksum.well-formed", f"no JSON: {error}", name)
        return
    required = ("tableSizeBytes", "numFiles", "numMetadata", "numProtocol", "metadata", "protocol")
    missing = [key for key in required if not isinstance(form, dict) or form.get(key) is None]
    if missing:
        yield Breach("checksum.well-formed", f"{', '.join(missing)} missing", name)
        return
    if version not in listing.commits and not any(each.version == version for each in listing.checkpoints):
        return
    try:
        state = reader.snapshot(version)
    except LogError:
        return  # the state is not reachable any more, or reported elsewhere
    if form["numFiles"] != len(state.live):
        yield Breach(
            "checksum.agrees-with-state", f"numFiles is {form['numFiles']}, live are {len(state.live)}", name
        )
    size = _total(state)
    if form["tableSizeBytes"] != size:
        yield Breach(
            "checksum.agrees-with-state", f"tableSizeBytes is {form['tableSizeBytes']}, it is {size}", name
        )
    if form["numMetadata"] != 1 or form["numProtocol"] != 1:
        yield Breach("checksum.agrees-with-state", "numMetadata and numProtocol are 1", name)
    if form["metadata"].get("id") != state.metadata.id:
        yield Breach("checksum.agrees-with-state", "the metadata is another table's", name)


def _total(state: Snapshot) -> int:
    return sum(add.size for add in state.live.values())
