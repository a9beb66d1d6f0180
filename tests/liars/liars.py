"""The liars: the honest engine, wrong in one documented way each."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import Any

import pyarrow as pa

from delta_adapters.contract import Answer, Look
from delta_adapters.reference import Draft, Reference, actions
from delta_adapters.reference.files import Layout
from delta_adapters.supervisor import HostDied, HostGarbage, HostHung
from delta_models import operations as ops
from delta_models.expressions import evaluate
from delta_models.log import Add, Remove, Snapshot, paths
from delta_models.log.names import commit_name
from delta_models.log.reader import live_adds
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.schema import Field, Struct
from delta_models.table import Table
from delta_models.values import Row, Rows
from tests.liars import stories
from tests.liars.registry import trips


class OnOne(Reference):
    """Lies in the operations of one kind, `kind`; `crook` is the lie, told instead of the honest way."""

    kind: type[Any] = ops.Append

    def perform(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        if isinstance(operation, self.kind):
            return self.crook(operation, snapshot, tag)
        return super().perform(operation, snapshot, tag)

    def crook(self, operation: Any, snapshot: Snapshot | None, tag: str) -> Outcome:
        raise NotImplementedError

    def honest(self, operation: ops.Operation, snapshot: Snapshot | None, tag: str) -> Outcome:
        return super().perform(operation, snapshot, tag)

    def slip_in(self, snapshot: Snapshot, *forms: actions.Form) -> Outcome:
        """Commit whatever is given."""
        draft = Draft(others=list(forms))
        return self.commit(draft, snapshot, "Lie", "")

    def lose_a_file(self, snapshot: Snapshot) -> Outcome:
        """Commit that a live file is gone."""
        return self.slip_in(snapshot, actions.remove(next(iter(live_adds(snapshot))), data_change=True))

    def write_rows(self, snapshot: Snapshot, *found: Row) -> Outcome:
        """Commit rows, whatever they are."""
        layout = Layout(snapshot.schema, snapshot.partition_by)
        return self.slip_in(snapshot, *self.write(layout, found, 1, data_change=True))


class ButDrafts(Reference):
    """Lies in the draft of the operations of one kind."""

    kind: type[Any] = ops.Append

    def draft(
        self, operation: ops.Operation, snapshot: Snapshot | None, before: Table, after: Table
    ) -> Draft:
        draft = super().draft(operation, snapshot, before, after)
        return self.bend(draft, operation, snapshot) if isinstance(operation, self.kind) else draft

    def bend(self, draft: Draft, operation: Any, snapshot: Snapshot | None) -> Draft:
        raise NotImplementedError


# What operations mean


@trips("contents.create", stories.APPEND)
class CreatesARow(OnOne):
    """A new table has a row already."""

    kind = ops.Create

    def crook(self, operation, snapshot, tag):
        draft = self.draft(operation, None, Table(), Table(True, operation.schema, operation.partition_by))
        layout = Layout(operation.schema, operation.partition_by)
        draft.adds = self.write(layout, [(1, "a", 1.0)], 1, data_change=True)
        return self.commit(draft, None, "Create", tag)


@trips("contents.create-if-not-exists", stories.CREATE_IF_NOT_EXISTS)
class ClearsWhatExists(OnOne):
    """Creating a table only if there is none empties the one that is there."""

    kind = ops.Create

    def crook(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot) if snapshot else self.honest(operation, snapshot, tag)


@trips("contents.append", stories.APPEND)
class DropsARow(ButDrafts):
    """An append loses its last row."""

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Append):
            after = after.with_rows(after.rows[:-1])
        return Reference.draft(self, operation, snapshot, before, after)


@trips("contents.append-nothing", stories.APPEND_NOTHING)
class AppendsNothingBadly(OnOne):
    """An append of no rows takes a file away."""

    def crook(self, operation, snapshot, tag):
        return self.honest(operation, snapshot, tag) if operation.rows.rows else self.lose_a_file(snapshot)


@trips("contents.overwrite", stories.OVERWRITE)
class DropsARemove(ButDrafts):
    """An overwrite forgets to remove the old files."""

    kind = ops.Overwrite

    def bend(self, draft, operation, snapshot):
        draft.removes = []
        return draft


@trips("contents.replace-where", stories.REPLACE_WHERE)
class ReplacesEverything(ButDrafts):
    """An overwrite with a predicate overwrites the whole table."""

    kind = ops.Overwrite

    def bend(self, draft, operation, snapshot):
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft.removes = [actions.remove(each, data_change=True) for each in live_adds(snapshot)]
        draft.adds = self.write(layout, operation.rows.rows, 1, data_change=True)
        return draft


@trips("contents.overwrite-partitions", stories.DYNAMIC)
class ReplacesEveryPartition(ReplacesEverything):
    """A dynamic partition overwrite overwrites all partitions."""


@trips("contents.empty-partition-text", stories.APPEND_EMPTY_TEXT)
class KeepsEmptyTexts(Reference):
    """An empty string in a partition column is written as the name of the folder for nulls."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for form in forms:
            values = form.get("add", {}).get("partitionValues", {})
            values.update(
                {key: "__HIVE_DEFAULT_PARTITION__" for key, value in values.items() if value is None}
            )
        super().publish(version, forms)


@trips("contents.delete", stories.DELETE)
@trips("metamorphic.delete-takes-what-filter-picks", stories.DELETE)
class DeletesUnknowns(ButDrafts):
    """A delete takes the rows as well for which its predicate is unknown."""

    kind = ops.Delete

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Delete) and operation.where is not None:
            kept = tuple(row for row in before.rows if evaluate(operation.where, before.schema, row) is False)
            after = after.with_rows(kept)
        return Reference.draft(self, operation, snapshot, before, after)


@trips("contents.delete-all", stories.DELETE_ALL)
class DeletesAllButOneFile(ButDrafts):
    """A delete of everything leaves a file."""

    kind = ops.Delete

    def bend(self, draft, operation, snapshot):
        draft.removes = draft.removes[1:]
        return draft


@trips("contents.delete-nothing", stories.DELETE_NOTHING)
class DeletesAtLeastOne(OnOne):
    """A delete that picks no row takes a file away."""

    kind = ops.Delete

    def crook(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.update", stories.UPDATE)
class UpdatesTwice(ButDrafts):
    """An update writes its rows twice."""

    kind = ops.Update

    def bend(self, draft, operation, snapshot):
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft.adds += self.write(layout, [(1, "a", 8.0)], 1, data_change=True)
        return draft


@trips("contents.update-nothing", stories.UPDATE_NOTHING)
class UpdatesAtLeastOne(OnOne):
    """An update that picks no row takes a file away."""

    kind = ops.Update

    def crook(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.merge", stories.MERGE)
class ForgetsInserts(ButDrafts):
    """A merge does not insert."""

    kind = ops.Merge

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Merge):
            after = after.with_rows(tuple(row for row in after.rows if row[0] != 8))
        return Reference.draft(self, operation, snapshot, before, after)


@trips("contents.merge-nothing", stories.MERGE_NOTHING)
class MergesAtLeastOne(OnOne):
    """A merge in which no clause acts takes a file away."""

    kind = ops.Merge

    def crook(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.restore", stories.RESTORE)
class RestoresWithoutRemoving(Reference):
    """A restore brings old files back, and removes none of the newer ones."""

    def restore(self, snapshot, version, tag):
        goal = self.reader.snapshot(version)
        back = [actions.add_again(each, data_change=True) for each in live_adds(goal)]
        return self.commit(Draft(back), snapshot, "Restore", tag)


@trips("contents.optimize", stories.OPTIMIZE)
@trips("write.data-change-false-keeps-rows", stories.OPTIMIZE)
class CompactsBadly(Reference):
    """Compacting files loses a row."""

    def write(self, layout, rows, files, *, data_change):
        return super().write(layout, rows if data_change else rows[:-1], files, data_change=data_change)


@trips("contents.vacuum", stories.VACUUM)
class VacuumsOutOfTheTable(OnOne):
    """A vacuum takes a live file out of the table."""

    kind = ops.Vacuum

    def crook(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.checkpoint", stories.CHECKPOINT)
@trips("checkpoint.equals-replay", stories.CHECKPOINT)
class ForgetsInCheckpoints(Reference):
    """A checkpoint lacks a live file."""

    def checkpoint(self, snapshot):
        key = next(iter(snapshot.live))
        live = {each: add for each, add in snapshot.live.items() if each != key}
        super().checkpoint(replace(snapshot, live=live))


@trips("contents.set-properties", stories.SET)
class SetsOtherProperties(ButDrafts):
    """A property gets another value than was asked for."""

    kind = ops.SetProperties

    def bend(self, draft, operation, snapshot):
        draft.others[-1]["metaData"]["configuration"]["delta.checkpointInterval"] = "4"
        return draft


@trips("contents.unset-properties", stories.UNSET)
class KeepsProperties(ButDrafts):
    """A property that is taken away stays."""

    kind = ops.UnsetProperties

    def bend(self, draft, operation, snapshot):
        draft.others[-1]["metaData"]["configuration"]["delta.checkpointInterval"] = "3"
        return draft


@trips("contents.look-changes-nothing", stories.LOOK)
class CommitsWhenRead(Reference):
    """A read with a predicate adds a version."""

    def read(self, read):
        answer = super().read(read)
        snapshot = self.current()
        if snapshot is not None and read.where is not None:
            self.commit(Draft(), snapshot, "Read", "")
        return answer


class Catalogued(Reference):
    """The honest engine with a catalogue of sorts: what was created with a name can be dropped."""

    def __init__(self):
        super().__init__()
        self.managed = False

    @property
    def capabilities(self):
        known = super().capabilities
        more = {"Create": {"options": ["*"]}, "Drop": {}}
        return {**known, "operations": {**known["operations"], **more}}

    def perform(self, operation, snapshot, tag):
        if isinstance(operation, ops.Create):
            self.managed = operation.managed
        if isinstance(operation, ops.Drop):
            self.drop()
            return Committed()
        return super().perform(operation, snapshot, tag)

    def drop(self):
        if self.managed:
            shutil.rmtree(self.folder)


@trips("contents.drop-managed", stories.DROP)
class DropsTheNameOnly(Catalogued):
    """Dropping a managed table leaves its files."""

    honest_twin = Catalogued

    def drop(self):
        for each in (self.folder / "_delta_log").iterdir():
            each.unlink()


@trips("contents.drop-external", stories.DROP_EXTERNAL)
class DropsTooMuch(Catalogued):
    """Dropping an external table takes its files away."""

    honest_twin = Catalogued

    def drop(self):
        shutil.rmtree(self.folder)


# How operations end


@trips("outcome.existing-table-refused", stories.CREATE_AGAIN)
class CreatesAgain(OnOne):
    """Creating a table where there is one succeeds."""

    kind = ops.Create

    def crook(self, operation, snapshot, tag):
        if snapshot is None:
            return self.honest(operation, snapshot, tag)
        form = actions.metadata(snapshot.schema, snapshot.partition_by, snapshot.properties, snapshot)
        return self.slip_in(snapshot, form)


@trips("outcome.missing-table-refused", stories.NO_TABLE)
class MakesTables(OnOne):
    """An append to a table that does not exist makes one."""

    def crook(self, operation, snapshot, tag):
        if snapshot is None:
            self.honest(ops.Create(operation.rows.schema), None, tag)
        return self.honest(operation, self.current(), tag)


@trips("outcome.misfit-refused", stories.MISFIT)
class TakesMisfits(OnOne):
    """An append of other columns than the table's succeeds, and does nothing."""

    def crook(self, operation, snapshot, tag):
        if operation.rows.schema == snapshot.schema:
            return self.honest(operation, snapshot, tag)
        return self.slip_in(snapshot)


@trips("outcome.unknown-column-refused", stories.DELETE_UNKNOWN_COLUMN)
class KnowsEveryColumn(OnOne):
    """A delete by a column that does not exist succeeds, and does nothing."""

    kind = ops.Delete

    def crook(self, operation, snapshot, tag):
        return NoChange()


@trips("outcome.broken-rule-refused", stories.NOT_NULL)
class TakesNulls(OnOne):
    """Nulls in a column that is NOT NULL are written."""

    def crook(self, operation, snapshot, tag):
        loose = Struct(tuple(Field(each.name, each.type) for each in snapshot.schema))
        layout = Layout(loose, snapshot.partition_by)
        return self.slip_in(snapshot, *self.write(layout, operation.rows.rows, 1, data_change=True))


@trips("outcome.append-only", stories.APPEND_ONLY)
@trips("log.append-only", stories.APPEND_ONLY)
class DeletesAnyway(OnOne):
    """A delete in an append-only table succeeds."""

    kind = ops.Delete

    def crook(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("outcome.bad-argument-refused", stories.CONTRADICTION)
@trips("outcome.replace-where-mismatch", stories.REPLACE_WRONGLY)
class OverwritesAnyway(OnOne):
    """An overwrite that contradicts itself overwrites the whole table."""

    kind = ops.Overwrite

    def crook(self, operation, snapshot, tag):
        return self.honest(ops.Overwrite(operation.rows), snapshot, tag)


@trips("outcome.ambiguous-match-refused", stories.MERGE_AMBIGUOUS)
class MergesTheFirst(OnOne):
    """A merge in which several source rows match a row takes the first."""

    kind = ops.Merge

    def crook(self, operation, snapshot, tag):
        source = Rows(operation.source.schema, operation.source.rows[:1])
        return self.honest(ops.Merge(source, operation.on, operation.clauses), snapshot, tag)


@trips("outcome.merge-deletes-once", stories.MERGE_DELETES_ONCE)
class RefusesToDeleteOnce(OnOne):
    """A merge that only deletes is refused where several source rows match a row."""

    kind = ops.Merge

    def crook(self, operation, snapshot, tag):
        return Rejected("ambiguous-match")


@trips("outcome.optimize-by-partition-only", stories.OPTIMIZE_BY_DATA)
class CompactsByData(OnOne):
    """Compacting by a predicate over data succeeds."""

    kind = ops.Optimize

    def crook(self, operation, snapshot, tag):
        return self.honest(ops.Optimize(), snapshot, tag)


@trips("outcome.supported", stories.DELETE)
class ClaimsTooMuch(OnOne):
    """What is claimed is answered with Unsupported."""

    kind = ops.Delete

    def crook(self, operation, snapshot, tag):
        return Unsupported("not today")


@trips("outcome.classified", stories.MISFIT)
class CannotSayWhy(OnOne):
    """A refusal is of no kind."""

    def crook(self, operation, snapshot, tag):
        outcome = self.honest(operation, snapshot, tag)
        return Rejected("unclassified", outcome.message) if isinstance(outcome, Rejected) else outcome


@trips("outcome.told", stories.APPEND)
class DoesNotKnow(OnOne):
    """An append ends in "unknown" although nothing disturbed it."""

    def crook(self, operation, snapshot, tag):
        self.honest(operation, snapshot, tag)
        return Unknown("who knows")


@trips("outcome.allowed", stories.DELETE)
class RefusesToDelete(OnOne):
    """A delete without fault is refused."""

    kind = ops.Delete

    def crook(self, operation, snapshot, tag):
        return Rejected("bad-argument", "no")


@trips("outcome.allowed", stories.DELETE)
class ReportsSuccess(OnOne):
    """Nothing is done, and success reported: no version is added."""

    kind = ops.Delete

    def crook(self, operation, snapshot, tag):
        return NoChange()


@trips("outcome.commits", stories.APPEND)
class CommitsTwice(OnOne):
    """An append adds a second, empty version."""

    def crook(self, operation, snapshot, tag):
        self.honest(operation, snapshot, tag)
        return self.slip_in(self.reader.snapshot())


@trips("outcome.refused-changes-nothing", stories.MISFIT)
class RefusesButWrites(OnOne):
    """A refused append leaves a row."""

    def crook(self, operation, snapshot, tag):
        outcome = self.honest(operation, snapshot, tag)
        if isinstance(outcome, Rejected):
            self.write_rows(snapshot, (99, "left", 0.0))
        return outcome


# What the log then holds


@trips("write.schema", stories.APPEND)
class MakesColumnsStrict(ButDrafts):
    """A column of a new table becomes NOT NULL."""

    kind = ops.Create

    def bend(self, draft, operation, snapshot):
        form = draft.others[-1]["metaData"]
        form["schemaString"] = form["schemaString"].replace('"nullable":true', '"nullable":false', 1)
        return draft


@trips("write.partitioning", stories.IN_PARTITIONS)
class ForgetsPartitions(ButDrafts):
    """A new table is not partitioned."""

    kind = ops.Create

    def bend(self, draft, operation, snapshot):
        draft.others[-1]["metaData"]["partitionColumns"] = []
        return draft


@trips("write.properties", stories.CREATE_WITH_PROPERTIES)
class ForgetsProperties(ButDrafts):
    """A new table has no properties."""

    kind = ops.Create

    def bend(self, draft, operation, snapshot):
        draft.others[-1]["metaData"]["configuration"] = {}
        return draft


@trips("write.data-files-readable", stories.VACUUM)
class VacuumsLiveFiles(Reference):
    """A vacuum deletes a live file."""

    def unreferenced(self, snapshot, hours):
        live = paths.resolve(self.folder, next(iter(live_adds(snapshot))).path)
        return [*super().unreferenced(snapshot, hours), live]


@trips("write.data-change-false-keeps-rows", stories.OPTIMIZE)
class HidesDataChanges(Reference):
    """An append says that it changes no data."""

    def write(self, layout, rows, files, *, data_change):
        return super().write(layout, rows, files, data_change=False)


@trips("write.states-stay", stories.VACUUM_GENTLY)
class VacuumsTooEarly(Reference):
    """A vacuum deletes files that the retention protects."""

    def unreferenced(self, snapshot, hours):
        return super().unreferenced(snapshot, 0.0)


@trips("log.loads", stories.APPEND)
@trips("log.commit-is-json-lines", stories.APPEND)
class WritesHalfACommit(Reference):
    """A commit is cut in the middle."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        super().publish(version, forms)
        if version == 1:
            path = self.folder / "_delta_log" / commit_name(version)
            path.write_bytes(path.read_bytes()[:-40])

    def commit(self, draft, snapshot, operation, tag):
        outcome = super().commit(draft, snapshot, operation, tag) if snapshot is None else None
        if outcome is None:
            self.publish(snapshot.version + 1, [actions.commit_info(operation, tag, 1), *draft.forms])
        return Committed()


@trips("log.path-added-once", stories.APPEND)
class DuplicatesAnAdd(Reference):
    """A commit holds each add twice."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        super().publish(version, [*forms, *(form for form in forms if "add" in form)])


@trips("log.remove-names-live-file", stories.OVERWRITE)
class RemovesNobody(Reference):
    """A remove names a file that never was."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for form in forms:
            if "remove" in form:
                form["remove"]["path"] = f"x{form['remove']['path']}"
        super().publish(version, forms)


@trips("contents.append", stories.IN_PARTITIONS)
class WrongPartitionValue(Reference):
    """Each new file is said to belong to the partition of another."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        files = [form["add"] for form in forms if "add" in form]
        values = [each["partitionValues"] for each in files]
        for each, other in zip(files, [*values[1:], *values[:1]], strict=True):
            each["partitionValues"] = other
        super().publish(version, forms)


class BendsStatistics(Reference):
    """Lies in the statistics of new files."""

    def bend(self, stats: dict[str, Any]) -> None:
        raise NotImplementedError

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for form in forms:
            if "add" in form:
                stats = json.loads(form["add"]["stats"])
                self.bend(stats)
                form["add"]["stats"] = json.dumps(stats)
        super().publish(version, forms)


@trips("stats.max-values", stories.APPEND)
class StatisticsTooTight(BendsStatistics):
    """The maximum of a column is said to be its minimum."""

    def bend(self, stats):
        stats["maxValues"]["id"] = stats["minValues"]["id"]


@trips("stats.min-values", stories.APPEND)
class MinimumTooHigh(BendsStatistics):
    """The minimum of a column is said to be its maximum."""

    def bend(self, stats):
        stats["minValues"]["id"] = stats["maxValues"]["id"]


@trips("stats.tight-bounds", stories.APPEND)
class WideBoundsPresentedAsTight(BendsStatistics):
    """Wide bounds are presented as tight."""

    def bend(self, stats):
        for name, value in stats["maxValues"].items():
            if type(value) is int:
                stats["maxValues"][name] = value + 100


@trips("stats.null-count", stories.APPEND)
class CountsNullsWrong(BendsStatistics):
    """There is said to be no null."""

    def bend(self, stats):
        stats["nullCount"]["id"] = 0


@trips("stats.num-records", stories.APPEND)
class CountsRowsWrong(BendsStatistics):
    """There is said to be one row more."""

    def bend(self, stats):
        stats["numRecords"] += 1


@trips("checkpoint.hint-names-checkpoint", stories.CHECKPOINT)
class HintAheadOfTheLog(Reference):
    """The hint names a checkpoint that does not exist."""

    def checkpoint(self, snapshot):
        super().checkpoint(snapshot)
        hint = self.folder / "_delta_log" / "_last_checkpoint"
        hint.write_text(json.dumps({**json.loads(hint.read_text()), "version": snapshot.version + 5}))


@trips("checkpoint.equals-replay", stories.CHECKPOINT)
class ResurrectsATombstone(Reference):
    """A checkpoint has a tombstone of a file that no commit removed."""

    def checkpoint(self, snapshot):
        ghost = Remove("ghost.parquet", data_change=True, deletion_timestamp=actions.now())
        super().checkpoint(replace(snapshot, tombstones={**snapshot.tombstones, ghost.key: ghost}))


@trips("log.commit-never-changes", stories.DELETE)
class RewritesHistory(ButDrafts):
    """A delete writes an older commit again."""

    kind = ops.Delete

    def bend(self, draft, operation, snapshot):
        path = self.folder / "_delta_log" / commit_name(1)
        path.write_text(path.read_text() + '{"txn":{"appId":"late","version":1}}\n')
        return draft


# What the engine itself answers


class BendsAnswers(Reference):
    """Lies in what it reads."""

    def bend(self, read: ops.Read, answer: Answer) -> Answer | Outcome:
        raise NotImplementedError

    def read(self, read: Look) -> Answer | Outcome:
        answer = super().read(read)
        return (
            self.bend(read, answer) if isinstance(answer, Answer) and isinstance(read, ops.Read) else answer
        )


@trips("read.latest", stories.STALE)
class StaleReads(Reference):
    """A read of the newest version answers with the one before."""

    def snapshot_for(self, at):
        snapshot = super().snapshot_for(at)
        stale = isinstance(at, ops.Latest) and snapshot.version > 1
        return self.reader.snapshot(snapshot.version - 1) if stale else snapshot


@trips("read.state", stories.TIME_TRAVEL)
class TravelsNowhere(Reference):
    """A read of an earlier version answers with the newest."""

    def snapshot_for(self, at):
        return self.reader.snapshot()


@trips("read.filter", stories.FILTER)
class SkipsWrongly(Reference):
    """A filter skips every file of which a row is null somewhere."""

    @staticmethod
    def may_match(read: ops.Read, snapshot: Snapshot, add: Add) -> bool:
        nulls = (add.statistics or {}).get("nullCount", {})
        return read.where is None or not any(nulls.values())


@trips("read.filter", stories.FILTER_UNKNOWN)
@trips("metamorphic.filter-picks", stories.FILTER_UNKNOWN)
class FiltersUnknownsIn(Reference):
    """A filter lets rows through for which its predicate is unknown."""

    def scan(self, snapshot, read):
        whole = super().scan(snapshot, ops.Read(read.at))
        if read.where is None:
            return super().scan(snapshot, read)
        return Rows(whole.schema, tuple(
            row for row in whole.rows if evaluate(read.where, whole.schema, row) is not False
        ))  # fmt: skip


@trips("read.nan-order", stories.FILTER_NAN)
class FiltersNanOut(Reference):
    """A filter takes every comparison with NaN for false."""

    def scan(self, snapshot, read):
        found = super().scan(snapshot, read)
        return (
            found
            if read.where is None
            else Rows(found.schema, tuple(row for row in found.rows if row[2] == row[2]))
        )


@trips("write.nan-order", stories.DELETE_NAN)
class DeletesNoNan(ButDrafts):
    """A delete takes every comparison with NaN for false."""

    kind = ops.Delete

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Delete):
            after = after.with_rows((*after.rows, *(row for row in before.rows if row[2] != row[2])))
        return Reference.draft(self, operation, snapshot, before, after)


@trips("read.cold", stories.REOPEN)
class ForgetsWhenCold(BendsAnswers):
    """A session that sees the table for the first time misses its last row."""

    opened = 0

    def open(self, location: str) -> None:
        super().open(location)
        self.opened += 1

    def bend(self, read, answer):
        return (
            answer
            if self.opened < 2
            else Answer(answer.table.slice(0, answer.table.num_rows - 1), answer.version)
        )


@trips("read.columns", stories.APPEND)
class AnswersInAnotherOrder(BendsAnswers):
    """The columns of an answer are in the reverse order."""

    def bend(self, read, answer):
        return Answer(answer.table.select(answer.table.column_names[::-1]), answer.version)


@trips("read.columns", stories.APPEND)
class AnswersInAnotherType(BendsAnswers):
    """Longs are answered as doubles."""

    def bend(self, read, answer):
        position = answer.table.schema.get_field_index("id")
        column = answer.table.column("id").cast(pa.float64())
        return Answer(answer.table.set_column(position, "id", column), answer.version)


@trips("read.version", stories.APPEND)
class SaysAnotherVersion(BendsAnswers):
    """An answer is said to be of the next version."""

    def bend(self, read, answer):
        return Answer(answer.table, answer.version + 1)


@trips("read.succeeds", stories.TIME_TRAVEL)
class CannotTravel(Reference):
    """A read of an earlier version that the log still holds is refused."""

    def read(self, read):
        return super().read(read) if isinstance(read.at, ops.Latest) else Rejected("missing-version", "gone")


@trips("read.refuses-what-is-not-there", stories.READ_NO_TABLE)
class ReadsNothing(Reference):
    """A read of a table that does not exist answers with no rows."""

    def read(self, read):
        answer = super().read(read)
        return Answer(pa.table({})) if isinstance(answer, Rejected) else answer


@trips("metamorphic.upkeep-keeps-answer", stories.OPTIMIZE)
class ReadsOldAndNew(BendsAnswers):
    """After compaction the rows of the old files are answered beside those of the new one."""

    def bend(self, read, answer):
        commit = self.reader.commits(answer.version)[-1] if answer.version else None
        if commit is None or commit.data_change:
            return answer
        return Answer(pa.concat_tables([answer.table, answer.table]), answer.version)


# The process


@trips("host.lives", stories.APPEND)
class Dies(OnOne):
    """The process dies of an append."""

    def crook(self, operation, snapshot, tag):
        raise HostDied("reference", -11, "append", "Segmentation fault")


@trips("host.answers", stories.APPEND)
class Hangs(OnOne):
    """An append is never answered."""

    def crook(self, operation, snapshot, tag):
        raise HostHung("reference", 60.0, "append", "")


@trips("host.speaks", stories.APPEND)
class Babbles(OnOne):
    """An append is answered with garbage."""

    def crook(self, operation, snapshot, tag):
        raise HostGarbage("reference", "not a frame", "append", "")
