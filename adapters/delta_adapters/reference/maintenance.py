"""The layer that maintains tables: compaction, purge, vacuum, restore, clones and conversion."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from delta_adapters.reference import actions
from delta_adapters.reference.actions import CommitBuilder
from delta_adapters.reference.clones import adds_of_folder, clone_forms
from delta_adapters.reference.commit_writer import DEFAULT_RETENTION_HOURS, HOUR_MS, CommitWriter
from delta_adapters.reference.definition import CLUSTERING, HIGHEST, is_append_only, redefine
from delta_adapters.reference.files import Layout
from delta_adapters.reference.identity_columns import with_newer_marks
from delta_adapters.reference.log_writer import publish_commit, publish_compaction
from delta_adapters.reference.row_tracking import row_columns
from delta_models import operations as ops
from delta_models.expressions import compile_expression
from delta_models.log import Add, MissingVersion, Snapshot, paths
from delta_models.log.reader import live_adds
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected
from delta_models.table import Table


class TableMaintainer(CommitWriter):
    """The layer of the reference engine that works on files and versions and computes no rows."""

    def compact(self, snapshot: Snapshot, where: Any) -> CommitBuilder:
        """Replace several files of one partition by one."""
        groups: dict[tuple[tuple[str, str | None], ...], list[Add]] = {}
        for add in live_adds(snapshot):
            groups.setdefault(tuple(sorted(add.partition_values.items())), []).append(add)
        layout = Layout(snapshot.schema, snapshot.partition_by, row_columns(snapshot.properties))
        picks = compile_expression(where, snapshot.schema) if where is not None else None
        draft = CommitBuilder()
        for members in groups.values():
            rows = list(chain.from_iterable(self.file_rows(snapshot, member) for member in members))
            picked = picks is None or (bool(rows) and picks(rows[0]) is True)
            if picked and (len(members) > 1 or members[0].deletion_vector is not None):
                draft.removes += [actions.remove(member, data_change=False) for member in members]
                draft.adds += self.write(layout, rows, 1, data_change=False)
        return draft

    def purge(self, snapshot: Snapshot) -> CommitBuilder:
        """Replace files with a deletion vector by files without one."""
        layout = Layout(snapshot.schema, snapshot.partition_by, row_columns(snapshot.properties))
        draft = CommitBuilder()
        for add in live_adds(snapshot):
            if add.deletion_vector is not None:
                draft.removes.append(actions.remove(add, data_change=False))
                draft.adds += self.write(layout, self.file_rows(snapshot, add), 1, data_change=False)
        return draft

    def compact_log(self, snapshot: Snapshot, commits: int) -> Outcome:
        """Write one file with the reconciled actions of the last commits beside them."""
        first = snapshot.version - commits + 1
        if first < 0 or first >= snapshot.version or first not in self.reader.listing().commits:
            return NoChange()
        publish_compaction(self.folder / "_delta_log", first, snapshot.version)
        return Committed()

    def clone(self, operation: ops.CloneTo, tag: str) -> Outcome:
        """Create another table beside this one, with this table's files or with copies of them."""
        snapshot = self.snapshot_for(operation.at)
        target = self.folder.resolve().parent / operation.target
        if (target / "_delta_log").exists():
            return Rejected("table-exists", str(target))
        forms = clone_forms(self.folder.resolve(), target, snapshot, shallow=operation.shallow)
        publish_commit(target / "_delta_log", 0, [actions.commit_info("Clone", tag, 0), *forms])
        return Committed()

    def convert(self, operation: ops.ConvertFromParquet, tag: str) -> Outcome:
        """Create a table from the Parquet files in the folder."""
        schema = operation.rows.schema
        after = Table(exists=True, schema=schema, partition_by=operation.partition_by)
        draft = CommitBuilder(others=list(redefine(None, Table(), after).forms))
        draft.adds = adds_of_folder(self.folder)
        return self.commit(draft, None, "Convert", tag)

    def restore(self, snapshot: Snapshot, version: int, tag: str) -> Outcome:
        """Return to the files and the definition of an earlier version."""
        try:
            goal = self.reader.snapshot(version)
        except MissingVersion as error:
            return Rejected("missing-version", str(error))
        removed = [add for add in live_adds(snapshot) if add.key not in goal.live]
        restored = [add for add in live_adds(goal) if add.key not in snapshot.live]
        for add in restored:
            if not paths.resolve(self.folder, add.path).exists():
                return Rejected("missing-file", add.path)
        if removed and is_append_only(snapshot):
            return Rejected("append-only", f"Restore would remove {removed[0].path}")
        draft = CommitBuilder(
            [actions.add_again(add, data_change=True) for add in restored],
            [actions.remove(add, data_change=True) for add in removed],
        )
        if goal.metadata != snapshot.metadata:
            properties = dict(goal.properties)
            if HIGHEST in snapshot.properties:
                properties[HIGHEST] = snapshot.properties[HIGHEST]
            schema = with_newer_marks(goal.schema, snapshot.schema)
            draft.others.append(actions.metadata(schema, goal.partition_by, properties, snapshot))
        clustering = goal.domains.get(CLUSTERING)
        if clustering != snapshot.domains.get(CLUSTERING):
            configuration = clustering.configuration if clustering else '{"clusteringColumns":[]}'
            draft.others.append(actions.domain(CLUSTERING, configuration))
        return self.commit(draft, snapshot, "Restore", tag) if draft else NoChange()

    def vacuum(self, snapshot: Snapshot, operation: ops.Vacuum) -> Outcome:
        """Delete the files that no version within the retention needs."""
        hours = DEFAULT_RETENTION_HOURS if operation.retention_hours is None else operation.retention_hours
        files = self.unreferenced(snapshot, hours)
        if operation.dry_run or not files:
            return NoChange()
        for file in files:
            file.unlink(missing_ok=True)
        return Committed()

    def unreferenced(self, snapshot: Snapshot, hours: float) -> list[Path]:
        """Return the files under the table that no version within the retention needs."""
        oldest = actions.now() - round(hours * HOUR_MS)
        kept: set[Path] = set()
        for add in live_adds(snapshot):
            kept.add(paths.resolve(self.folder, add.path).absolute())
            vector = add.deletion_vector.file(self.folder) if add.deletion_vector else None
            if vector is not None:
                kept.add(vector.absolute())
        for remove in snapshot.tombstones.values():
            if (remove.deletion_timestamp or 0) > oldest:
                kept.add(paths.resolve(self.folder, remove.path).absolute())
        unreferenced = []
        for path in sorted(self.folder.rglob("*")):
            hidden = any(
                part.startswith(("_", ".")) and "=" not in part
                for part in path.relative_to(self.folder).parts
            )
            if hidden or not path.is_file() or path.absolute() in kept:
                continue
            if path.stat().st_mtime_ns // 1_000_000 <= oldest:
                unreferenced.append(path)
        return unreferenced
