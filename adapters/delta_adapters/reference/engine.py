"""The honest engine: does what the model says, on real files. Small data only, and one process."""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from itertools import chain
from pathlib import Path
from typing import Any

from delta_adapters.arrow_rows import to_arrow
from delta_adapters.contract import Answer, Identity, Look, detail_table, history_table
from delta_adapters.reference import actions
from delta_adapters.reference.capabilities import CAPABILITIES
from delta_adapters.reference.changing import change_data, with_vectors
from delta_adapters.reference.copies import clone_forms, found_files
from delta_adapters.reference.counting import metrics
from delta_adapters.reference.definition import CLUSTERING, HIGHEST, WRITABLE, defined, table_of
from delta_adapters.reference.files import Layout, write_rows
from delta_adapters.reference.publish import (
    Taken,
    checkpoint_actions,
    publish_checkpoint,
    publish_commit,
    publish_compaction,
)
from delta_adapters.reference.skipping import may_match
from delta_models import operations as ops
from delta_models.expressions import compiled
from delta_models.log import (
    Add,
    Commit,
    CorruptFile,
    CorruptLog,
    LogError,
    LogReader,
    MissingFile,
    MissingVersion,
    NoTable,
    Snapshot,
    UnsupportedFeature,
    clock,
    paths,
)
from delta_models.log.changes import NoChangeData, changes
from delta_models.log.clock import version_at
from delta_models.log.reader import live_adds
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.schema import Struct
from delta_models.table import NotModelled, Table, World
from delta_models.table.changes import is_recorded
from delta_models.table.fit import converter
from delta_models.table.world import State
from delta_models.values import Row, Rows, bag, same_key

DEFAULT_RETENTION_HOURS = 168.0
DEFAULT_CHECKPOINT_INTERVAL = 10
ALTERATIONS = (
    ops.AddColumn, ops.DropColumn, ops.RenameColumn, ops.ReorderColumn, ops.WidenColumn, ops.SetNullable,
    ops.SetDefault, ops.SetProperties, ops.UnsetProperties, ops.AddConstraint, ops.DropConstraint,
    ops.EnableFeature, ops.DropFeature, ops.Cluster,
)  # fmt: skip
LEGACY_WRITER = 2
FEATURE_WRITER = 7
HOUR_MS = 3_600_000


@dataclass(slots=True)
class Draft:
    """The actions of a commit in the making; nothing of it is in the table yet."""

    adds: list[actions.Form] = field(default_factory=list)
    removes: list[actions.Form] = field(default_factory=list)
    others: list[actions.Form] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.adds or self.removes or self.others)

    @property
    def forms(self) -> list[actions.Form]:
        """All actions in the order in which they are written."""
        return [*self.others, *self.removes, *self.adds]


class Reference:
    """An adapter that is its own engine. Its small methods are what liars override."""

    def __init__(self) -> None:
        self.folder = Path()
        self.reader = LogReader(self.folder)

    @property
    def identity(self) -> Identity:
        """Who this is."""
        try:
            version = importlib.metadata.version("delta-conformance")
        except importlib.metadata.PackageNotFoundError:
            version = "0"
        home = "https://github.com/delta-conformance/delta-conformance"
        return Identity("reference", version, home, f"{home}/issues")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What it claims."""
        return CAPABILITIES

    def start(self, work: Path) -> None:
        """There is nothing to start."""

    def stop(self) -> None:
        """There is nothing to stop."""

    def open(self, location: str) -> None:
        """Address a table, with nothing remembered."""
        self.folder = Path(location)
        self.reader = LogReader(self.folder)

    # Operations

    def execute(self, operation: ops.Operation, tag: str) -> Outcome:
        """Perform one operation."""
        try:
            snapshot = self.current()
            if snapshot is not None and (missing := self.not_writable(snapshot)):
                return Rejected("unsupported-feature", missing)
            return self.perform(operation, snapshot, tag)
        except Taken as error:
            return Rejected("conflict.other", f"version {error} was written by another")
        except NotModelled as error:
            return Unsupported(str(error))
        except LogError as error:
            return rejection(error)
        except OSError as error:  # the commit may be there: whoever can't tell, says so
            return Unknown(str(error))

    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """Perform an operation on a table as it is now."""
        done = self.arranged(operation, snapshot, tag)
        return self.changed(operation, snapshot, tag) if done is None else done

    def arranged(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome | None:
        """What concerns files and versions only; None if the operation is of another kind."""
        match operation:
            case ops.Checkpoint() if snapshot is not None:
                self.checkpoint(snapshot)
                return Committed()
            case ops.Restore(at=ops.AtVersion(version=version)) if snapshot is not None:
                return self.restore(snapshot, version, tag)
            case ops.Restore(at=ops.AtTimestamp(micros=micros)) if snapshot is not None:
                return self.restore(snapshot, version_at(self.reader, micros), tag)
            case ops.Restore(at=ops.AtState()):
                return Unsupported("a state by the number of a step")
            case ops.CloneTo() if snapshot is not None:
                return self.clone(operation, tag)
            case ops.ConvertFromParquet() if snapshot is None:
                return self.convert(operation, tag)
            case ops.CompactLog(commits=commits) if snapshot is not None:
                return self.compact_log(snapshot, commits)
        return None

    def changed(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        """What the model says of the table, as actions."""
        table = self.table(snapshot)
        expected = World((State(table, (0, 0), may_remove=False),)).expect(operation).ordinary
        if isinstance(expected.outcome, Rejected):
            return Rejected(expected.outcome.kind, f"{type(operation).__name__}: {expected.requirement}")
        if isinstance(operation, ops.Vacuum) and snapshot is not None:
            return self.vacuum(snapshot, operation)
        match operation:
            case ops.Optimize(where=where) | ops.ZOrder(where=where) if snapshot is not None:
                draft = self.compact(snapshot, where)
            case ops.Purge() if snapshot is not None:
                draft = self.purge(snapshot)
            case _:
                draft = self.draft(operation, snapshot, table, expected.table)
        if not draft and isinstance(expected.outcome, NoChange | Committed) and expected.commits[0] == 0:
            return NoChange()
        draft.counts = self.counted(operation, table, expected.table, draft)
        return self.commit(draft, snapshot, type(operation).__name__, tag)

    def counted(self, operation: ops.Operation, before: Table, after: Table, draft: Draft) -> dict[str, int]:
        """What a commit counts of itself."""
        return metrics(operation, before, after, draft.adds, draft.removes)

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> Draft:
        """The actions that turn one state of the table into another."""
        keep = not isinstance(operation, ops.DropFeature)
        definition = defined(snapshot, before, after, keep_features=keep)
        draft = Draft(others=list(definition.forms))
        transaction = getattr(operation, "transaction", None)
        if transaction is not None:
            if before.transactions == after.transactions:
                return Draft()  # it was written before
            draft.others.append(actions.transaction(*transaction))
        layout = Layout(definition.schema, after.partition_by)
        new, gone = self.moved(operation, snapshot, before, after, draft)
        draft.removes = [actions.remove(each, data_change=True) for each in gone]
        draft.adds += self.write(layout, new, getattr(operation, "files", 1), data_change=True)
        if is_recorded(before) and is_recorded(after) and draft.removes and draft.adds:
            draft.others += self.change_data(layout, before, after)
        return draft

    def moved(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table, draft: Draft
    ) -> tuple[Sequence[Row], list[Add]]:
        """The rows to be written, and the files that go; files that stay with a deletion vector go into the draft."""
        if isinstance(operation, ops.Append):
            return after.rows[len(before.rows) :], []
        if isinstance(operation, ALTERATIONS):
            return (), []
        replaced = isinstance(operation, ops.Replace | ops.CreateAs)
        whole = isinstance(operation, ops.Overwrite) and operation.where is None and not operation.dynamic
        if snapshot is None or replaced or whole:
            return after.rows, list(live_adds(snapshot)) if snapshot else []
        if after.property("delta.enableDeletionVectors").lower() == "true":
            new, gone, draft.adds = with_vectors(self.reader, snapshot, after)
            return new, gone
        return self.rewritten(snapshot, after)

    def change_data(self, layout: Layout, before: Table, after: Table) -> list[actions.Form]:
        """Write the files that tell of a change."""
        return change_data(self.folder, layout, before, after)

    def rewritten(self, snapshot: Snapshot | None, after: Table) -> tuple[list[Row], list[Add]]:
        """Copy on write: the files of which a row is no longer there go, and what else they held is written again."""
        missing = Counter(after.bag)
        gone: list[Add] = []
        convert = converter(snapshot.schema, after.schema) if snapshot else None
        for add in live_adds(snapshot) if snapshot else ():
            held = (
                bag(after.schema, map(convert, self.file_rows(snapshot, add)))
                if snapshot and convert
                else Counter()
            )
            if held <= missing:
                missing -= held
            else:
                gone.append(add)
        by_key = {same_key(after.schema, row): row for row in after.rows}
        return [by_key[key] for key in missing.elements()], gone

    def compact(self, snapshot: Snapshot, where: Any) -> Draft:
        """One file in place of several of one partition."""
        groups: dict[tuple[tuple[str, str | None], ...], list[Add]] = {}
        for add in live_adds(snapshot):
            groups.setdefault(tuple(sorted(add.partition_values.items())), []).append(add)
        layout = Layout(snapshot.schema, snapshot.partition_by)
        picks = compiled(where, snapshot.schema) if where is not None else None
        draft = Draft()
        for members in groups.values():
            rows = list(chain.from_iterable(self.file_rows(snapshot, each) for each in members))
            picked = picks is None or (bool(rows) and picks(rows[0]) is True)
            if picked and (len(members) > 1 or members[0].deletion_vector is not None):
                draft.removes += [actions.remove(each, data_change=False) for each in members]
                draft.adds += self.write(layout, rows, 1, data_change=False)
        return draft

    def purge(self, snapshot: Snapshot) -> Draft:
        """Files without deletion vectors in place of those with one."""
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft = Draft()
        for each in live_adds(snapshot):
            if each.deletion_vector is not None:
                draft.removes.append(actions.remove(each, data_change=False))
                draft.adds += self.write(layout, self.file_rows(snapshot, each), 1, data_change=False)
        return draft

    def compact_log(self, snapshot: Snapshot, commits: int) -> Outcome:
        """Put one file beside the last commits, with what is left of them."""
        first = snapshot.version - commits + 1
        if first < 0 or first >= snapshot.version or first not in self.reader.listing().commits:
            return NoChange()
        publish_compaction(self.folder / "_delta_log", first, snapshot.version)
        return Committed()

    def clone(self, operation: ops.CloneTo, tag: str) -> Outcome:
        """A table of its own beside this one, with the files of this one or with copies of them."""
        snapshot = self.snapshot_for(operation.at)
        target = self.folder.resolve().parent / operation.target
        if (target / "_delta_log").exists():
            return Rejected("table-exists", str(target))
        forms = clone_forms(self.folder.resolve(), target, snapshot, shallow=operation.shallow)
        publish_commit(target / "_delta_log", 0, [actions.commit_info("Clone", tag, 0), *forms])
        return Committed()

    def convert(self, operation: ops.ConvertFromParquet, tag: str) -> Outcome:
        """A table of the Parquet files that are there."""
        schema = operation.rows.schema
        after = Table(exists=True, schema=schema, partition_by=operation.partition_by)
        draft = Draft(others=list(defined(None, Table(), after).forms))
        draft.adds = found_files(self.folder)
        return self.commit(draft, None, "Convert", tag)

    def restore(self, snapshot: Snapshot, version: int, tag: str) -> Outcome:
        """The files and the definition of an earlier version."""
        try:
            goal = self.reader.snapshot(version)
        except MissingVersion as error:
            return Rejected("missing-version", str(error))
        gone = [each for each in live_adds(snapshot) if each.key not in goal.live]
        back = [each for each in live_adds(goal) if each.key not in snapshot.live]
        for each in back:
            if not paths.resolve(self.folder, each.path).exists():
                return Rejected("missing-file", each.path)
        draft = Draft(
            [actions.add_again(each, data_change=True) for each in back],
            [actions.remove(each, data_change=True) for each in gone],
        )
        if goal.metadata != snapshot.metadata:
            properties = dict(goal.properties)
            if HIGHEST in snapshot.properties:
                properties[HIGHEST] = snapshot.properties[HIGHEST]
            draft.others.append(actions.metadata(goal.schema, goal.partition_by, properties, snapshot))
        columns = [each.domains.get(CLUSTERING) for each in (goal, snapshot)]
        if columns[0] != columns[1]:
            said = columns[0].configuration if columns[0] else '{"clusteringColumns":[]}'
            draft.others.append(actions.domain(CLUSTERING, said))
        return self.commit(draft, snapshot, "Restore", tag) if draft else NoChange()

    def vacuum(self, snapshot: Snapshot, operation: ops.Vacuum) -> Outcome:
        """Delete the files that no version within the retention needs."""
        hours = DEFAULT_RETENTION_HOURS if operation.retention_hours is None else operation.retention_hours
        doomed = self.unreferenced(snapshot, hours)
        if operation.dry_run or not doomed:
            return NoChange()
        for each in doomed:
            each.unlink(missing_ok=True)
        return Committed()

    def unreferenced(self, snapshot: Snapshot, hours: float) -> list[Path]:
        """The files under the table that may go."""
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
        found = []
        for path in sorted(self.folder.rglob("*")):
            hidden = any(
                part.startswith(("_", ".")) and "=" not in part
                for part in path.relative_to(self.folder).parts
            )
            if hidden or not path.is_file() or path.absolute() in kept:
                continue
            if path.stat().st_mtime_ns // 1_000_000 <= oldest:
                found.append(path)
        return found

    # Storage

    def commit(self, draft: Draft, snapshot: Snapshot | None, operation: str, tag: str) -> Outcome:
        """Publish a commit, and a checkpoint where one is due."""
        version = 0 if snapshot is None else snapshot.version + 1
        info = actions.commit_info(operation, tag, version, draft.counts)
        settings = next(
            (each["metaData"]["configuration"] for each in draft.others if "metaData" in each), None
        )
        if settings is None:
            settings = snapshot.properties if snapshot else {}
        if settings.get(clock.ENABLED, "").lower() == "true":
            said = snapshot.info.in_commit_timestamp if snapshot and snapshot.info else None
            info["commitInfo"]["inCommitTimestamp"] = max(actions.now(), (said or 0) + 1)
        self.publish(version, [info, *draft.forms])
        after = self.reader.snapshot(version)
        interval = int(after.properties.get("delta.checkpointInterval", DEFAULT_CHECKPOINT_INTERVAL))
        if version and version % interval == 0:
            self.checkpoint(after)
        return Committed()

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        """Put a commit into the log."""
        publish_commit(self.folder / "_delta_log", version, forms)

    def checkpoint(self, snapshot: Snapshot) -> None:
        """Put a checkpoint of a state into the log."""
        retention = round(DEFAULT_RETENTION_HOURS * HOUR_MS)
        publish_checkpoint(
            self.folder / "_delta_log", checkpoint_actions(snapshot, retention), snapshot.version
        )

    def write(
        self, layout: Layout, rows: Sequence[Row], files: int, *, data_change: bool
    ) -> list[actions.Form]:
        """Write data files."""
        return write_rows(self.folder, layout, rows, files, data_change=data_change)

    def current(self) -> Snapshot | None:
        """The newest state, None if there is no table."""
        try:
            return self.reader.snapshot()
        except NoTable:
            return None

    def table(self, snapshot: Snapshot | None) -> Table:
        """A state as the model has it."""
        if snapshot is None:
            return Table()
        return table_of(snapshot, self.reader.rows(snapshot).rows)

    def file_rows(self, snapshot: Snapshot, add: Add) -> tuple[Row, ...]:
        """The rows of one live file."""
        return self.reader.file_rows(snapshot, add)

    @staticmethod
    def not_writable(snapshot: Snapshot) -> str | None:
        """Why this engine must not write a table."""
        protocol = snapshot.protocol
        if protocol.min_writer <= LEGACY_WRITER:
            return None
        if protocol.min_writer < FEATURE_WRITER:
            return f"writer version {protocol.min_writer}"
        unknown = sorted(set(protocol.writer_features or ()) - WRITABLE)
        return f"the writer features {', '.join(unknown)}" if unknown else None

    # Reading

    def read(self, read: Look) -> Answer | Outcome:
        """The rows of a read, or what else is asked of the table."""
        try:
            if not isinstance(read, ops.Read):
                return self.told(read)
            snapshot = self.snapshot_for(read.at)
            rows = self.scan(snapshot, read)
        except LogError as error:
            return rejection(error)
        except KeyError as error:
            return Rejected("schema", str(error))
        return Answer(to_arrow(rows), snapshot.version)

    def told(self, look: ops.ReadChanges | ops.History | ops.Detail) -> Answer | Outcome:
        """What the log says of the table's past, and of the table."""
        snapshot = self.reader.snapshot()
        match look:
            case ops.ReadChanges():
                return self.changes(look)
            case ops.History():
                commits = [
                    self.reader.commit(each) for each in sorted(self.reader.listing().commits, reverse=True)
                ]
                listed = [(each.version, *self.provenance(each)) for each in commits]
                return Answer(history_table(listed), snapshot.version)
            case ops.Detail():
                adds = list(live_adds(snapshot))
                protocol = (snapshot.protocol.min_reader, snapshot.protocol.min_writer)
                size = sum(each.size for each in adds)
                table = detail_table(len(adds), size, snapshot.partition_by, snapshot.properties, protocol)
                return Answer(table, snapshot.version)

    @staticmethod
    def provenance(commit: Commit) -> tuple[str, object, Mapping[str, str] | None]:
        """The operation, the time and the counts that a commit gives itself."""
        values = commit.info.values if commit.info else {}
        return str(values.get("operation", "")), values.get("timestamp"), values.get("operationMetrics")

    def changes(self, look: ops.ReadChanges) -> Answer | Outcome:
        """The change feed."""
        first = look.first.version if isinstance(look.first, ops.AtVersion) else 0
        last = look.last.version if isinstance(look.last, ops.AtVersion) else None
        try:
            return Answer(to_arrow(changes(self.reader, first, last)))
        except NoChangeData as error:
            return Rejected("bad-argument", str(error))

    def snapshot_for(self, at: ops.When) -> Snapshot:
        """The state that a read asks for."""
        match at:
            case ops.Latest():
                return self.reader.snapshot()
            case ops.AtVersion(version=version):
                return self.reader.snapshot(version)
            case ops.AtTimestamp(micros=micros):
                return self.reader.snapshot(version_at(self.reader, micros))
        message = f"{type(at).__name__} can't be asked for"
        raise MissingVersion(message)

    def scan(self, snapshot: Snapshot, read: ops.Read) -> Rows:
        """The rows that a predicate picks, and of them the columns asked for."""
        files = [each for each in live_adds(snapshot) if self.may_match(read, snapshot, each)]
        rows: Sequence[Row] = list(chain.from_iterable(self.file_rows(snapshot, each) for each in files))
        if read.where is not None:
            picks = compiled(read.where, snapshot.schema)
            rows = [row for row in rows if picks(row) is True]
        if read.columns is None:
            return Rows(snapshot.schema, tuple(rows))
        places = [snapshot.schema.index(name) for name in read.columns]
        schema = Struct(tuple(snapshot.schema.fields[at] for at in places))
        return Rows(schema, tuple(tuple(row[at] for at in places) for row in rows))

    @staticmethod
    def may_match(read: ops.Read, snapshot: Snapshot, add: Add) -> bool:
        """Whether a file has to be looked into."""
        return may_match(read.where, snapshot, add, UTC)


def rejection(error: LogError) -> Rejected:
    """Why a table can't be read."""
    match error:
        case NoTable():
            kind = "missing-table"
        case MissingVersion():
            kind = "missing-version"
        case MissingFile():
            kind = "missing-file"
        case UnsupportedFeature():
            kind = "unsupported-feature"
        case CorruptLog() | CorruptFile():
            kind = "corrupt-log"
        case _:
            kind = "unclassified"
    return Rejected(kind, str(error))
