"""Count the operation metrics of a commit: rows and files, under delta-spark's names."""

from __future__ import annotations

import json
from collections.abc import Sequence

from delta_adapters.reference.actions import Form
from delta_models import operations as ops
from delta_models.expressions import compile_expression
from delta_models.table import Table
from delta_models.table.merge import count_merged_rows


def operation_metrics(
    operation: ops.Operation, before: Table, after: Table, adds: Sequence[Form], removes: Sequence[Form]
) -> dict[str, int]:
    """Return the metrics of an operation that turned one state of the table into another by these actions."""
    removed = {remove["remove"]["path"] for remove in removes}
    new = [add["add"] for add in adds if add["add"]["path"] not in removed]
    files = {"numAddedFiles": len(new), "numRemovedFiles": len(removed) - (len(adds) - len(new))}
    match operation:
        case ops.Append() | ops.CreateAs() | ops.Overwrite(where=None, dynamic=False):
            return {"numFiles": len(new), "numOutputRows": _rows(new)}
        case ops.Delete():
            deleted = len(before.rows) - len(after.rows)
            return {**files, "numDeletedRows": deleted, "numCopiedRows": _rows(new)}
        case ops.Update(where=where):
            picks = compile_expression(where, before.schema) if where is not None else None
            return {
                **files,
                "numUpdatedRows": sum(picks is None or picks(row) is True for row in before.rows),
            }
        case ops.Merge():
            merged = count_merged_rows(before, operation)
            if merged is not None:
                rows = (merged.inserted, merged.updated, merged.deleted)
                names = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
                return dict(zip(names, rows, strict=True))
        case ops.Optimize() | ops.ZOrder():
            return files
    return {}


def _rows(adds: Sequence[Form]) -> int:
    return sum(json.loads(add["stats"]).get("numRecords", 0) for add in adds if add.get("stats"))
