"""Read checkpoints: the state of one version in one or more files, from which a replay can start.

The module reads classic, multi-part and V2 checkpoints. V2 checkpoints have a Parquet or JSON top level, and sidecars.
Adds stay columns until they are needed, so that a checkpoint of a million files loads without a million objects.
"""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from delta_models.log import paths
from delta_models.log.actions import (
    Action,
    Add,
    CheckpointMetadata,
    Domain,
    Key,
    Metadata,
    Problem,
    Protocol,
    Remove,
    Sidecar,
    Transaction,
)
from delta_models.log.errors import CorruptLog, MissingFile
from delta_models.log.file_names import SIDECARS, CheckpointName
from delta_models.log.parquet import CheckpointPart, read_checkpoint_file
from delta_models.log.parquet.checkpoint_files import FileActions
from delta_models.log.parsing import parse_action
from delta_models.log.state import Layered, Snapshot

A = TypeVar("A", bound=Action)


class LazyAdds(Mapping[Key, Add]):
    """Live files in columns. Looking one up creates its `Add`."""

    def __init__(self, parts: tuple[FileActions, ...]) -> None:
        self._parts = parts
        self._indexes: list[dict[str, int]] | None = None
        self._made: dict[Key, Add] = {}

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts)

    def __iter__(self) -> Iterator[Key]:
        for part in self._parts:
            yield from part.keys()

    def __contains__(self, key: object) -> bool:
        name = _flat_key(cast("Key", key))
        return any(name in index for index in self._positions())

    def __getitem__(self, key: Key) -> Add:
        if key in self._made:
            return self._made[key]
        name = _flat_key(key)
        for part, index in zip(self._parts, self._positions(), strict=True):
            if name in index:
                add = self._made[key] = _make_add(part.form(index[name]))
                return add
        raise KeyError(key)

    def items(self) -> ItemsView[Key, Add]:
        """Return the items, created a batch at a time."""
        return _Items(self)

    def adds(self) -> Iterator[Add]:
        """Yield all adds in order, created a batch at a time and not kept."""
        for part in self._parts:
            for form in part.forms():
                yield _make_add(form)

    def _positions(self) -> list[dict[str, int]]:
        if self._indexes is None:
            self._indexes = [part.positions() for part in self._parts]
        return self._indexes


class _Items(ItemsView[Key, Add]):
    """Items that are created in one pass."""

    _mapping: LazyAdds

    def __iter__(self) -> Iterator[tuple[Key, Add]]:
        return ((add.key, add) for add in self._mapping.adds())


def _flat_key(key: Key) -> str:
    path, vector = key
    return path if vector is None else f"{path}\0{vector}"


def _make_add(form: dict[str, Any]) -> Add:
    add = parse_action("add", form, "checkpoint", [])
    if not isinstance(add, Add):
        raise CorruptLog("a checkpoint holds an add that is none")
    return add


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The actions of a checkpoint.

    `adds` are columns; `problems` are those of the other actions. `foreign` are the kinds of actions that do not belong
    into a checkpoint, `foreign_in_sidecars` those that do not belong into a sidecar.
    """

    name: CheckpointName
    adds: tuple[FileActions, ...]
    removes: tuple[Remove, ...]
    protocols: tuple[Protocol, ...]
    metadatas: tuple[Metadata, ...]
    transactions: tuple[Transaction, ...]
    domains: tuple[Domain, ...]
    checkpoint_metadatas: tuple[CheckpointMetadata, ...]
    sidecars: tuple[Sidecar, ...]
    foreign: tuple[str, ...]
    problems: tuple[Problem, ...]
    columns: tuple[tuple[str, ...], ...] = ()
    top_level_file_actions: bool = False
    foreign_in_sidecars: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of actions."""
        others = (
            self.removes, self.protocols, self.metadatas, self.transactions, self.domains,
            self.checkpoint_metadatas, self.sidecars, self.foreign,
        )  # fmt: skip
        return sum(map(len, self.adds)) + sum(map(len, others))

    def snapshot(self) -> Snapshot:
        """Return the state in the checkpoint. Raises CorruptLog if the checkpoint leaves it unknown."""
        for problem in self.problems:
            if problem.fatal:
                raise CorruptLog(f"{problem.where}: {problem.detail}")
        if len(self.protocols) != 1 or len(self.metadatas) != 1:
            counts = f"{len(self.protocols)} protocols and {len(self.metadatas)} metadatas"
            raise CorruptLog(f"{self.name.files[0]}: {counts} in a checkpoint")
        return Snapshot(
            self.name.version,
            self.protocols[0],
            self.metadatas[0],
            Layered.of(LazyAdds(self.adds)),
            Layered.of({remove.key: remove for remove in self.removes}),
            Layered.of({transaction.app_id: transaction for transaction in self.transactions}),
            Layered.of({domain.name: domain for domain in self.domains if not domain.removed}),
        )


class JsonActions(FileActions):
    """File actions that are objects: those of a V2 checkpoint's JSON top level."""

    def __init__(self, forms: list[dict[str, Any]]) -> None:
        super().__init__(forms)
        self._forms = forms

    def has(self, name: str) -> bool:
        """Whether one of the actions has a value in a field."""
        return any(form.get(name) is not None for form in self._forms)

    def keys(self) -> list[Key]:
        """Return path and deletion vector id of each action, in order."""
        return [
            parsed.key for form in self._forms if isinstance(parsed := parse_action("add", form, "", []), Add)
        ]

    def positions(self) -> dict[str, int]:
        """Return the position of each action by its flat key."""
        return {_flat_key(key): row for row, key in enumerate(self.keys())}

    def form(self, index: int) -> dict[str, Any]:
        """Return one action as its object."""
        return self._forms[index]

    def forms(self) -> Iterator[dict[str, Any]]:
        """Yield all actions as objects, in order."""
        return iter(self._forms)


def read_checkpoint(log: Path, name: CheckpointName) -> Checkpoint:
    """Return the actions of a checkpoint with its parts and sidecars. Raises CorruptLog if one is unreadable."""
    parts = [
        _read_json(log / file) if file.endswith(".json") else read_checkpoint_file(log / file)
        for file in name.files
    ]
    problems: list[Problem] = []
    actions, foreign = _parse_actions(name, parts, problems)
    sidecars = _of_kind(Sidecar, actions.get("sidecar"))
    sidecar_parts = [_read_sidecar(log, name, sidecar) for sidecar in sidecars]
    all_parts = parts + sidecar_parts
    removes = _parse_removes(name, all_parts, problems)
    return Checkpoint(
        name,
        tuple(part.adds for part in all_parts),
        removes,
        _of_kind(Protocol, actions.get("protocol")),
        _of_kind(Metadata, actions.get("metaData")),
        _of_kind(Transaction, actions.get("txn")),
        _of_kind(Domain, actions.get("domainMetadata")),
        _of_kind(CheckpointMetadata, actions.get("checkpointMetadata")),
        sidecars,
        tuple(foreign),
        tuple(problems),
        tuple(part.columns for part in all_parts),
        top_level_file_actions=any(len(part.adds) or len(part.removes) for part in parts),
        foreign_in_sidecars=tuple(kind for part in sidecar_parts for kind, _ in part.others),
    )


def _parse_actions(
    name: CheckpointName, parts: list[CheckpointPart], problems: list[Problem]
) -> tuple[dict[str, list[Action]], list[str]]:
    """The actions other than adds and removes by kind, and the kinds that do not belong into a checkpoint."""
    actions: dict[str, list[Action]] = {}
    foreign: list[str] = []
    for file, part in zip(name.files, parts, strict=True):
        for kind, form in part.others:
            action = parse_action(kind, form, file, problems)
            if action is None or kind in {"commitInfo", "cdc"}:
                foreign.append(kind)
            else:
                actions.setdefault(kind, []).append(action)
    return actions, foreign


def _parse_removes(
    name: CheckpointName, parts: list[CheckpointPart], problems: list[Problem]
) -> tuple[Remove, ...]:
    actions = (
        parse_action("remove", form, name.files[0], problems)
        for part in parts
        for form in part.removes.forms()
    )
    return tuple(action for action in actions if isinstance(action, Remove))


def _read_sidecar(log: Path, name: CheckpointName, sidecar: Sidecar) -> CheckpointPart:
    try:
        return read_checkpoint_file(sidecar_file(log, sidecar))
    except MissingFile as error:
        raise CorruptLog(f"{name.files[0]}: {error}") from error


def _of_kind(kind: type[A], actions: list[Action] | None) -> tuple[A, ...]:
    return tuple(action for action in actions or () if isinstance(action, kind))


def sidecar_file(log: Path, sidecar: Sidecar) -> Path:
    """Return the path of a sidecar file; a bare name is in `_sidecars`."""
    if "/" not in sidecar.path:
        return log / SIDECARS / paths.decode(sidecar.path)
    return paths.resolve(log / SIDECARS, sidecar.path)


def _read_json(path: Path) -> CheckpointPart:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise CorruptLog(f"the checkpoint file {path} cannot be read: {error}") from error
    adds: list[dict[str, Any]] = []
    removes: list[dict[str, Any]] = []
    others: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            form = json.loads(line)
        except ValueError as error:
            raise CorruptLog(f"{path.name}:{number}: not a line of JSON ({error})") from error
        if not isinstance(form, dict):
            raise CorruptLog(f"{path.name}:{number}: an action is an object")
        for kind, value in form.items():
            if value is None:
                continue
            if kind == "add":
                adds.append(value)
            elif kind == "remove":
                removes.append(value)
            else:
                others.append((kind, value))
    return CheckpointPart(JsonActions(adds), JsonActions(removes), tuple(others), (), len(lines))
