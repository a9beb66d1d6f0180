"""DELETE: remove whole files if the log alone can decide; else write deletion vectors, or rewrite files."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession

from pyspark_delta.commands.command_context import Change, Timer, changing, now_ms, total
from pyspark_delta.commands.conditions import Condition, analyse
from pyspark_delta.commands.file_candidates import Candidates, find_candidates, known_live_rows, whole_files
from pyspark_delta.log.actions import Add, Remove, dump
from pyspark_delta.log.delta_log import DeltaLog
from pyspark_delta.scan import FILE, ROW

__all__ = ["delete"]


def delete(
    spark: SparkSession, log: DeltaLog, condition: str | Column | None = None, alias: str | None = None
) -> dict[str, int]:
    """Delete the rows that the condition picks, all rows without a condition; return the metrics of the history."""
    with changing(spark, log) as change:
        change.refuse_if_append_only("DELETE")
        schema = change.snapshot.schema
        analysed = None if condition is None else analyse(spark, schema, condition, "DELETE", alias)
        deletion = _Deletion(change, analysed, alias)
        if analysed is None or analysed.constant:
            return deletion.of_files(find_candidates(change, None).adds)
        if analysed.constant is False:
            return {}
        candidates = find_candidates(change, analysed)
        if not candidates.adds:
            return {}
        files = whole_files(change, analysed, candidates)
        if files is not None:
            return deletion.of_files(files)
        if change.deletion_vectors_wanted():
            return deletion.by_vectors(candidates)
        if candidates.are_one_small_file():
            return deletion.at_once(candidates)
        return deletion.by_rewriting(candidates)


class _Deletion:
    """The ways to delete. Each ends in a commit unless there is nothing to delete."""

    def __init__(self, change: Change, condition: Condition | None, alias: str | None) -> None:
        self._change = change
        self._condition = condition
        self._alias = alias
        self._timer = Timer()

    def of_files(self, adds: Sequence[Add]) -> dict[str, int]:
        """Remove these files with all their rows."""
        if not adds:
            return {}
        rows = known_live_rows(adds)
        now = now_ms()
        metrics = {"numRemovedFiles": len(adds), "numAddedFiles": 0, "numCopiedRows": 0}
        if rows is not None:
            metrics["numDeletedRows"] = rows
        metrics["numDeletionVectorsRemoved"] = sum(add.deletion_vector is not None for add in adds)
        return self._commit([add.remove(now) for add in adds], [], metrics)

    def by_vectors(self, candidates: Candidates) -> dict[str, int]:
        """Mark rows as deleted; no data is written."""
        rows = candidates.pick(self._rows(candidates, picked=True))
        scanned = self._timer.ms()
        marked = self._change.mark(candidates.adds, rows)
        if not marked.removes:
            return {}
        metrics = {
            "numRemovedFiles": marked.whole_files,
            "numAddedFiles": 0,
            "numCopiedRows": 0,
            "numDeletedRows": marked.rows,
            "numDeletionVectorsAdded": marked.vectors_added,
            "numDeletionVectorsRemoved": marked.vectors_removed,
            "numDeletionVectorsUpdated": marked.vectors_updated,
            "scanTimeMs": scanned,
            "rewriteTimeMs": self._timer.ms(),
        }
        return self._commit(marked.removes, marked.adds, metrics)

    def by_rewriting(self, candidates: Candidates) -> dict[str, int]:
        """Write the files that have such rows anew without them."""
        picked = self._rows(candidates, picked=True)
        rows = candidates.pick(picked) if candidates.fit_arrow_rewrite() else None
        counts = (
            candidates.count(picked) if rows is None else {ordinal: len(row) for ordinal, row in rows.items()}
        )
        scanned = self._timer.ms()
        if not counts:
            return {}
        touched = [candidates.adds[ordinal] for ordinal in counts]
        live = {ordinal: self._change.live_rows(candidates.adds[ordinal]) for ordinal in counts}
        kept = [ordinal for ordinal in sorted(counts) if counts[ordinal] < live[ordinal]]
        added: list[Add] | None = None if kept else []
        if kept and rows is not None:
            added = self._change.rewrite_without(
                [candidates.adds[number] for number in kept], [rows[number] for number in kept]
            )
        if added is None:
            added = self._change.write(self._rows(candidates.only(kept), picked=False))
        deleted = sum(counts.values())
        return self._replace(touched, added, deleted, sum(live.values()) - deleted, scanned)

    def at_once(self, candidates: Candidates) -> dict[str, int]:
        """Rewrite one small file without searching it for such rows first."""
        before = self._change.live_rows(candidates.adds[0])
        added = self._change.write(self._rows(candidates, picked=False))
        after = sum(map(self._change.live_rows, added))
        if after == before:
            self._change.undo()
            return {}
        return self._replace(
            candidates.adds, [add for add in added if self._change.live_rows(add)], before - after, after, 0
        )

    def _rows(self, candidates: Candidates, *, picked: bool) -> DataFrame:
        condition = self._condition
        assert condition is not None  # noqa: S101 - without one there are only whole files
        frame = candidates.frame()
        if self._alias is not None:
            frame = frame.alias(self._alias)
        if picked:
            return frame.where(condition.column)
        return frame.where(condition.others).drop(FILE, ROW)

    def _replace(
        self, old: Sequence[Add], new: Sequence[Add], deleted: int, copied: int, scanned: int
    ) -> dict[str, int]:
        now = now_ms()
        metrics = {
            "numRemovedFiles": len(old),
            "numAddedFiles": len(new),
            "numCopiedRows": copied,
            "numDeletedRows": deleted,
            "numDeletionVectorsRemoved": sum(add.deletion_vector is not None for add in old),
            "scanTimeMs": scanned,
            "rewriteTimeMs": self._timer.ms(),
        }
        return self._commit([add.remove(now) for add in old], new, metrics)

    def _commit(
        self, removes: Sequence[Remove], adds: Sequence[Add], metrics: dict[str, int]
    ) -> dict[str, int]:
        metrics |= {
            "numAddedBytes": total(add for add in adds if add.deletion_vector is None),
            "numRemovedBytes": total(removes) - total(add for add in adds if add.deletion_vector is not None),
            "executionTimeMs": self._change.elapsed_ms(),
        }
        predicate = [] if self._condition is None else [self._condition.text]
        self._change.commit([*removes, *adds], "DELETE", {"predicate": dump(predicate).decode()}, metrics)
        return metrics
