"""Decide whether a transaction may still commit after another one did, as pure functions of one winner at a time.

The rules are those of delta-spark's isolation levels. `Serializable`: no other commit may have added files where this
transaction read. `WriteSerializable`: blind appends may. `SnapshotIsolation`, for rewrites that change no rows: only
removals conflict.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from pyspark_delta import features
from pyspark_delta import schema as schemas
from pyspark_delta.exceptions import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    ConcurrentTransactionException,
    MetadataChangedException,
    ProtocolChangedException,
)
from pyspark_delta.log.actions import Action, Add, CommitInfo, DomainMetadata, Metadata, Protocol, Remove, Txn
from pyspark_delta.predicates import Predicate
from pyspark_delta.skipping.exact import Pruner

__all__ = ["Intent", "Isolation", "Winner", "check"]

A = TypeVar("A", Metadata, Protocol)

_PRESERVED_DOMAIN = "delta.rowTracking"
# Another writer may set these properties without a conflict, as they only change how later files are written.
_HARMLESS_PROPERTIES = {"delta.enableDeletionVectors": "true", "delta.checkpointPolicy": "v2"}


class Isolation(Enum):
    """How much of what other commits add counts as a conflict."""

    SERIALIZABLE = "Serializable"
    WRITE_SERIALIZABLE = "WriteSerializable"
    SNAPSHOT = "SnapshotIsolation"


@dataclass(frozen=True)
class Intent:
    """What a transaction read, and what it is about to commit."""

    actions: Sequence[Action]
    metadata: Metadata | None  # of the version that the transaction read
    protocol: Protocol | None
    isolation: Isolation
    blind: bool = False
    whole_table: bool = False
    predicates: Sequence[Predicate | None] = ()
    files: Collection[str] = field(default_factory=frozenset)
    app_ids: Collection[str] = field(default_factory=frozenset)
    pruner: Pruner | None = None


@dataclass(frozen=True)
class Winner:
    """A commit that took the version first."""

    version: int
    actions: Sequence[Action]

    @property
    def is_blind(self) -> bool:
        """Whether the commit declares that it read nothing."""
        return any(
            isinstance(action, CommitInfo) and action.raw.get("isBlindAppend") is True
            for action in self.actions
        )

    def name(self) -> str:
        """The winner's operation and version, for messages."""
        info = next((action.raw for action in self.actions if isinstance(action, CommitInfo)), {})
        return f"{info.get('operation', 'another commit')} of version {self.version}"


def check(intent: Intent, winner: Winner) -> None:
    """Raise the exception of the first rule that forbids the transaction to commit after the winner."""
    _check_protocol(intent, winner)
    if _is_note(intent):
        return
    _check_metadata(intent, winner)
    _check_domains(intent, winner)
    _check_transactions(intent, winner)
    _check_adds(intent, winner)
    _check_removes(intent, winner)


def _check_protocol(intent: Intent, winner: Winner) -> None:
    own = _action_of(intent.actions, Protocol)
    if own is not None and intent.protocol is not None:
        given_up = features.writer_features(intent.protocol) - features.writer_features(own)
        if given_up:
            raise ProtocolChangedException(
                f"{winner.name()} may make use of {', '.join(sorted(given_up))}, which this one drops"
            )
    theirs = _action_of(winner.actions, Protocol)
    if theirs is None:
        return
    if _action_of(intent.actions, Protocol) is not None or intent.protocol is None:
        raise ProtocolChangedException(f"{winner.name()} set the table's protocol, and this one sets it too")
    dropped = features.writer_features(intent.protocol) - features.writer_features(theirs)
    if dropped:
        raise ProtocolChangedException(
            f"{winner.name()} dropped the table feature {', '.join(sorted(dropped))}"
        )
    metadata = _action_of(winner.actions, Metadata) or intent.metadata
    if metadata is not None:
        features.check_writable(theirs, metadata, {}, f"(after {winner.name()})")


def _is_note(intent: Intent) -> bool:
    """Whether the transaction only leaves a note in the history, and read nothing that the note depends on."""
    return not (intent.actions or intent.whole_table or intent.predicates or intent.files or intent.app_ids)


def _check_metadata(intent: Intent, winner: Winner) -> None:
    theirs = _action_of(winner.actions, Metadata)
    if theirs is None:
        return
    if intent.metadata is None or _action_of(intent.actions, Metadata) is not None:
        raise MetadataChangedException(
            f"{winner.name()} changed the table's metadata, and this one changes it too"
        )
    if not _is_harmless(intent.metadata, theirs):
        raise MetadataChangedException(
            f"{winner.name()} changed the table's schema, partitioning or properties"
        )


def _is_harmless(before: Metadata, after: Metadata) -> bool:
    changed = {
        name
        for name in {*before.configuration, *after.configuration}
        if before.configuration.get(name) != after.configuration.get(name)
    }
    same = (
        before.partition_columns == after.partition_columns
        and before.name == after.name
        and before.description == after.description
        and (
            before.schema_string == after.schema_string
            or schemas.from_json(before.schema_string) == schemas.from_json(after.schema_string)
        )
    )
    return same and all(
        after.configuration.get(name) == _HARMLESS_PROPERTIES.get(name, object()) for name in changed
    )


def _check_domains(intent: Intent, winner: Winner) -> None:
    own = {action.domain for action in intent.actions if isinstance(action, DomainMetadata)}
    theirs = {action.domain for action in winner.actions if isinstance(action, DomainMetadata)}
    both = (own & theirs) - {_PRESERVED_DOMAIN}
    if both:
        raise ConcurrentTransactionException(
            f"{winner.name()} changed the metadata domain {', '.join(sorted(both))} too"
        )


def _check_transactions(intent: Intent, winner: Winner) -> None:
    theirs = {action.app_id for action in winner.actions if isinstance(action, Txn)}
    both = theirs.intersection(intent.app_ids)
    if both:
        raise ConcurrentTransactionException(
            f"{winner.name()} was committed under the transaction id {', '.join(sorted(both))} that this one uses"
        )


def _check_adds(intent: Intent, winner: Winner) -> None:
    if intent.blind or intent.isolation is Isolation.SNAPSHOT:
        return
    changes_metadata = _action_of(intent.actions, Metadata) is not None
    if intent.isolation is Isolation.WRITE_SERIALIZABLE and winner.is_blind and not changes_metadata:
        return
    for action in winner.actions:
        if isinstance(action, Add) and _was_read(intent, action):
            values = ", ".join(f"{name}={value}" for name, value in action.partition_values.items())
            where = f"the partition {values}" if values else "the table"
            raise ConcurrentAppendException(f"{winner.name()} added files to {where} that this one read")


def _was_read(intent: Intent, add: Add) -> bool:
    if intent.whole_table:
        return True
    if not intent.predicates:
        return False
    if intent.pruner is None or not intent.pruner.partition_columns:
        return True
    return any(
        predicate is None or intent.pruner.may_match(predicate, add.partition_values)
        for predicate in intent.predicates
    )


def _check_removes(intent: Intent, winner: Winner) -> None:
    theirs = [action.path for action in winner.actions if isinstance(action, Remove)]
    if not theirs:
        return
    if intent.whole_table:
        raise ConcurrentDeleteReadException(
            f"{winner.name()} removed {theirs[0]} from the table that this one read"
        )
    read = next((path for path in theirs if path in intent.files), None)
    if read is not None:
        raise ConcurrentDeleteReadException(f"{winner.name()} removed the file {read} that this one read")
    own = {action.path for action in intent.actions if isinstance(action, Remove)}
    both = next((path for path in theirs if path in own), None)
    if both is not None:
        raise ConcurrentDeleteDeleteException(
            f"{winner.name()} removed the file {both} that this one removes too"
        )


def _action_of(actions: Sequence[Action], kind: type[A]) -> A | None:
    return next((action for action in actions if isinstance(action, kind)), None)
