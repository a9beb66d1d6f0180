"""What a commit counts of itself: rows and files, under the names that delta-spark gives them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from delta_adapters.reference.actions import Form
from delta_models import operations as ops
from delta_models.expressions import compiled
from delta_models.table import Table
from delta_models.table.merge import count_merged_rows


def metrics(
    operation: ops.Operation, before: Table, after: Table, adds: Sequence[Form], removes: Sequence[Form]
) -> dict[str, int]:
    """The counts of an operation that turned one state of the table into another by these actions."""
    gone = {remove["remove"]["path"] for remove in removes}
    fresh = [add["add"] for add in adds if add["add"]["path"] not in gone]
    files = {"numAddedFiles": len(fresh), "numRemovedFiles": len(gone) - (len(adds) - len(fresh))}
    match operation:
        case ops.Append() | ops.CreateAs() | ops.Overwrite(where=None, dynamic=False):
            return {"numFiles": len(fresh), "numOutputRows": _rows(fresh)}
        case ops.Delete():
            deleted = len(before.rows) - len(after.rows)
            return {**files, "numDeletedRows": deleted, "numCopiedRows": _rows(fresh)}
        case ops.Update(where=where):
            picks = compiled(where, before.schema) if where is not None else None
            return {
                **files,
                "numUpdatedRows": sum(picks is None or picks(row) is True for row in before.rows),
            }
        case ops.Merge():
            found = count_merged_rows(before, operation)
            if found is not None:
                rows = (found.inserted, found.updated, found.deleted)
                names = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
                return dict(zip(names, rows, strict=True))
        case ops.Optimize() | ops.ZOrder():
            return files
    return {}


def _rows(adds: Sequence[Form]) -> int:
    return sum(json.loads(add["stats"]).get("numRecords", 0) for add in adds if add.get("stats"))
