"""Is a version loaded through a new checkpoint the same table as the one that the commits give?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.checks.ledger import Check, Ledger
from conformance.observation import Observation
from delta_models.log import LogError, Snapshot
from delta_models.log.names import CheckpointName

JUDGES = ("checkpoint.equals-replay", "checkpoint.readable")
SHOWN = 3


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the checkpoints that the step left."""
    if not seen.wrote or seen.after is None or seen.log_error is not None:
        return
    first = seen.before.version if seen.before is not None else 0
    for name in seen.reader.listing().checkpoints:
        if name.complete and first <= name.version <= seen.after.version:
            _judge(seen, name, ledger)


def _judge(seen: Observation, name: CheckpointName, ledger: Ledger) -> None:
    try:
        loaded = seen.reader.checkpoint(name).snapshot()
    except LogError as error:
        ledger.judge("checkpoint.readable", str(error), name.files[0])
        return
    ledger.judge("checkpoint.readable", None)
    try:
        others = [
            each for each in seen.reader.starts(name.version) if each is None or each.version < name.version
        ]
        if not others:
            return  # the commits that led here are gone: nothing to compare with
        replayed = seen.reader.replayed(name.version, others[0])
    except LogError:
        return  # a matter of the log's own check
    ledger.judge("checkpoint.equals-replay", snapshot_difference(replayed, loaded), name.files[0])


def snapshot_difference(expected: Snapshot, got: Snapshot) -> str | None:
    """What a loaded state lacks or has beyond another; expired tombstones may be missing."""
    found = []
    if expected.protocol != got.protocol:
        found.append(f"protocol {got.protocol} instead of {expected.protocol}")
    if expected.metadata.schema != got.metadata.schema:
        found.append(f"schema {got.schema} instead of {expected.schema}")
    if expected.partition_by != got.partition_by:
        found.append(f"partitioned by {got.partition_by} instead of {expected.partition_by}")
    if dict(expected.properties) != dict(got.properties):
        found.append(f"properties {dict(got.properties)} instead of {dict(expected.properties)}")
    if expected.metadata.id != got.metadata.id:
        found.append(f"table id {got.metadata.id} instead of {expected.metadata.id}")
    found += _keys("live file", expected.live, got.live)
    found += _keys("transaction", expected.transactions, got.transactions)
    found += _keys("domain", expected.domains, got.domains)
    extra = sorted(map(str, set(got.tombstones) - set(expected.tombstones)))
    if extra:
        found.append(f"tombstones that no commit wrote: {', '.join(extra[:SHOWN])}")
    for key in sorted(set(expected.live) & set(got.live), key=str):
        old, new = expected.live[key], got.live[key]
        off = [
            name
            for name in ("partition_values", "size", "modification_time", "deletion_vector", "base_row_id")
            if _plain(getattr(old, name)) != _plain(getattr(new, name))
        ]
        if off:
            told = ", ".join(
                f"{name} {getattr(new, name)!r} instead of {getattr(old, name)!r}" for name in off
            )
            found.append(f"{key[0]}: {told}")
    return "; ".join(found[:SHOWN]) or None


def _keys(what: str, expected: Mapping[Any, Any], got: Mapping[Any, Any]) -> list[str]:
    found = []
    missing, extra = set(expected) - set(got), set(got) - set(expected)
    if missing:
        found.append(f"{len(missing)} {what}(s) missing: {', '.join(sorted(map(str, missing))[:SHOWN])}")
    if extra:
        found.append(f"{len(extra)} {what}(s) too many: {', '.join(sorted(map(str, extra))[:SHOWN])}")
    return found


def _plain(value: Any) -> Any:
    """Partition values: the empty string and null both mean null."""
    if isinstance(value, Mapping):
        return {key: each or None for key, each in value.items()}
    return value


CHECK = Check("checkpoint", JUDGES, look)
