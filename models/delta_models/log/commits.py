"""A commit file: lines of JSON, one action each, that turn version v-1 into version v."""

from __future__ import annotations

import json
from dataclasses import dataclass

from delta_models.log.actions import (
    PARSERS,
    Action,
    Add,
    Cdc,
    CheckpointMetadata,
    CommitInfo,
    Domain,
    Metadata,
    Problem,
    Protocol,
    Remove,
    Sidecar,
    Transaction,
    parse_action,
)
from delta_models.log.errors import CorruptLog


@dataclass(frozen=True, slots=True)
class Commit:
    """The actions of one version, by kind and in the order of the file, and what is wrong with them."""

    version: int
    name: str
    adds: tuple[Add, ...] = ()
    removes: tuple[Remove, ...] = ()
    cdcs: tuple[Cdc, ...] = ()
    metadatas: tuple[Metadata, ...] = ()
    protocols: tuple[Protocol, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    domains: tuple[Domain, ...] = ()
    infos: tuple[CommitInfo, ...] = ()
    checkpoint_metadatas: tuple[CheckpointMetadata, ...] = ()
    sidecars: tuple[Sidecar, ...] = ()
    problems: tuple[Problem, ...] = ()
    info_first: bool = False
    ignored: tuple[str, ...] = ()

    @property
    def metadata(self) -> Metadata | None:
        """The metadata that this commit sets, if any."""
        return self.metadatas[-1] if self.metadatas else None

    @property
    def protocol(self) -> Protocol | None:
        """The protocol that this commit sets, if any."""
        return self.protocols[-1] if self.protocols else None

    @property
    def info(self) -> CommitInfo | None:
        """The provenance of the commit, if it says any."""
        return self.infos[0] if self.infos else None

    @property
    def data_change(self) -> bool:
        """Whether the commit claims to change rows."""
        return any(each.data_change for each in self.adds) or any(each.data_change for each in self.removes)

    def check(self) -> None:
        """Raise CorruptLog if something is wrong that leaves the state unknown."""
        for problem in self.problems:
            if problem.fatal:
                raise CorruptLog(f"{problem.where}: {problem.detail}")


def parse_commit(version: int, name: str, data: bytes) -> Commit:
    """The commit in the bytes of a file. Never raises: what is wrong is in `problems`."""
    actions: dict[str, list[Action]] = {}
    problems: list[Problem] = []
    ignored: list[str] = []
    first: str | None = None
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line or line.isspace():
            continue
        where = f"{name}:{number}"
        try:
            form = json.loads(line)
        except ValueError as error:
            detail = f"not a line of JSON ({error}): {line[:60]!r}"
            problems.append(Problem("log.commit-is-json-lines", detail, where, fatal=True))
            continue
        if type(form) is not dict:
            detail = f"an action is an object, not {type(form).__name__}"
            problems.append(Problem("log.commit-is-json-lines", detail, where, fatal=True))
            continue
        known = [key for key, value in form.items() if key in PARSERS and value is not None]
        if len(known) > 1:
            detail = f"{' and '.join(known)} in one line"
            problems.append(Problem("log.one-action-a-line", detail, where))
        for key in form:
            if first is None:
                first = key
            if key not in PARSERS:
                ignored.append(key)
        for key in known:
            action = parse_action(key, form[key], where, problems)
            if action is not None:
                actions.setdefault(key, []).append(action)
    return _assemble(
        version, name, actions, tuple(problems), info_first=first == "commitInfo", ignored=tuple(ignored)
    )


def _assemble(
    version: int,
    name: str,
    actions: dict[str, list[Action]],
    problems: tuple[Problem, ...],
    *,
    info_first: bool,
    ignored: tuple[str, ...],
) -> Commit:
    def of(kind: str) -> tuple[Action, ...]:
        return tuple(actions.get(kind, ()))

    return Commit(
        version,
        name,
        of("add"),  # type: ignore[arg-type]  # the parser of each name makes its own class
        of("remove"),  # type: ignore[arg-type]
        of("cdc"),  # type: ignore[arg-type]
        of("metaData"),  # type: ignore[arg-type]
        of("protocol"),  # type: ignore[arg-type]
        of("txn"),  # type: ignore[arg-type]
        of("domainMetadata"),  # type: ignore[arg-type]
        of("commitInfo"),  # type: ignore[arg-type]
        of("checkpointMetadata"),  # type: ignore[arg-type]
        of("sidecar"),  # type: ignore[arg-type]
        problems,
        info_first,
        ignored,
    )
