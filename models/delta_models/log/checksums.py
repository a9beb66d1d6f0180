"""Read version checksum files, in which a writer summarizes the state of its version.

See the protocol's section "Version Checksum File".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from delta_models.log.actions import (
    Action,
    Add,
    Domain,
    Metadata,
    Problem,
    Protocol,
    Transaction,
)
from delta_models.log.errors import CorruptLog
from delta_models.log.file_names import checksum_name
from delta_models.log.parsing import parse_action

A = TypeVar("A", Transaction, Domain, Add)

REQUIRED = ("tableSizeBytes", "numFiles", "numMetadata", "numProtocol", "metadata", "protocol")


@dataclass(frozen=True, slots=True)
class Checksum:
    """A version checksum. A field that the file does not have is None. `form` is the whole object."""

    version: int
    size: int
    files: int
    metadata: Metadata
    protocol: Protocol
    form: Mapping[str, Any]
    transactions: tuple[Transaction, ...] | None = None
    domains: tuple[Domain, ...] | None = None
    adds: tuple[Add, ...] | None = None
    in_commit_timestamp: int | None = None


def read_checksum(log: Path, version: int) -> Checksum | None:
    """Return the checksum of a version; None if there is no file. Raises CorruptLog if the file is not one."""
    name = checksum_name(version)
    try:
        data = (log / name).read_bytes()
    except FileNotFoundError:
        return None
    try:
        form = json.loads(data)
    except ValueError as error:
        raise CorruptLog(f"{name}: no JSON: {error}") from error
    missing = [key for key in REQUIRED if not isinstance(form, dict) or form.get(key) is None]
    if missing:
        raise CorruptLog(f"{name}: {', '.join(missing)} missing")
    metadata = _parse("metaData", form["metadata"], name)
    protocol = _parse("protocol", form["protocol"], name)
    if not isinstance(metadata, Metadata) or not isinstance(protocol, Protocol):
        raise CorruptLog(f"{name}: metadata and protocol are objects")
    time = form.get("inCommitTimestampOpt")
    return Checksum(
        version,
        form["tableSizeBytes"],
        form["numFiles"],
        metadata,
        protocol,
        form,
        _parse_list(Transaction, "txn", form.get("setTransactions"), name),
        _parse_list(Domain, "domainMetadata", form.get("domainMetadata"), name),
        _parse_list(Add, "add", form.get("allFiles"), name),
        time if type(time) is int else None,
    )


def _parse(kind: str, form: Any, name: str) -> Action | None:
    problems: list[Problem] = []
    return parse_action(kind, form, name, problems)


def _parse_list(wanted: type[A], kind: str, forms: Any, name: str) -> tuple[A, ...] | None:
    if not isinstance(forms, list):
        return None
    return tuple(action for form in forms if isinstance(action := _parse(kind, form, name), wanted))
