"""Do two ways to a state agree? Used wherever one file of the log repeats what others say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from delta_models.log.actions import Add, Metadata, Protocol
from delta_models.log.state import Snapshot

_SHOWN = 3


def differences(held: Snapshot, replayed: Snapshot) -> Iterator[str]:
    """How the state in a file differs from the one that replay gives; tombstones that are missing may have expired."""
    if not same_protocol(held.protocol, replayed.protocol):
        yield f"protocol {held.protocol}, by replay {replayed.protocol}"
    if not same_metadata(held.metadata, replayed.metadata):
        yield f"metadata {held.metadata}, by replay {replayed.metadata}"
    yield from _keys("live files", held.live, replayed.live)
    for key, add in held.live.items():
        other = replayed.live.get(key)
        if other is not None and not same_add(add, other):
            yield f"the add of {key[0]} is not the one by replay"
            break
    unknown = [key for key in held.tombstones if key not in replayed.tombstones]
    if unknown:
        yield f"tombstones that replay does not have: {some(unknown)}"
    missing = [key for key in replayed.transactions if key not in held.transactions]
    if missing and "delta.setTransactionRetentionDuration" not in held.properties:
        yield f"no transaction of {some(missing)}"
    for name, transaction in held.transactions.items():
        found = replayed.transactions.get(name)
        if found is None or found.version != transaction.version:
            there = found.version if found else "nowhere"
            yield f"transaction {name!r} at {transaction.version}, by replay {there}"
    if dict(held.domains) != dict(replayed.domains):
        yield f"domains {sorted(held.domains)}, by replay {sorted(replayed.domains)}, or other configurations"


def same_protocol(left: Protocol, right: Protocol) -> bool:
    """Whether two protocols ask the same of clients; the order of features means nothing."""
    return (
        (left.min_reader, left.min_writer) == (right.min_reader, right.min_writer)
        and set(left.reader_features or ()) == set(right.reader_features or ())
        and set(left.writer_features or ()) == set(right.writer_features or ())
    )


def same_metadata(left: Metadata, right: Metadata) -> bool:
    """Whether two metadata say the same; how the schema is spelled means nothing, nor does an empty name."""
    return _plain(left) == _plain(right) and _schema(left) == _schema(right)


def same_add(left: Add, right: Add) -> bool:
    """Whether two adds say the same of a file; one of them may lack statistics, and dataChange means nothing."""
    return (
        left.size == right.size
        and left.modification_time == right.modification_time
        and _as_nulls(left.partition_values) == _as_nulls(right.partition_values)
        and left.deletion_vector == right.deletion_vector
        and left.base_row_id == right.base_row_id
        and left.default_row_commit_version == right.default_row_commit_version
        and (left.stats is None or right.stats is None or _same_stats(left, right))
    )


def some(keys: list[Any]) -> str:
    """The first few of many keys."""
    shown = ", ".join(str(key[0] if isinstance(key, tuple) else key) for key in keys[:_SHOWN])
    return shown if len(keys) <= _SHOWN else f"{shown} and {len(keys) - _SHOWN} more"


def _plain(metadata: Metadata) -> Metadata:
    return replace(
        metadata, schema_string="", name=metadata.name or None, description=metadata.description or None
    )


def _schema(metadata: Metadata) -> Any:
    try:
        return json.loads(metadata.schema_string)
    except ValueError:
        return metadata.schema_string


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
        yield f"{what} are missing: {some(missing)}"
    if extra:
        yield f"{what} are too many: {some(extra)}"
