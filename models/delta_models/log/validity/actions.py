"""Rules for the actions of one commit: among themselves, and against the state that they continue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from delta_models.log.actions import Add, Cdc, Key, Metadata, Remove
from delta_models.log.column_mapping import log_name
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.partitions import parse_partition_value
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Violation
from delta_models.schema import Struct

_URI = re.compile(
    r"(?:[A-Za-z0-9;/?:@&=+$,_.!~*'()-]|%[0-9A-Fa-f]{2})*"
)  # RFC 2396: `uric`, of US-ASCII alone


def violations(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """Breaches of the rules on actions."""
    yield from _counts(before, commit)
    yield from _paths(commit)
    yield from _hidden(commit)
    yield from _removes(before, commit)
    yield from _reconciliation(before, commit)
    yield from _overwritten(before, commit)
    yield from _partition_values(before, commit)
    if before is not None and _append_only(before):
        for remove in commit.removes:
            if remove.data_change:
                yield Violation("log.append-only", f"removes {remove.path} with dataChange", commit.name)


def _counts(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    name = commit.name
    if before is None and commit.version == 0:
        if not commit.protocols:
            yield Violation("log.first-commit-has-protocol", "version 0 has no protocol action", name)
        if not commit.metadatas:
            yield Violation("log.first-commit-has-metadata", "version 0 has no metaData action", name)
    if len(commit.metadatas) > 1:
        yield Violation("log.one-metadata-a-commit", f"{len(commit.metadatas)} metaData actions", name)
    if len(commit.protocols) > 1:
        yield Violation("log.one-protocol-a-commit", f"{len(commit.protocols)} protocol actions", name)
    for application in _repeated([transaction.app_id for transaction in commit.transactions]):
        yield Violation("log.one-transaction-an-application", f"several txn actions of {application!r}", name)
    for domain in _repeated([entry.name for entry in commit.domains]):
        yield Violation("log.one-action-a-domain", f"several domainMetadata actions of {domain!r}", name)
    for kind, found in (("checkpointMetadata", commit.checkpoint_metadatas), ("sidecar", commit.sidecars)):
        if found:
            yield Violation("log.no-checkpoint-actions", f"{kind} in a commit", name)


def _paths(commit: Commit) -> Iterator[Violation]:
    files: list[Add | Remove | Cdc] = [*commit.adds, *commit.removes, *commit.cdcs]
    for file in files:
        if not file.path:
            continue
        legal = _URI.match(file.path)
        if legal is not None and legal.end() < len(file.path):
            odd = file.path[legal.end()]
            rule = "cdc.path-is-uri" if isinstance(file, Cdc) else "log.path-is-uri"
            yield Violation(rule, f"{file.path!r} has a raw {odd!r}", commit.name)
    for path in _repeated([add.path for add in commit.adds]):
        yield Violation("log.path-added-once", f"{path} is added more than once", commit.name)
    for path in _repeated([remove.path for remove in commit.removes]):
        yield Violation("log.path-removed-once", f"{path} is removed more than once", commit.name)
    both = {add.key for add in commit.adds} & {remove.key for remove in commit.removes}
    for path, vector in sorted(both, key=repr):
        yield Violation(
            "log.no-add-and-remove-of-one-file", f"{_shown((path, vector))} is added and removed", commit.name
        )


def _hidden(commit: Commit) -> Iterator[Violation]:
    changes = {cdc.path for cdc in commit.cdcs}
    for add in commit.adds:
        if add.path in changes or not add.path or is_absolute(add.path):
            continue
        hidden = [part for part in add.path.split("/")[:-1] if part.startswith("_") and "=" not in part]
        if hidden:
            yield Violation("log.data-file-not-hidden", f"{add.path} lies in {hidden[0]}", commit.name)


def _removes(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """A remove tells of the file what its add told."""
    for remove in commit.removes:
        if remove.deletion_timestamp is None:
            detail = f"{remove.path} is removed at no time"
            yield Violation("log.remove-has-timestamp", detail, commit.name)
        live = before.live.get(remove.key) if before is not None else None
        if live is None:
            continue
        if remove.size is not None and remove.size != live.size:
            detail = f"{remove.path} is said to have {remove.size} bytes, its add said {live.size}"
            yield Violation("log.remove-size", detail, commit.name)
        said = remove.partition_values
        if said and _present(said) != _present(live.partition_values):
            detail = (
                f"{remove.path} is said to be of {dict(said)}, its add said {dict(live.partition_values)}"
            )
            yield Violation("log.remove-partition-values", detail, commit.name)


def _reconciliation(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    live = {} if before is None else before.live
    removed: set[Key] = {each.key for each in commit.removes}
    vectors: dict[str, list[str | None]] | None = None
    for remove in commit.removes:
        if remove.key in live:
            continue
        vectors = _live_vectors(before) if vectors is None else vectors
        others = vectors.get(remove.path)
        if others:
            detail = f"removes {_shown(remove.key)}; live is {_shown((remove.path, others[0]))}"
            yield Violation("log.remove-carries-vector", detail, commit.name)
        else:
            yield Violation(
                "log.remove-names-live-file", f"removes {_shown(remove.key)}, which is not live", commit.name
            )
    for add in commit.adds:
        if add.key in live:
            continue
        vectors = _live_vectors(before) if vectors is None else vectors
        for vector in vectors.get(add.path, ()):
            if (add.path, vector) not in removed:
                detail = f"adds {_shown(add.key)} while {_shown((add.path, vector))} stays live"
                yield Violation("log.add-replaces-live-file", detail, commit.name)


def _overwritten(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """A path that comes again is the same file: names are used once."""
    if before is None or not commit.adds:
        return
    known = {
        (path, vector) for path, vector in before.tombstones if path in {file.path for file in commit.adds}
    }
    for add in commit.adds:
        sizes = {before.tombstones[key].size for key in known if key[0] == add.path}
        live = before.live.get(add.key)
        sizes |= {live.size} if live is not None else set()
        if sizes - {None, add.size}:
            detail = f"{add.path} has {add.size} bytes, it had {sorted(sizes - {None, add.size}, key=str)}"
            yield Violation("log.data-files-not-overwritten", detail, commit.name)


def _live_vectors(before: Snapshot | None) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for path, vector in before.live if before is not None else ():
        found.setdefault(path, []).append(vector)
    return found


def _partition_values(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    metadata = commit.metadata or (before.metadata if before is not None else None)
    if metadata is None or not (commit.adds or commit.cdcs):
        return
    try:
        schema = metadata.schema
        names = _partition_names(before, commit, metadata, schema)
    except (CorruptLog, KeyError):
        return  # reported as a schema that cannot be read, or as partition columns that are none
    files: list[Add | Cdc] = [*commit.adds, *commit.cdcs]
    for file in files:
        missing = [column for column in names if column not in file.partition_values]
        extra = [column for column in file.partition_values if column not in names]
        if missing or extra:
            detail = f"{file.path}: missing {missing}, unknown {extra}"
            rule = "log" if isinstance(file, Add) else "cdc"
            yield Violation(f"{rule}.partition-values-complete", detail, commit.name)
    for add in commit.adds:
        for name, text in add.partition_values.items():
            if name not in names:
                continue
            try:
                parse_partition_value(schema[names[name]].type, text)
            except ValueError as error:
                detail = f"{add.path}: column {names[name]!r}: {error}"
                yield Violation("log.partition-value-readable", detail, commit.name, (names[name],))


def _partition_names(
    before: Snapshot | None, commit: Commit, metadata: Metadata, schema: Struct
) -> dict[str, str]:
    """The column that each name in partition values means."""
    protocol = commit.protocol or (before.protocol if before is not None else None)
    if protocol is None:
        return {schema[column].name: column for column in metadata.partition_columns}
    state = Snapshot(commit.version, protocol, metadata, {}, {}, {}, {})
    return {log_name(state, schema[column].name): column for column in metadata.partition_columns}


def _present(values: Mapping[str, str | None]) -> dict[str, str]:
    """The values that are there: null, an empty text and none at all are the same."""
    return {key: value for key, value in values.items() if value}


def is_absolute(path: str) -> bool:
    """Whether a path leads out of the table's folder, or may."""
    return path.startswith("/") or ":" in path.partition("/")[0]


def _append_only(before: Snapshot) -> bool:
    protocol = before.protocol
    supported = 2 <= protocol.min_writer <= 6 or "appendOnly" in (protocol.writer_features or ())
    return supported and before.properties.get("delta.appendOnly", "false").lower() == "true"


def _repeated(names: Sequence[str]) -> list[str]:
    if len(names) == len(set(names)):
        return []
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _shown(key: Key) -> str:
    path, vector = key
    return path if vector is None else f"{path} with deletion vector {vector}"
