"""Mutants whose operations leave wrong rows, schemas or properties."""

from __future__ import annotations

import shutil
from dataclasses import replace

from delta_adapters.reference import CommitBuilder, Reference, actions
from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.expressions import evaluate
from delta_models.log.reader import live_adds
from delta_models.table import Table
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import WrongDraft, WrongOperation


@trips("contents.create-as", (ops.CreateAs(stories.rows((1, "a", 1.0), (2, "b", 2.0)), source_dropped=True),))
class KeepsNothingOfADroppedSource(WrongOperation):
    """A table that is created from another one loses its rows when that is dropped."""

    kind = ops.CreateAs

    def perform_wrongly(self, operation, snapshot, tag):
        columns = operation.rows.schema
        draft = self.draft(operation, snapshot, Table(), Table(True, columns, operation.partition_by))
        return self.commit(draft, snapshot, "CreateAs", tag)


@trips("log.added-file-exists", (ops.CreateAs(stories.rows((1, "a", 1.0)), source_dropped=True),))
class PointsAtADroppedSource(Reference):
    """A table that is created from another one names the files of that, which are dropped with it."""

    def write(self, layout, rows, files, *, data_change):
        made = super().write(layout, rows, files, data_change=data_change)
        source = self.folder.resolve().parent / "source"
        source.mkdir()
        for form in made:
            file = self.folder / form["add"]["path"]
            file.rename(source / file.name)
            form["add"]["path"] = (source / file.name).as_uri()
        shutil.rmtree(source)
        return made


@trips("contents.create", stories.APPEND)
class CreatesARow(WrongOperation):
    """A new table has a row already."""

    kind = ops.Create

    def perform_wrongly(self, operation, snapshot, tag):
        draft = self.draft(operation, None, Table(), Table(True, operation.schema, operation.partition_by))
        layout = Layout(operation.schema, operation.partition_by)
        draft.adds = self.write(layout, [(1, "a", 1.0)], 1, data_change=True)
        return self.commit(draft, None, "Create", tag)


@trips("contents.create-if-not-exists", stories.CREATE_IF_NOT_EXISTS)
class ClearsWhatExists(WrongOperation):
    """Creating a table only if there is none empties the one that is there."""

    kind = ops.Create

    def perform_wrongly(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot) if snapshot else self.perform_honestly(operation, snapshot, tag)


@trips("contents.append", stories.APPEND)
class DropsARow(WrongDraft):
    """An append loses its last row."""

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Append):
            after = after.with_rows(after.rows[:-1])
        return Reference.draft(self, operation, snapshot, before, after)


@trips("contents.append-nothing", stories.APPEND_NOTHING)
class AppendsNothingBadly(WrongOperation):
    """An append of no rows takes a file away."""

    def perform_wrongly(self, operation, snapshot, tag):
        return (
            self.perform_honestly(operation, snapshot, tag)
            if operation.rows.rows
            else self.lose_a_file(snapshot)
        )


@trips("contents.overwrite", stories.OVERWRITE)
class DropsARemove(WrongDraft):
    """An overwrite forgets to remove the old files."""

    kind = ops.Overwrite

    def bend(self, draft, operation, snapshot):
        draft.removes = []
        return draft


@trips("contents.replace-where", stories.REPLACE_WHERE)
class ReplacesEverything(WrongDraft):
    """An overwrite with a predicate overwrites the whole table."""

    kind = ops.Overwrite

    def bend(self, draft, operation, snapshot):
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft.removes = [actions.remove(add, data_change=True) for add in live_adds(snapshot)]
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
class DeletesUnknowns(WrongDraft):
    """A delete takes the rows as well for which its predicate is unknown."""

    kind = ops.Delete

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Delete) and operation.where is not None:
            kept = tuple(row for row in before.rows if evaluate(operation.where, before.schema, row) is False)
            after = after.with_rows(kept)
        return Reference.draft(self, operation, snapshot, before, after)


@trips("contents.delete-all", stories.DELETE_ALL)
class DeletesAllButOneFile(WrongDraft):
    """A delete of everything leaves a file."""

    kind = ops.Delete

    def bend(self, draft, operation, snapshot):
        draft.removes = draft.removes[1:]
        return draft


@trips("contents.delete-nothing", stories.DELETE_NOTHING)
class DeletesAtLeastOne(WrongOperation):
    """A delete that picks no row takes a file away."""

    kind = ops.Delete

    def perform_wrongly(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.update", stories.UPDATE)
class UpdatesTwice(WrongDraft):
    """An update writes its rows twice."""

    kind = ops.Update

    def bend(self, draft, operation, snapshot):
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft.adds += self.write(layout, [(1, "a", 8.0)], 1, data_change=True)
        return draft


@trips("contents.update-nothing", stories.UPDATE_NOTHING)
class UpdatesAtLeastOne(WrongOperation):
    """An update that picks no row takes a file away."""

    kind = ops.Update

    def perform_wrongly(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.merge", stories.MERGE)
class ForgetsInserts(WrongDraft):
    """A merge does not insert."""

    kind = ops.Merge

    def draft(self, operation, snapshot, before, after):
        if isinstance(operation, ops.Merge):
            after = after.with_rows(tuple(row for row in after.rows if row[0] != 8))
        return Reference.draft(self, operation, snapshot, before, after)


@trips("contents.merge-nothing", stories.MERGE_NOTHING)
class MergesAtLeastOne(WrongOperation):
    """A merge in which no clause acts takes a file away."""

    kind = ops.Merge

    def perform_wrongly(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.restore", stories.RESTORE)
class RestoresWithoutRemoving(Reference):
    """A restore brings old files back, and removes none of the newer ones."""

    def restore(self, snapshot, version, tag):
        goal = self.reader.snapshot(version)
        back = [actions.add_again(add, data_change=True) for add in live_adds(goal)]
        return self.commit(CommitBuilder(back), snapshot, "Restore", tag)


@trips("contents.optimize", stories.OPTIMIZE)
@trips("write.data-change-false-keeps-rows", stories.OPTIMIZE)
class CompactsBadly(Reference):
    """Compacting files loses a row."""

    def write(self, layout, rows, files, *, data_change):
        return super().write(layout, rows if data_change else rows[:-1], files, data_change=data_change)


@trips("contents.vacuum", stories.VACUUM)
class VacuumsOutOfTheTable(WrongOperation):
    """A vacuum takes a live file out of the table."""

    kind = ops.Vacuum

    def perform_wrongly(self, operation, snapshot, tag):
        return self.lose_a_file(snapshot)


@trips("contents.checkpoint", stories.CHECKPOINT)
@trips("checkpoint.equals-replay", stories.CHECKPOINT)
class ForgetsInCheckpoints(Reference):
    """A checkpoint lacks a live file."""

    def checkpoint(self, snapshot):
        forgotten = next(iter(snapshot.live))
        live = {key: add for key, add in snapshot.live.items() if key != forgotten}
        super().checkpoint(replace(snapshot, live=live))


@trips("contents.set-properties", stories.SET)
class SetsOtherProperties(WrongDraft):
    """A property gets another value than was asked for."""

    kind = ops.SetProperties

    def bend(self, draft, operation, snapshot):
        draft.others[-1]["metaData"]["configuration"]["delta.checkpointInterval"] = "4"
        return draft


@trips("contents.unset-properties", stories.UNSET)
class KeepsProperties(WrongDraft):
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
            self.commit(CommitBuilder(), snapshot, "Read", "")
        return answer


@trips("contents.drop-managed", stories.DROP)
class DropsTheNameOnly(Reference):
    """Dropping a managed table leaves its files."""

    def delete_files(self):
        for path in (self.folder / "_delta_log").iterdir():
            path.unlink()


@trips("contents.drop-external", stories.DROP_EXTERNAL)
class DropsTooMuch(Reference):
    """Dropping an external table takes its files away."""

    def drop(self):
        self.delete_files()
        return super().drop()
