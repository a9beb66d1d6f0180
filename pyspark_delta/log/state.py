"""The reconciled state of a version: an immutable base in columns, and an overlay with the effect of later commits.

The base comes from a checkpoint, or from many commits. A refresh copies only the overlay, and folds it into a new base
before it gets too large. So a commit costs what it changes, not what the table contains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_delta.exceptions import CorruptLog
from pyspark_delta.log import columns
from pyspark_delta.log.actions import (
    DomainMetadata,
    FileKey,
    Metadata,
    Protocol,
    Txn,
    file_key,
    load,
)

if TYPE_CHECKING:
    from pyspark_delta.predicates import Predicate
    from pyspark_delta.skipping.exact import Pruner

__all__ = ["Base", "Body", "Overlay", "State", "lines"]

Body = dict[str, Any]

_SMALLEST_FOLD = 4096
_COMMIT_INFO = b'{"commitInfo"'


class Base:
    """The live files and tombstones of a version, in columns; computed on first use if made from a state."""

    is_remote = False

    def __init__(
        self, adds: pa.Table | None = None, removes: pa.Table | None = None, source: State | None = None
    ) -> None:
        self._adds = adds if adds is not None or source is not None else columns.empty(columns.ADD)
        self._removes = (
            removes if removes is not None or source is not None else columns.empty(columns.REMOVE)
        )
        self._source = source

    @property
    def adds(self) -> pa.Table:
        """The live files."""
        if self._adds is None:
            self._materialize()
        return self._adds

    @property
    def removes(self) -> pa.Table:
        """The tombstones."""
        if self._removes is None:
            self._materialize()
        return self._removes

    @cached_property
    def count(self) -> int:
        """The number of live files."""
        return self._source.num_files if self._source is not None else len(self.adds)

    @cached_property
    def size(self) -> int:
        """The size of all live files together."""
        return (
            self._source.size_in_bytes
            if self._source is not None
            else int(pc.sum(self.adds["size"]).as_py() or 0)
        )

    def live_sizes(self, keys: set[FileKey]) -> dict[FileKey, int]:
        """The live ones of the keys, with the sizes of their files."""
        if not keys or self.count == 0:
            return {}
        if self._source is not None:
            return self._source.live_sizes(keys)
        rows = columns.positions(self.adds, keys)
        if not rows:
            return {}
        files = self.adds.select(["path", "deletionVector", "size"]).take(rows)
        return dict(zip(columns.keys(files), files["size"].to_pylist(), strict=True))

    def selected(self, pruner: Pruner, predicate: Predicate) -> pa.Table:
        """The live files that the predicate may pick, if filtering here saves anything."""
        del pruner, predicate
        return self.adds

    def _materialize(self) -> None:
        source = self._source
        assert source is not None  # noqa: S101 - without columns there is a source
        self._adds, self._removes = source.adds, source.removes
        self._source = None


@dataclass
class Overlay:
    """The effect of some commits: the latest JSON action for each file, and the latest of every other kind."""

    added: dict[FileKey, Body] = field(default_factory=dict)
    removed: dict[FileKey, Body] = field(default_factory=dict)
    protocol: Protocol | None = None
    metadata: Metadata | None = None
    txns: dict[str, Txn] = field(default_factory=dict)
    domains: dict[str, DomainMetadata] = field(default_factory=dict)

    def copy(self) -> Overlay:
        """An independent copy."""
        return Overlay(
            dict(self.added),
            dict(self.removed),
            self.protocol,
            self.metadata,
            dict(self.txns),
            dict(self.domains),
        )

    def apply(self, actions: Iterable[Mapping[str, Any]]) -> None:
        """Apply the parsed actions of the next commit; their order has no meaning."""
        added, removed = self.added, self.removed
        for action in actions:
            for kind, body in action.items():
                if body is None:
                    continue
                if kind == "add":
                    key = file_key(body)
                    added[key] = body
                    removed.pop(key, None)
                elif kind == "remove":
                    key = file_key(body)
                    removed[key] = body
                    added.pop(key, None)
                else:
                    self._apply_rare(kind, body)

    def _apply_rare(self, kind: str, body: Body) -> None:
        if kind == "metaData":
            self.metadata = Metadata.from_json(body)
        elif kind == "protocol":
            self.protocol = Protocol.from_json(body)
        elif kind == "txn":
            txn = Txn.from_json(body)
            self.txns[txn.app_id] = txn
        elif kind == "domainMetadata":
            domain = DomainMetadata.from_json(body)
            self.domains[domain.domain] = domain

    def read(self, versions: Sequence[object], contents: Sequence[bytes]) -> None:
        """Apply whole commits as bytes, ascending; CorruptLog names the commit and line that is no JSON."""
        parse = orjson.loads
        for version, content in zip(versions, contents, strict=True):
            parsed_lines = content.splitlines()
            line = b""
            try:
                for line in parsed_lines:
                    if line and not line.startswith(_COMMIT_INFO):
                        self.apply((parse(line),))
            except (ValueError, KeyError, TypeError, AttributeError):
                self._read_slowly(version, parsed_lines, parsed_lines.index(line))

    def _read_slowly(self, version: object, raw_lines: Sequence[bytes], first: int) -> None:
        """Read from the line on that orjson refused: it is unusual JSON of another writer, or damaged."""
        for number, line in enumerate(raw_lines[first:], first + 1):
            if not line.strip() or line.startswith(_COMMIT_INFO):
                continue
            try:
                self.apply((load(line),))
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise CorruptLog(
                    f"the commit of version {version} is damaged in line {number} "
                    f"({type(problem).__name__}: {problem}): {line[:80]!r}"
                ) from problem


@dataclass(frozen=True)
class State:
    """A base and an overlay; results are computed once."""

    base: Base
    overlay: Overlay

    @property
    def protocol(self) -> Protocol | None:
        """The latest protocol."""
        return self.overlay.protocol

    @property
    def metadata(self) -> Metadata | None:
        """The latest metadata."""
        return self.overlay.metadata

    @cached_property
    def num_files(self) -> int:
        """The number of live files."""
        return self.base.count - len(self._replaced) + len(self.overlay.added)

    @cached_property
    def size_in_bytes(self) -> int:
        """The size of all live files together."""
        added = sum(body["size"] for body in self.overlay.added.values())
        return int(self.base.size - sum(self._replaced.values()) + added)

    @cached_property
    def adds(self) -> pa.Table:
        """The live files."""
        table = columns.without(self.base.adds, columns.positions(self.base.adds, self.changed))
        if self.overlay.added:
            fresh = columns.from_bodies(list(self.overlay.added.values()), columns.ADD)
            table = pa.concat_tables([table, fresh]) if len(table) else fresh
        return table

    @cached_property
    def removes(self) -> pa.Table:
        """The tombstones of any age."""
        table = columns.without(self.base.removes, columns.positions(self.base.removes, self.changed))
        if self.overlay.removed:
            fresh = columns.from_bodies(list(self.overlay.removed.values()), columns.REMOVE)
            table = pa.concat_tables([table, fresh]) if len(table) else fresh
        return table

    def live_sizes(self, keys: Iterable[FileKey]) -> dict[FileKey, int]:
        """The live ones of the keys, with the sizes of their files."""
        added, removed = self.overlay.added, self.overlay.removed
        sizes: dict[FileKey, int] = {}
        rest: set[FileKey] = set()
        for key in keys:
            if key in added:
                sizes[key] = added[key]["size"]
            elif key not in removed:
                rest.add(key)
        sizes.update(self.base.live_sizes(rest))
        return sizes

    def selected(self, pruner: Pruner, predicate: Predicate) -> pa.Table:
        """The live files, without some that the predicate can't pick if leaving them out early saves work."""
        if not self.base.is_remote:
            return self.adds
        near = self.base.selected(pruner, predicate)
        table = columns.without(near, columns.positions(near, self.changed))
        if not self.overlay.added:
            return table
        return pa.concat_tables([table, columns.from_bodies(list(self.overlay.added.values()), columns.ADD)])

    def advanced(self, commits: Iterable[Iterable[Mapping[str, Any]]]) -> State:
        """The state after further parsed commits."""
        state = self._with_bounded_overlay()
        overlay = state.overlay.copy()
        for commit in commits:
            overlay.apply(commit)
        return State(state.base, overlay)

    def read(self, versions: Sequence[object], contents: Sequence[bytes]) -> State:
        """The state after further commits as bytes."""
        state = self._with_bounded_overlay()
        overlay = state.overlay.copy()
        overlay.read(versions, contents)
        return State(state.base, overlay)

    def _with_bounded_overlay(self) -> State:
        if len(self.changed) <= _SMALLEST_FOLD or len(self.changed) <= self.base.count // 8:
            return self
        overlay = self.overlay.copy()
        overlay.added, overlay.removed = {}, {}
        return State(Base(source=self), overlay)

    @cached_property
    def changed(self) -> set[FileKey]:
        """The files that the overlay adds or removes."""
        return self.overlay.added.keys() | self.overlay.removed.keys()

    @cached_property
    def _replaced(self) -> dict[FileKey, int]:
        """The files of the base that the overlay replaces or removes, with their sizes."""
        return self.base.live_sizes(self.changed)


def lines(version: object, content: bytes) -> list[Body]:
    """The parsed actions of a commit, commitInfo included."""
    actions = []
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            action = load(line)
            if not isinstance(action, dict):
                raise TypeError("not an object")  # noqa: TRY301 - the same answer for every kind of damage
        except (ValueError, TypeError) as problem:
            raise CorruptLog(
                f"the commit of version {version} is damaged in line {number} ({problem}): {line[:80]!r}"
            ) from problem
        actions.append(action)
    return actions
