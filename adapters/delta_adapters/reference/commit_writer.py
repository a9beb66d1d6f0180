"""The layer that writes: data files, commits, and a checkpoint if one is due."""

from __future__ import annotations

from collections.abc import Sequence

from delta_adapters.reference import actions
from delta_adapters.reference.actions import CommitBuilder
from delta_adapters.reference.definition import why_not_writable
from delta_adapters.reference.files import Layout, write_rows
from delta_adapters.reference.log_writer import (
    checkpoint_actions,
    publish_checkpoint,
    publish_checksum,
    publish_commit,
)
from delta_adapters.reference.row_tracking import PRESERVED, TRACKING, assign_row_ids, row_columns
from delta_adapters.reference.stream_reader import StreamReader
from delta_adapters.reference.v2_checkpoints import POLICY, SECOND, publish_v2
from delta_models.log import Snapshot, commit_timestamps
from delta_models.outcomes import Committed, Outcome
from delta_models.values import Row

DEFAULT_RETENTION_HOURS = 168.0
DEFAULT_CHECKPOINT_INTERVAL = 10
HOUR_MS = 3_600_000


class CommitWriter(StreamReader):
    """The layer of the reference engine that writes data files, commits and checkpoints."""

    began = 0  # when the current operation began, in milliseconds

    def commit(self, draft: CommitBuilder, snapshot: Snapshot | None, operation: str, tag: str) -> Outcome:
        """Publish a commit, its checksum, and a checkpoint if one is due."""
        version = 0 if snapshot is None else snapshot.version + 1
        info = actions.commit_info(operation, tag, version, draft.counts)
        info["commitInfo"]["timestamp"] = self.began or actions.now()
        settings = next(
            (other["metaData"]["configuration"] for other in draft.others if "metaData" in other), None
        )
        if settings is None:
            settings = snapshot.properties if snapshot else {}
        if settings.get(commit_timestamps.ENABLED, "").lower() == "true":
            last = snapshot.info.in_commit_timestamp if snapshot and snapshot.info else None
            info["commitInfo"]["inCommitTimestamp"] = max(actions.now(), (last or 0) + 1)
        draft.others += self.row_ids(draft, snapshot, version)
        if row_columns(settings):
            info["commitInfo"]["tags"] = {PRESERVED: "true"}
        self.publish(version, [info, *draft.forms])
        after = self.reader.snapshot(version)
        self.checksum(after)
        interval = int(after.properties.get("delta.checkpointInterval", DEFAULT_CHECKPOINT_INTERVAL))
        if version and version % interval == 0:
            self.checkpoint(after)
        return Committed()

    def row_ids(self, draft: CommitBuilder, snapshot: Snapshot | None, version: int) -> list[actions.Form]:
        """Give files their row ids if the protocol requires it. Return the new high-water mark, if any."""
        protocols = [other["protocol"] for other in draft.others if "protocol" in other]
        known = snapshot.protocol.writer_features if snapshot else None
        features = protocols[-1].get("writerFeatures") if protocols else known
        return list(assign_row_ids(draft.adds, snapshot, version)) if TRACKING in (features or ()) else []

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        """Write a commit into the log."""
        publish_commit(self.folder / "_delta_log", version, forms)

    def checksum(self, snapshot: Snapshot) -> None:
        """Write the checksum of a version beside its commit."""
        publish_checksum(self.folder / "_delta_log", snapshot)

    def checkpoint(self, snapshot: Snapshot) -> None:
        """Write a checkpoint of a state into the log."""
        retention = round(DEFAULT_RETENTION_HOURS * HOUR_MS)
        publish = publish_v2 if snapshot.properties.get(POLICY) == SECOND else publish_checkpoint
        publish(self.folder / "_delta_log", checkpoint_actions(snapshot, retention), snapshot.version)

    def write(
        self, layout: Layout, rows: Sequence[Row], files: int, *, data_change: bool
    ) -> list[actions.Form]:
        """Write data files, and return the adds that name them."""
        return write_rows(self.folder, layout, rows, files, data_change=data_change)

    @staticmethod
    def why_not_writable(snapshot: Snapshot) -> str | None:
        """Return why this engine must not write a table, None if it may."""
        return why_not_writable(snapshot.protocol)
