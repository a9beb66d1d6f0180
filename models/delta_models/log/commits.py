"""Parse commit files: lines of JSON, one action each, that turn version v-1 into version v."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from delta_models.log.actions import (
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
)
from delta_models.log.errors import CorruptLog
from delta_models.log.parsing import PARSERS, parse_action


@dataclass(frozen=True, slots=True)
class Commit:
    """The actions of one version, by kind and in the order of the file, and the problems with them."""

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
        """The metadata that this commit sets; None without any."""
        return self.metadatas[-1] if self.metadatas else None

    @property
    def protocol(self) -> Protocol | None:
        """The protocol that this commit sets; None without any."""
        return self.protocols[-1] if self.protocols else None

    @property
    def info(self) -> CommitInfo | None:
        """The provenance of the commit; None without any."""
        return self.infos[0] if self.infos else None

    @property
    def data_change(self) -> bool:
        """Whether the commit claims to change rows."""
        return any(add.data_change for add in self.adds) or any(remove.data_change for remove in self.removes)

    def check(self) -> None:
        """Raise CorruptLog if a problem leaves the state unknown."""
        for problem in self.problems:
            if problem.fatal:
                raise CorruptLog(f"{problem.where}: {problem.detail}")


_decode = json.JSONDecoder().decode
_FIELDS = {
    "add": "adds",
    "remove": "removes",
    "cdc": "cdcs",
    "metaData": "metadatas",
    "protocol": "protocols",
    "txn": "transactions",
    "domainMetadata": "domains",
    "commitInfo": "infos",
    "checkpointMetadata": "checkpoint_metadatas",
    "sidecar": "sidecars",
}


def parse_commit(version: int, name: str, data: bytes) -> Commit:
    """Return the commit in the bytes of a file. It never raises; `problems` holds what is wrong."""
    actions: dict[str, list[Action]] = {}
    problems: list[Problem] = []
    ignored: list[str] = []
    first: str | None = None
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        where = f"{name}:{number}"
        form = _object(line, where, problems)
        if form is None:
            continue
        known = 0
        for key, value in form.items():
            if first is None:
                first = key
            if key not in PARSERS:
                ignored.append(key)
            elif value is not None:
                known += 1
                action = parse_action(key, value, where, problems)
                if action is not None:
                    actions.setdefault(_FIELDS[key], []).append(action)
        if known > 1:
            kinds = " and ".join(key for key, value in form.items() if key in PARSERS and value is not None)
            problems.append(Problem("log.one-action-a-line", f"{kinds} in one line", where))
    by_kind: dict[str, Any] = {field: tuple(parsed) for field, parsed in actions.items()}
    return Commit(
        version,
        name,
        **by_kind,
        problems=tuple(problems),
        info_first=first == "commitInfo",
        ignored=tuple(ignored),
    )


def _object(line: bytes, where: str, problems: list[Problem]) -> dict[str, Any] | None:
    """The object in a line; None for a blank line, and for a line that becomes a problem."""
    try:
        form = _decode(line.decode("utf-8"))
    except ValueError as error:
        if not line.isspace():
            detail = f"not a line of JSON ({error}): {line[:60]!r}"
            problems.append(Problem("log.commit-is-json-lines", detail, where, fatal=True))
        return None
    if type(form) is dict:
        return form
    detail = f"an action is an object, not {type(form).__name__}"
    problems.append(Problem("log.commit-is-json-lines", detail, where, fatal=True))
    return None
