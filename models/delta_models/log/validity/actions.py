"""Rules for the actions of one commit: among themselves, and against the state that they continue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

from delta_models.log.actions import Add, Cdc, Key, Metadata, Remove
from delta_models.log.column_mapping import log_name
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.partitions import parse_partition_value
from delta_models.log.state import Snapshot
from delta_models.requirements.base import Checked, Verdict, as_one, checked, of_many
from delta_models.schema import Struct

_URI = re.compile(
    r"(?:[A-Za-z0-9;/?:@&=+$,_.!~*'()-]|%[0-9A-Fa-f]{2})*"
)  # RFC 2396: `uric`, of US-ASCII alone
_OF_LINES = ("log.commit-is-json-lines", "log.one-action-a-line", "log.required-field", "log.field-type")


def judge(before: Snapshot | None, commit: Commit) -> Iterator[Checked]:
    """The rules on actions."""
    yield from _parsed(commit)
    for requirement, wrong in (
        *_counts(before, commit),
        *_paths(commit),
        *_hidden(commit),
        *_removes(before, commit),
        *_reconciliation(before, commit),
        *_overwritten(before, commit),
    ):
        yield checked(requirement, wrong, commit.name)
    yield from _partition_values(before, commit)
    if before is not None and _append_only(before):
        lost = (f"removes {remove.path} with dataChange" for remove in commit.removes if remove.data_change)
        for requirement, wrong in as_one("log.append-only", lost):
            yield checked(requirement, wrong, commit.name)


def _parsed(commit: Commit) -> Iterator[Checked]:
    """What parsing has judged: the lines of a commit once, and what single actions say of themselves."""
    for problem in commit.problems:
        yield Checked(problem.requirement, problem.violation)
    judged = dict.fromkeys(_OF_LINES, 1)
    judged["log.cdc-no-data-change"] = len(commit.cdcs)
    judged["log.remove-extended-metadata"] = sum(
        bool(remove.extended_file_metadata) for remove in commit.removes
    )
    vectors = [add.deletion_vector for add in commit.adds] + [
        remove.deletion_vector for remove in commit.removes
    ]
    judged["dv.descriptor-well-formed"] = len(vectors) - vectors.count(None)
    broken = Counter(problem.requirement for problem in commit.problems)
    for requirement, times in judged.items():
        yield from repeat(checked(requirement), times - broken[requirement])


def _counts(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    if before is None and commit.version == 0:
        wrong = None if commit.protocols else "version 0 has no protocol action"
        yield "log.first-commit-has-protocol", wrong
        wrong = None if commit.metadatas else "version 0 has no metaData action"
        yield "log.first-commit-has-metadata", wrong
    count = len(commit.metadatas)
    yield "log.one-metadata-a-commit", None if count <= 1 else f"{count} metaData actions"
    count = len(commit.protocols)
    yield "log.one-protocol-a-commit", None if count <= 1 else f"{count} protocol actions"
    applications = [transaction.app_id for transaction in commit.transactions]
    yield from _once("log.one-transaction-an-application", applications, "several txn actions of {!r}")
    domains = [domain.name for domain in commit.domains]
    yield from _once("log.one-action-a-domain", domains, "several domainMetadata actions of {!r}")
    kinds = (("checkpointMetadata", commit.checkpoint_metadatas), ("sidecar", commit.sidecars))
    yield from as_one("log.no-checkpoint-actions", (f"{kind} in a commit" for kind, there in kinds if there))


def _paths(commit: Commit) -> Iterator[Verdict]:
    files: list[Add | Remove | Cdc] = [*commit.adds, *commit.removes, *commit.cdcs]
    for file in files:
        if file.path:
            rule = "cdc.path-is-uri" if isinstance(file, Cdc) else "log.path-is-uri"
            odd = _raw_character(file.path)
            yield rule, None if odd is None else f"{file.path!r} has a raw {odd!r}"
    yield from _once("log.path-added-once", [add.path for add in commit.adds], "{} is added more than once")
    removed = [remove.path for remove in commit.removes]
    yield from _once("log.path-removed-once", removed, "{} is removed more than once")
    if commit.adds and commit.removes:
        both = {add.key for add in commit.adds} & {remove.key for remove in commit.removes}
        shown = (f"{_shown(key)} is added and removed" for key in sorted(both, key=repr))
        yield from as_one("log.no-add-and-remove-of-one-file", shown)


def _raw_character(path: str) -> str | None:
    """The first character of a path that no URI has."""
    legal = _URI.match(path)
    return path[legal.end()] if legal is not None and legal.end() < len(path) else None


def _hidden(commit: Commit) -> Iterator[Verdict]:
    changes = {cdc.path for cdc in commit.cdcs}
    for add in commit.adds:
        if add.path in changes or not add.path or is_absolute(add.path):
            continue
        hidden = [name for name in add.path.split("/")[:-1] if name.startswith("_") and "=" not in name]
        yield "log.data-file-not-hidden", f"{add.path} lies in {hidden[0]}" if hidden else None


def _removes(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """A remove tells of the file what its add told."""
    for remove in commit.removes:
        wrong = None if remove.deletion_timestamp is not None else f"{remove.path} is removed at no time"
        yield "log.remove-has-timestamp", wrong
        live = before.live.get(remove.key) if before is not None else None
        if live is None:
            continue
        if remove.size is not None:
            wrong = None
            if remove.size != live.size:
                wrong = f"{remove.path} is said to have {remove.size} bytes, its add said {live.size}"
            yield "log.remove-size", wrong
        said = remove.partition_values
        if said:
            wrong = None
            if _present(said) != _present(live.partition_values):
                known = dict(live.partition_values)
                wrong = f"{remove.path} is said to be of {dict(said)}, its add said {known}"
            yield "log.remove-partition-values", wrong


def _reconciliation(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    live = {} if before is None else before.live
    removed: set[Key] = {remove.key for remove in commit.removes}
    vectors: dict[str, list[str | None]] | None = None
    for remove in commit.removes:
        if remove.key in live:
            yield "log.remove-names-live-file", None
            if remove.deletion_vector is not None:
                yield "log.remove-carries-vector", None
            continue
        vectors = _live_vectors(before) if vectors is None else vectors
        others = vectors.get(remove.path)
        if others:
            detail = f"removes {_shown(remove.key)}; live is {_shown((remove.path, others[0]))}"
            yield "log.remove-carries-vector", detail
        else:
            yield "log.remove-names-live-file", f"removes {_shown(remove.key)}, which is not live"
    for add in commit.adds:
        if add.key in live:
            continue
        vectors = _live_vectors(before) if vectors is None else vectors
        for vector in vectors.get(add.path, ()):
            wrong = None
            if (add.path, vector) not in removed:
                wrong = f"adds {_shown(add.key)} while {_shown((add.path, vector))} stays live"
            yield "log.add-replaces-live-file", wrong


def _overwritten(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """A path that comes again is the same file: names are used once."""
    if before is None or not commit.adds:
        return
    added = {add.path for add in commit.adds}
    known = {key for key in before.tombstones if key[0] in added}
    for add in commit.adds:
        sizes = {before.tombstones[key].size for key in known if key[0] == add.path}
        live = before.live.get(add.key)
        sizes |= {live.size} if live is not None else set()
        others = sizes - {None, add.size}
        wrong = f"{add.path} has {add.size} bytes, it had {sorted(others, key=str)}" if others else None
        yield "log.data-files-not-overwritten", wrong


def _live_vectors(before: Snapshot | None) -> dict[str, list[str | None]]:
    vectors: dict[str, list[str | None]] = {}
    for path, vector in before.live if before is not None else ():
        vectors.setdefault(path, []).append(vector)
    return vectors


def _partition_values(before: Snapshot | None, commit: Commit) -> Iterator[Checked]:
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
        wrong = f"{file.path}: missing {missing}, unknown {extra}" if missing or extra else None
        kind = "log" if isinstance(file, Add) else "cdc"
        yield checked(f"{kind}.partition-values-complete", wrong, commit.name)
    for add in commit.adds:
        for name, text in add.partition_values.items():
            if name not in names:
                continue
            wrong = None
            try:
                parse_partition_value(schema[names[name]].type, text)
            except ValueError as error:
                wrong = f"{add.path}: column {names[name]!r}: {error}"
            yield checked("log.partition-value-readable", wrong, commit.name, (names[name],))


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


def _once(requirement: str, names: Sequence[str], wrong: str) -> Iterator[Verdict]:
    """A verdict for each name: is it there once? `wrong` has a place for it."""
    if len(names) == len(set(names)):
        yield from of_many(requirement, len(names))
        return
    for name, times in sorted(Counter(names).items()):
        yield requirement, wrong.format(name) if times > 1 else None


def _shown(key: Key) -> str:
    path, vector = key
    return path if vector is None else f"{path} with deletion vector {vector}"
