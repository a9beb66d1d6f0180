"""Version checksum files: totals of a version's state, with which readers can check theirs."""

from __future__ import annotations

import contextlib
from typing import Any

from pyspark_delta.log.actions import dump
from pyspark_delta.log.names import LOG, checksum_name
from pyspark_delta.log.snapshot import Snapshot
from pyspark_delta.log.store import FileExists

__all__ = ["checksum_of", "write_checksum"]

_MOST_TRANSACTIONS = 100


def checksum_of(snapshot: Snapshot, txn_id: str | None = None) -> dict[str, Any]:
    """The content of a version's checksum file."""
    body: dict[str, Any] = {"txnId": txn_id} if txn_id else {}
    body.update(
        tableSizeBytes=snapshot.size_in_bytes,
        numFiles=snapshot.num_files,
        numMetadata=1,
        numProtocol=1,
        metadata=snapshot.metadata.to_json(),
        protocol=snapshot.protocol.to_json(),
        domainMetadata=[domain.to_json() for domain in snapshot.domains.values()],
    )
    if len(snapshot.txns) <= _MOST_TRANSACTIONS:
        body["setTransactions"] = [txn.to_json() for txn in snapshot.txns.values()]
    return body


def write_checksum(snapshot: Snapshot, txn_id: str | None = None) -> None:
    """Write the checksum file of a version, unless it exists."""
    with contextlib.suppress(FileExists):
        snapshot.store.put_if_absent(
            f"{LOG}/{checksum_name(snapshot.version)}", dump(checksum_of(snapshot, txn_id))
        )
