"""Rules for checkpoints and log compactions: well formed, and of the same state as the commits that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from delta_models.log import retention
from delta_models.log.actions import Metadata, Protocol
from delta_models.log.checkpoints import Checkpoint, sidecar_file
from delta_models.log.commits import parse_commit
from delta_models.log.errors import CorruptLog, LogError
from delta_models.log.file_names import SIDECARS, CheckpointName, Compaction, Listing
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.log.validity import checkpoint_struct_columns
from delta_models.log.validity.pages import other_pages
from delta_models.log.validity.protocol import is_on, supports
from delta_models.log.validity.state_comparison import differences, some
from delta_models.requirements.base import Violation

STATS_AS_JSON = "delta.checkpoint.writeStatsAsJson"
STATS_AS_STRUCT = "delta.checkpoint.writeStatsAsStruct"
_LISTS_FOR_READERS, _LISTS_FOR_WRITERS = 3, 7
_ENFORCED_FROM = 3  # the writer version that has to heed both properties


def violations(reader: LogReader, listing: Listing, name: CheckpointName) -> Iterator[Violation]:
    """Breaches of the rules on one complete checkpoint."""
    where = name.files[0]
    if listing.commits and name.version > max(listing.commits):
        yield Violation("checkpoint.after-commit", f"the newest commit is {max(listing.commits)}", where)
    try:
        checkpoint = reader.checkpoint(name)
    except LogError as error:
        yield Violation("checkpoint.readable", str(error), where)
        return
    yield from _contents(checkpoint, where)
    yield from _feature_lists(checkpoint, where)
    yield from _sidecars(reader, checkpoint, where)
    try:
        held = checkpoint.snapshot()
    except CorruptLog:
        return  # reported above as a count of actions
    yield from _kind(checkpoint, held, where)
    yield from _forms(checkpoint, held, where)
    for file in name.files:
        for detail in other_pages(held.metadata, reader.log / file) if file.endswith(".parquet") else ():
            yield Violation("checkpoint.data-pages", detail, file)
    replayed = _replayed_without(reader, name)
    yield from checkpoint_struct_columns.violations(checkpoint, held, replayed, where)
    if replayed is None:
        return
    for detail in differences(held, replayed):
        yield Violation("checkpoint.equals-replay", detail, where)
    yield from _tombstones(reader, name, held, replayed)
    yield from _statistics(held, replayed, where)
    yield from _kept(held, replayed, where)


def asked_forms(protocol: Protocol, metadata: Metadata) -> list[str]:
    """The rules on the forms of statistics that a table's properties make matter."""
    if protocol.min_writer < _ENFORCED_FROM:
        return []
    found = ["checkpoint.omits-parsed-stats"]
    if is_on(metadata, STATS_AS_STRUCT):
        found = ["checkpoint.keeps-parsed-stats"]
        found += ["checkpoint.keeps-parsed-partition-values"] if metadata.partition_columns else []
    if metadata.configuration.get(STATS_AS_JSON, "true").lower() != "true":
        found.append("checkpoint.omits-json-stats")
    return found


def compaction_breaches(reader: LogReader, compaction: Compaction) -> Iterator[Violation]:
    """Breaches of the rules on one log compaction."""
    try:
        starts = [
            start
            for start in reversed(reader.starts(compaction.last))
            if start is None or start.version < compaction.first
        ]
        if not starts:
            return
        by_commits = reader.replayed(compaction.last, starts[0])
        compacted = reader.replayed(compaction.last, starts[0], (compaction,))
    except LogError as error:
        yield Violation("log.compaction-readable", str(error), compaction.name)
        return
    held = parse_commit(compaction.last, compaction.name, (reader.log / compaction.name).read_bytes())
    kinds = [kind for kind, found in (("commitInfo", held.infos), ("cdc", held.cdcs)) if found]
    if kinds:
        yield Violation("log.compaction-no-provenance", f"it holds {' and '.join(kinds)}", compaction.name)
    for detail in differences(compacted, by_commits):
        yield Violation("log.compaction-equals-replay", detail, compaction.name)
    lost = [key for key in by_commits.tombstones if key not in compacted.tombstones]
    if lost:
        detail = f"tombstones are missing: {some(lost)}"
        yield Violation("log.compaction-equals-replay", detail, compaction.name)


def _contents(checkpoint: Checkpoint, where: str) -> Iterator[Violation]:
    for problem in checkpoint.problems:
        yield Violation("checkpoint.actions-well-formed", problem.detail, where)
    for kind in sorted({*checkpoint.foreign} & {"commitInfo", "cdc"}):
        yield Violation("checkpoint.no-provenance", f"it holds {kind} actions", where)
    if len(checkpoint.protocols) != 1:
        yield Violation("checkpoint.one-protocol", f"{len(checkpoint.protocols)} protocol actions", where)
    if len(checkpoint.metadatas) != 1:
        yield Violation("checkpoint.one-metadata", f"{len(checkpoint.metadatas)} metaData actions", where)
    if any(domain.removed for domain in checkpoint.domains):
        yield Violation("checkpoint.no-removed-domains", "it holds a removed domain", where)
    keys = [key for part in checkpoint.adds for key in list(part.keys())]
    twice = [key for key, times in Counter(keys).items() if times > 1] if len(keys) != len(set(keys)) else []
    if twice:
        yield Violation("checkpoint.adds-once", f"more than once: {some(twice)}", where)
    for remove in checkpoint.removes:
        if remove.stats is not None or remove.tags is not None:
            yield Violation("checkpoint.removes-without-stats", f"{remove.path} has stats or tags", where)
            break
    markers = len(checkpoint.checkpoint_metadatas)
    for checkpoint_metadata in checkpoint.checkpoint_metadatas:
        if checkpoint_metadata.version != checkpoint.name.version:
            detail = f"its checkpointMetadata says version {checkpoint_metadata.version}"
            yield Violation("checkpoint.metadata-version", detail, where)
    is_v2 = checkpoint.name.kind == "named" or bool(checkpoint.sidecars)
    if markers > 1 or (is_v2 and not markers):
        yield Violation("checkpoint.one-checkpoint-metadata", f"there are {markers}", where)


def _feature_lists(checkpoint: Checkpoint, where: str) -> Iterator[Violation]:
    for protocol in checkpoint.protocols:
        lists = (
            (protocol.min_reader == _LISTS_FOR_READERS, protocol.reader_features),
            (protocol.min_writer == _LISTS_FOR_WRITERS, protocol.writer_features),
        )
        if any(wanted != (features is not None) for wanted, features in lists):
            yield Violation("checkpoint.feature-lists", f"{protocol}", where)


def _forms(checkpoint: Checkpoint, held: Snapshot, where: str) -> Iterator[Violation]:
    """Whether statistics and partition values are in the forms that the table's properties ask for."""
    parts = [part for part in checkpoint.adds if len(part)]
    if held.protocol.min_writer < _ENFORCED_FROM or not parts:
        return
    in_json, columns, values = (
        any(part.has(name) for part in parts) for name in ("stats", "stats_parsed", "partitionValues_parsed")
    )
    if not is_on(held.metadata, STATS_AS_STRUCT):
        if columns:
            yield Violation(
                "checkpoint.omits-parsed-stats", f"stats_parsed, {STATS_AS_STRUCT} is not true", where
            )
    elif not where.endswith(".json"):
        if in_json and not columns:
            yield Violation("checkpoint.keeps-parsed-stats", "stats, and no stats_parsed", where)
        if held.partition_by and not values:
            yield Violation("checkpoint.keeps-parsed-partition-values", "no partitionValues_parsed", where)
    if in_json and held.properties.get(STATS_AS_JSON, "true").lower() != "true":
        yield Violation("checkpoint.omits-json-stats", f"stats, {STATS_AS_JSON} is not true", where)


def _sidecars(reader: LogReader, checkpoint: Checkpoint, where: str) -> Iterator[Violation]:
    if checkpoint.sidecars and checkpoint.top_level_file_actions:
        yield Violation("checkpoint.file-actions-in-one-place", "file actions beside sidecars", where)
    if checkpoint.foreign_in_sidecars:
        kinds = ", ".join(sorted({*checkpoint.foreign_in_sidecars}))
        yield Violation("checkpoint.sidecars-hold-file-actions", f"{kinds} in a sidecar", where)
    for sidecar in checkpoint.sidecars:
        if sidecar_file(reader.log, sidecar).parent.resolve() != (reader.log / SIDECARS).resolve():
            yield Violation("checkpoint.sidecars-in-their-folder", f"{sidecar.path} lies elsewhere", where)
        size = sidecar_file(reader.log, sidecar).stat().st_size
        if size != sidecar.size:
            detail = f"{sidecar.path} has {size} bytes, the checkpoint says {sidecar.size}"
            yield Violation("checkpoint.sidecar-size", detail, where)


def _kind(checkpoint: Checkpoint, held: Snapshot, where: str) -> Iterator[Violation]:
    v2 = supports(held.protocol, "v2Checkpoint")
    if checkpoint.name.kind == "parts" and v2:
        yield Violation("checkpoint.no-parts-with-v2", "a checkpoint in parts beside v2Checkpoint", where)
    if (checkpoint.name.kind == "named" or checkpoint.checkpoint_metadatas) and not v2:
        yield Violation("checkpoint.v2-needs-feature", "a V2 checkpoint without v2Checkpoint", where)


def _replayed_without(reader: LogReader, name: CheckpointName) -> Snapshot | None:
    """The state at a checkpoint's version without that checkpoint; None if there is no other way to it.

    The commits alone are preferred, then the oldest checkpoint: what depends least on other checkpoints.
    """
    try:
        starts = [each for each in reader.starts(name.version) if each is None or each.version < name.version]
    except LogError:
        return None
    for start in reversed(starts):
        try:
            return reader.replayed(name.version, start)
        except LogError:
            continue
    return None


def _tombstones(
    reader: LogReader, name: CheckpointName, held: Snapshot, replayed: Snapshot
) -> Iterator[Violation]:
    for key, remove in held.tombstones.items():
        known = replayed.tombstones.get(key)
        if known is not None and known.deletion_timestamp not in {None, remove.deletion_timestamp}:
            detail = f"{key[0]} was removed at {known.deletion_timestamp}, not {remove.deletion_timestamp}"
            yield Violation("checkpoint.keeps-removal-times", detail, name.files[0])
            break
    written = (reader.log / name.files[-1]).stat().st_mtime_ns // 1_000_000
    lost = [
        key
        for key, remove in replayed.tombstones.items()
        if key not in held.tombstones and not retention.is_expired(replayed, remove, written)
    ]
    if lost:
        detail = f"unexpired tombstones are missing: {some(lost)}"
        yield Violation("checkpoint.keeps-tombstones", detail, name.files[0])


def _statistics(held: Snapshot, replayed: Snapshot, where: str) -> Iterator[Violation]:
    if held.properties.get(STATS_AS_JSON, "true").lower() != "true":
        return
    for key, add in held.live.items():
        other = replayed.live.get(key)
        if add.stats is None and other is not None and other.stats is not None:
            yield Violation("checkpoint.keeps-stats", f"{key[0]} has lost its stats", where)
            return


def _kept(held: Snapshot, replayed: Snapshot, where: str) -> Iterator[Violation]:
    """What else an add says of its file; that no tags are there can be said in two ways."""
    for key, add in held.live.items():
        other = replayed.live.get(key)
        if other is None:
            continue
        if (add.tags or {}) != (other.tags or {}):
            yield Violation(
                "checkpoint.keeps-tags", f"{key[0]} has the tags {add.tags}, not {other.tags}", where
            )
            return
        if add.clustering_provider != other.clustering_provider:
            detail = f"{key[0]} was clustered by {other.clustering_provider}, not {add.clustering_provider}"
            yield Violation("checkpoint.keeps-clustering-provider", detail, where)
            return
