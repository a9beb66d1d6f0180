"""Rules for checkpoints and log compactions: well formed, and of the same state as the commits that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from delta_models.log import retention
from delta_models.log.checkpoints import Checkpoint, sidecar_file
from delta_models.log.commits import parse_commit
from delta_models.log.errors import CorruptLog, LogError
from delta_models.log.file_names import SIDECARS, CheckpointName, Compaction, Listing
from delta_models.log.reader import LogReader
from delta_models.log.state import Snapshot
from delta_models.log.validity import checkpoint_struct_columns
from delta_models.log.validity.pages import judge_pages
from delta_models.log.validity.protocol import is_on, supports
from delta_models.log.validity.state_comparison import differences, some
from delta_models.requirements.base import Checked, Verdict, as_one, checked, once_each

STATS_AS_JSON = "delta.checkpoint.writeStatsAsJson"
STATS_AS_STRUCT = "delta.checkpoint.writeStatsAsStruct"
_LISTS_FOR_READERS, _LISTS_FOR_WRITERS = 3, 7
_ENFORCED_FROM = 3  # the writer version that has to heed both properties


def judge(reader: LogReader, listing: Listing, name: CheckpointName) -> Iterator[Checked]:
    """The rules on one complete checkpoint."""
    for requirement, wrong in _rules(reader, listing, name):
        yield checked(requirement, wrong, name.files[0])
    for file in name.files:
        yield from _pages(reader, name, file)


def _rules(reader: LogReader, listing: Listing, name: CheckpointName) -> Iterator[Verdict]:
    if listing.commits:
        newest = max(listing.commits)
        yield "checkpoint.after-commit", None if name.version <= newest else f"the newest commit is {newest}"
    try:
        checkpoint = reader.checkpoint(name)
    except LogError as error:
        yield "checkpoint.readable", str(error)
        return
    yield "checkpoint.readable", None
    yield from _contents(checkpoint)
    yield from _feature_lists(checkpoint)
    yield from once_each(_sidecars(reader, checkpoint))
    try:
        held = checkpoint.snapshot()
    except CorruptLog:
        return  # reported above as a count of actions
    yield from _kind(checkpoint, held)
    yield from _forms(checkpoint, held, name.files[0])
    replayed = _replayed_without(reader, name)
    yield from checkpoint_struct_columns.judge(checkpoint, held, replayed)
    if replayed is None:
        return
    yield from as_one("checkpoint.equals-replay", differences(held, replayed))
    yield from _tombstones(reader, name, held, replayed)
    yield from _statistics(held, replayed)
    yield from _kept(held, replayed)


def _pages(reader: LogReader, name: CheckpointName, file: str) -> Iterator[Checked]:
    if not file.endswith(".parquet"):
        return
    try:
        held = reader.checkpoint(name).snapshot()
    except LogError:
        return  # reported as a checkpoint that cannot be read, or as a count of actions
    for wrong in judge_pages(held.metadata, reader.log / file):
        yield checked("checkpoint.data-pages", wrong, file)


def judge_compaction(reader: LogReader, compaction: Compaction) -> Iterator[Verdict]:
    """The rules on one log compaction."""
    try:
        starts = [
            start
            for start in reversed(reader.starting_points(compaction.last))
            if start is None or start.version < compaction.first
        ]
        if not starts:
            return
        by_commits = reader.replay_from(compaction.last, starts[0])
        compacted = reader.replay_from(compaction.last, starts[0], (compaction,))
    except LogError as error:
        yield "log.compaction-readable", str(error)
        return
    yield "log.compaction-readable", None
    held = parse_commit(compaction.last, compaction.name, (reader.log / compaction.name).read_bytes())
    kinds = [kind for kind, actions in (("commitInfo", held.infos), ("cdc", held.cdcs)) if actions]
    yield "log.compaction-no-provenance", f"it holds {' and '.join(kinds)}" if kinds else None
    lost = [key for key in by_commits.tombstones if key not in compacted.tombstones]
    other = [
        *differences(compacted, by_commits),
        *([f"tombstones are missing: {some(lost)}"] if lost else []),
    ]
    yield from as_one("log.compaction-equals-replay", other)


def _contents(checkpoint: Checkpoint) -> Iterator[Verdict]:
    yield from as_one("checkpoint.actions-well-formed", (problem.detail for problem in checkpoint.problems))
    kinds = sorted({*checkpoint.foreign} & {"commitInfo", "cdc"})
    yield from as_one("checkpoint.no-provenance", (f"it holds {kind} actions" for kind in kinds))
    count = len(checkpoint.protocols)
    yield "checkpoint.one-protocol", None if count == 1 else f"{count} protocol actions"
    count = len(checkpoint.metadatas)
    yield "checkpoint.one-metadata", None if count == 1 else f"{count} metaData actions"
    if checkpoint.domains:
        removed = any(domain.removed for domain in checkpoint.domains)
        yield "checkpoint.no-removed-domains", "it holds a removed domain" if removed else None
    keys = [key for part in checkpoint.adds for key in list(part.keys())]
    twice = [key for key, times in Counter(keys).items() if times > 1] if len(keys) != len(set(keys)) else []
    yield "checkpoint.adds-once", f"more than once: {some(twice)}" if twice else None
    if checkpoint.removes:
        more = (
            remove for remove in checkpoint.removes if remove.stats is not None or remove.tags is not None
        )
        first = next(more, None)
        wrong = None if first is None else f"{first.path} has stats or tags"
        yield "checkpoint.removes-without-stats", wrong
    markers = checkpoint.checkpoint_metadatas
    for marker in markers:
        same = marker.version == checkpoint.name.version
        yield (
            "checkpoint.metadata-version",
            None if same else f"its checkpointMetadata says version {marker.version}",
        )
    if markers or checkpoint.name.kind == "named" or checkpoint.sidecars:
        wrong = None if len(markers) == 1 else f"there are {len(markers)}"
        yield "checkpoint.one-checkpoint-metadata", wrong


def _feature_lists(checkpoint: Checkpoint) -> Iterator[Verdict]:
    for protocol in checkpoint.protocols:
        lists = (
            (protocol.min_reader == _LISTS_FOR_READERS, protocol.reader_features),
            (protocol.min_writer == _LISTS_FOR_WRITERS, protocol.writer_features),
        )
        other = any(wanted != (features is not None) for wanted, features in lists)
        yield "checkpoint.feature-lists", f"{protocol}" if other else None


def _forms(checkpoint: Checkpoint, held: Snapshot, where: str) -> Iterator[Verdict]:
    """Whether statistics and partition values are in the forms that the table's properties ask for."""
    parts = [part for part in checkpoint.adds if len(part)]
    if held.protocol.min_writer < _ENFORCED_FROM or not parts:
        return
    in_json, columns, values = (
        any(part.has(name) for part in parts) for name in ("stats", "stats_parsed", "partitionValues_parsed")
    )
    if not is_on(held.metadata, STATS_AS_STRUCT):
        wrong = f"stats_parsed, {STATS_AS_STRUCT} is not true" if columns else None
        yield "checkpoint.omits-parsed-stats", wrong
    elif not where.endswith(".json"):
        wrong = "stats, and no stats_parsed" if in_json and not columns else None
        yield "checkpoint.keeps-parsed-stats", wrong
        if held.partition_by:
            yield "checkpoint.keeps-parsed-partition-values", None if values else "no partitionValues_parsed"
    if held.properties.get(STATS_AS_JSON, "true").lower() != "true":
        yield "checkpoint.omits-json-stats", f"stats, {STATS_AS_JSON} is not true" if in_json else None


def _sidecars(reader: LogReader, checkpoint: Checkpoint) -> Iterator[Verdict]:
    if checkpoint.sidecars:
        beside = checkpoint.top_level_file_actions
        yield "checkpoint.file-actions-in-one-place", "file actions beside sidecars" if beside else None
        kinds = ", ".join(sorted({*checkpoint.foreign_in_sidecars}))
        yield "checkpoint.sidecars-hold-file-actions", f"{kinds} in a sidecar" if kinds else None
    for sidecar in checkpoint.sidecars:
        file = sidecar_file(reader.log, sidecar)
        inside = file.parent.resolve() == (reader.log / SIDECARS).resolve()
        yield "checkpoint.sidecars-in-their-folder", None if inside else f"{sidecar.path} lies elsewhere"
        size = file.stat().st_size
        wrong = None
        if size != sidecar.size:
            wrong = f"{sidecar.path} has {size} bytes, the checkpoint says {sidecar.size}"
        yield "checkpoint.sidecar-size", wrong


def _kind(checkpoint: Checkpoint, held: Snapshot) -> Iterator[Verdict]:
    v2 = supports(held.protocol, "v2Checkpoint")
    if checkpoint.name.kind == "parts":
        yield "checkpoint.no-parts-with-v2", "a checkpoint in parts beside v2Checkpoint" if v2 else None
    if checkpoint.name.kind == "named" or checkpoint.checkpoint_metadatas:
        yield "checkpoint.v2-needs-feature", None if v2 else "a V2 checkpoint without v2Checkpoint"


def _replayed_without(reader: LogReader, name: CheckpointName) -> Snapshot | None:
    """The state at a checkpoint's version without that checkpoint; None if there is no other way to it.

    The commits alone are preferred, then the oldest checkpoint: what depends least on other checkpoints.
    """
    try:
        starts = [
            start
            for start in reader.starting_points(name.version)
            if start is None or start.version < name.version
        ]
    except LogError:
        return None
    for start in reversed(starts):
        try:
            return reader.replay_from(name.version, start)
        except LogError:
            continue
    return None


def _tombstones(
    reader: LogReader, name: CheckpointName, held: Snapshot, replayed: Snapshot
) -> Iterator[Verdict]:
    if held.tombstones:
        yield "checkpoint.keeps-removal-times", _other_time(held, replayed)
    written = (reader.log / name.files[-1]).stat().st_mtime_ns // 1_000_000
    lost = [
        key
        for key, remove in replayed.tombstones.items()
        if key not in held.tombstones and not retention.is_expired(replayed, remove, written)
    ]
    wrong = f"unexpired tombstones are missing: {some(lost)}" if lost else None
    yield "checkpoint.keeps-tombstones", wrong


def _other_time(held: Snapshot, replayed: Snapshot) -> str | None:
    """The first tombstone with another time than its file was removed at."""
    for key, remove in held.tombstones.items():
        known = replayed.tombstones.get(key)
        if known is not None and known.deletion_timestamp not in {None, remove.deletion_timestamp}:
            return f"{key[0]} was removed at {known.deletion_timestamp}, not {remove.deletion_timestamp}"
    return None


def _statistics(held: Snapshot, replayed: Snapshot) -> Iterator[Verdict]:
    if held.properties.get(STATS_AS_JSON, "true").lower() != "true":
        return
    wrong = None
    for key, add in held.live.items():
        other = replayed.live.get(key)
        if add.stats is None and other is not None and other.stats is not None:
            wrong = f"{key[0]} has lost its stats"
            break
    yield "checkpoint.keeps-stats", wrong


def _kept(held: Snapshot, replayed: Snapshot) -> Iterator[Verdict]:
    """What else an add says of its file; that no tags are there can be said in two ways."""
    for key, add in held.live.items():
        other = replayed.live.get(key)
        if other is None:
            continue
        if (add.tags or {}) != (other.tags or {}):
            yield "checkpoint.keeps-tags", f"{key[0]} has the tags {add.tags}, not {other.tags}"
            return
        if add.clustering_provider != other.clustering_provider:
            wrong = f"{key[0]} was clustered by {other.clustering_provider}, not {add.clustering_provider}"
            yield "checkpoint.keeps-clustering-provider", wrong
            return
    yield "checkpoint.keeps-tags", None
    yield "checkpoint.keeps-clustering-provider", None
