"""Compute the state of a table at a version, and the next state after a commit.

See the protocol's section "Action Reconciliation". The key of a file is its path and the unique id of its deletion
vector. A state is immutable. The next state shares what did not change, so a commit to a large table stays cheap.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from delta_models.log.actions import Add, CommitInfo, Domain, Key, Metadata, Protocol, Remove, Transaction
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog, LogError
from delta_models.schema import Struct

K = TypeVar("K")
V = TypeVar("V")
_FOLD_ABOVE = 32


class Layered(Mapping[K, V], Generic[K, V]):
    """An immutable mapping: a shared base, and the changes since."""

    __slots__ = ("_base", "_length", "_over")

    def __init__(self, base: Mapping[K, V], over: dict[K, V | None], length: int) -> None:
        self._base = base
        self._over = over
        self._length = length

    @classmethod
    def of(cls, base: Mapping[K, V]) -> Layered[K, V]:
        """Return a mapping with the items of `base`, which must not change from now on."""
        return cls(base, {}, len(base))

    def __getitem__(self, key: K) -> V:
        if key in self._over:
            value = self._over[key]
            if value is None:
                raise KeyError(key)
            return value
        return self._base[key]

    def __contains__(self, key: object) -> bool:
        if key in self._over:
            return self._over[key] is not None
        return key in self._base

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        over = self._over
        if not over:
            yield from self._base
            return
        for key in self._base:
            if key not in over:
                yield key
        for key, value in over.items():
            if value is not None:
                yield key

    def items(self) -> ItemsView[K, V]:
        """Return the items, in one pass over the layers."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """Return the values, in one pass over the layers."""
        return _Values(self)

    def pairs(self) -> Iterator[tuple[K, V]]:
        """Yield the items."""
        over = self._over
        if not over:
            yield from self._base.items()
            return
        for item in self._base.items():
            if item[0] not in over:
                yield item
        for key, value in over.items():
            if value is not None:
                yield key, value

    def changed(self, gone: Iterable[K], put: Iterable[tuple[K, V]]) -> Layered[K, V]:
        """Return the mapping without the keys `gone`, and then with the items `put`."""
        over = dict(self._over)
        length = self._length
        for key in gone:
            if _contains(over, self._base, key):
                over[key] = None
                length -= 1
        for key, value in put:
            if not _contains(over, self._base, key):
                length += 1
            over[key] = value
        if len(over) > max(_FOLD_ABOVE, len(self._base) // 4):
            return Layered.of(_fold(self._base, over))
        return Layered(self._base, over, length)


class _Items(ItemsView[K, V]):
    """Items that come in one pass."""

    _mapping: Layered[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return self._mapping.pairs()


class _Values(ValuesView[V]):
    """Values that come in one pass."""

    _mapping: Layered[Any, V]

    def __iter__(self) -> Iterator[V]:
        return (value for _, value in self._mapping.pairs())


def _contains(over: Mapping[K, V | None], base: Mapping[K, V], key: K) -> bool:
    if key in over:
        return over[key] is not None
    return key in base


def _fold(base: Mapping[K, V], over: Mapping[K, V | None]) -> dict[K, V]:
    folded = {key: value for key, value in base.items() if key not in over}
    folded.update((key, value) for key, value in over.items() if value is not None)
    return folded


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a table at one version.

    `live` are its files by key, `tombstones` the removed ones. `transactions` holds the newest of each application,
    `domains` the metadata domains that are not removed. `info` is the provenance of the commit; it is None if the
    version was loaded from a checkpoint alone.
    """

    version: int
    protocol: Protocol
    metadata: Metadata
    live: Mapping[Key, Add]
    tombstones: Mapping[Key, Remove]
    transactions: Mapping[str, Transaction]
    domains: Mapping[str, Domain]
    info: CommitInfo | None = field(default=None, compare=False)

    @property
    def schema(self) -> Struct:
        """The columns of the table."""
        return self.metadata.schema

    @property
    def partition_by(self) -> tuple[str, ...]:
        """The names of the partition columns."""
        return self.metadata.partition_columns

    @property
    def properties(self) -> Mapping[str, str]:
        """The table's configuration."""
        return self.metadata.configuration

    @property
    def in_commit_timestamp(self) -> int | None:
        """The in-commit timestamp in milliseconds; None without one."""
        return self.info.in_commit_timestamp if self.info else None


def start(commit: Commit) -> Snapshot:
    """Return the state after the first commit of a table. Raises CorruptLog."""
    if commit.protocol is None or commit.metadata is None:
        missing = "protocol" if commit.protocol is None else "metadata"
        raise CorruptLog(f"{commit.name}: the first commit of a table has no {missing}")
    empty = Snapshot(
        -1, commit.protocol, commit.metadata, Layered.of({}), Layered.of({}), Layered.of({}), Layered.of({})
    )
    return apply(empty, commit)


def apply(before: Snapshot, commit: Commit) -> Snapshot:
    """Return the state after a commit. Raises CorruptLog if the commit leaves it unknown."""
    commit.check()
    removes, adds = commit.removes, commit.adds
    live, tombstones = before.live, before.tombstones
    if removes or adds:
        added = {add.key: add for add in adds}
        removed = {remove.key: remove for remove in removes}
        live = _layered(live).changed(removed, added.items())
        # A file that the same commit also adds is live: live and removed files are disjoint.
        buried = ((key, tombstone) for key, tombstone in removed.items() if key not in added)
        tombstones = _layered(tombstones).changed(added, buried)
    transactions, domains = before.transactions, before.domains
    if commit.transactions:
        transactions = _layered(transactions).changed(
            (), ((transaction.app_id, transaction) for transaction in commit.transactions)
        )
    if commit.domains:
        domains = _layered(domains).changed(
            (domain.name for domain in commit.domains if domain.removed),
            ((domain.name, domain) for domain in commit.domains if not domain.removed),
        )
    return Snapshot(
        commit.version,
        commit.protocol or before.protocol,
        commit.metadata or before.metadata,
        live,
        tombstones,
        transactions,
        domains,
        commit.info,
    )


def transitions(
    before: Snapshot | None, commits: Iterable[Commit]
) -> Iterator[tuple[Snapshot | None, Commit, Snapshot | None]]:
    """Yield each commit between the states before and after it; None for a state that cannot be read."""
    for commit in commits:
        if before is None and commit.version > 0:
            return
        try:
            after: Snapshot | None = start(commit) if before is None else apply(before, commit)
        except LogError:
            after = None
        yield before, commit, after
        if after is None:
            return
        before = after


def replay(before: Snapshot | None, commits: Iterable[Commit]) -> Snapshot | None:
    """Return the state after many commits, in one pass; the result is that of `apply` for each.

    Returns None without a state and commits. Raises CorruptLog.
    """
    stream = iter(commits)
    if before is None:
        first = next(stream, None)
        if first is None:
            return None
        before = start(first)
    live: dict[Key, Add | None] = {}
    tombstones: dict[Key, Remove | None] = {}
    transactions: dict[str, Transaction] = {}
    domains: dict[str, Domain | None] = {}
    protocol, metadata, version, info = before.protocol, before.metadata, before.version, before.info
    for commit in stream:
        if commit.problems:
            commit.check()
        for remove in commit.removes:
            key = remove.key
            live[key] = None
            tombstones[key] = remove
        for add in commit.adds:
            key = add.key
            live[key] = add
            tombstones[key] = None
        for transaction in commit.transactions:
            transactions[transaction.app_id] = transaction
        for domain in commit.domains:
            domains[domain.name] = None if domain.removed else domain
        protocol = commit.protocol or protocol
        metadata = commit.metadata or metadata
        version, info = commit.version, commit.info
    if version == before.version:
        return before
    return Snapshot(
        version,
        protocol,
        metadata,
        _put_over(before.live, live),
        _put_over(before.tombstones, tombstones),
        _put_over(before.transactions, dict(transactions)),
        _put_over(before.domains, domains),
        info,
    )


def _put_over(base: Mapping[K, V], over: dict[K, V | None]) -> Mapping[K, V]:
    if not over:
        return base
    gone = [key for key, value in over.items() if value is None]
    put = [(key, value) for key, value in over.items() if value is not None]
    return _layered(base).changed(gone, put)


def _layered(mapping: Mapping[K, V]) -> Layered[K, V]:
    return mapping if isinstance(mapping, Layered) else Layered.of(mapping)
