"""Mutants that write wrong logs: actions, files, statistics and checkpoints."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from delta_adapters.reference import Reference, actions
from delta_adapters.reference.files import Layout
from delta_models import operations as ops
from delta_models.log import Remove, paths
from delta_models.log.file_names import commit_name
from delta_models.log.reader import live_adds
from delta_models.outcomes import Committed
from tests.mutants import stories
from tests.mutants.registry import trips
from tests.mutants.wrappers import WrongDraft


@trips("write.schema", stories.APPEND)
class MakesColumnsStrict(WrongDraft):
    """A column of a new table becomes NOT NULL."""

    kind = ops.Create

    def bend(self, draft, operation, snapshot):
        form = draft.others[-1]["metaData"]
        form["schemaString"] = form["schemaString"].replace('"nullable":true', '"nullable":false', 1)
        return draft


@trips("write.partitioning", stories.IN_PARTITIONS)
class ForgetsPartitions(WrongDraft):
    """A new table is not partitioned."""

    kind = ops.Create

    def bend(self, draft, operation, snapshot):
        draft.others[-1]["metaData"]["partitionColumns"] = []
        return draft


@trips("write.properties", stories.CREATE_WITH_PROPERTIES)
class ForgetsProperties(WrongDraft):
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


@trips("write.states-stay", stories.TIME_TRAVEL)
class DeletesWhatItReplaces(Reference):
    """An overwrite deletes the files that it takes out of the table."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        super().publish(version, forms)
        for form in forms:
            if "remove" in form:
                paths.resolve(self.folder, form["remove"]["path"]).unlink(missing_ok=True)


@trips("tracking.enabled-whole", stories.TRACK_LATER)
class TracksNewFilesOnly(Reference):
    """Row tracking is switched on, and the files that there are get no row ids."""

    def files_without_row_ids(self, snapshot):
        return []


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


@trips("write.untouched-files-stay", stories.DELETE)
class RewritesEveryFile(Reference):
    """A delete writes every file of the table again."""

    def copy_on_write(self, snapshot, after):
        return list(after.rows), list(live_adds(snapshot)) if snapshot else []


@trips("write.definition-keeps-files", stories.SET)
class RewritesForAProperty(WrongDraft):
    """A property is set, and a file of the table written again."""

    kind = ops.SetProperties

    def bend(self, draft, operation, snapshot):
        old = next(iter(live_adds(snapshot)))
        layout = Layout(snapshot.schema, snapshot.partition_by)
        draft.removes.append(actions.remove(old, data_change=False))
        draft.adds += self.write(layout, self.file_rows(snapshot, old), 1, data_change=False)
        return draft


@trips("checksum.each-commit", stories.APPEND)
class WritesNoChecksums(Reference):
    """A commit gets no version checksum."""

    def checksum(self, snapshot):
        pass


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
        values = [file["partitionValues"] for file in files]
        for file, other in zip(files, [*values[1:], *values[:1]], strict=True):
            file["partitionValues"] = other
        super().publish(version, forms)


class BendsStatistics(Reference):
    """Changes the statistics of new files by `bend`, which a mutant defines."""

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
class RewritesHistory(WrongDraft):
    """A delete writes an older commit again."""

    kind = ops.Delete

    def bend(self, draft, operation, snapshot):
        path = self.folder / "_delta_log" / commit_name(1)
        path.write_text(path.read_text() + '{"txn":{"appId":"late","version":1}}\n')
        return draft
