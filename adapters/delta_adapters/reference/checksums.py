"""Version checksums: what a commit leaves the table as, said beside it for whoever wants to compare."""

from __future__ import annotations

import json
import os
from pathlib import Path

from delta_adapters.reference import actions
from delta_adapters.reference.log_writer import checkpoint_actions, staged
from delta_models.log import Snapshot, commit_timestamps
from delta_models.log.file_names import checksum_name


def checksum_of(snapshot: Snapshot) -> actions.Form:
    """The object that stands for a state: its definition, and how much there is."""
    kinds: dict[str, list[actions.Form]] = {}
    for checkpoint_action in checkpoint_actions(snapshot, retention_ms=0):
        for kind, fields in checkpoint_action.items():
            kinds.setdefault(kind, []).append(fields)
    vectors = [each.deletion_vector for each in snapshot.live.values() if each.deletion_vector is not None]
    form: actions.Form = {
        "tableSizeBytes": sum(each.size for each in snapshot.live.values()),
        "numFiles": len(snapshot.live),
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": kinds["metaData"][0],
        "protocol": kinds["protocol"][0],
        "setTransactions": kinds.get("txn", []),
        "domainMetadata": kinds.get("domainMetadata", []),
        "numDeletionVectorsOpt": len(vectors),
        "numDeletedRecordsOpt": sum(vector.cardinality for vector in vectors),
    }
    if snapshot.properties.get(commit_timestamps.ENABLED, "").lower() == "true":
        form["inCommitTimestampOpt"] = snapshot.in_commit_timestamp
    return form


def publish_checksum(log: Path, snapshot: Snapshot) -> None:
    """Put the checksum of a version beside its commit; one that is there stays."""
    made = staged(log, json.dumps(checksum_of(snapshot), separators=(",", ":")).encode())
    try:
        os.link(made, log / checksum_name(snapshot.version))
    except FileExistsError:
        return
    finally:
        made.unlink()
