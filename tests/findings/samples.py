"""Findings to keep, load and script."""

from __future__ import annotations

from typing import Any

from conformance.findings import Finding, FindingKey
from conformance.histories import History, Step
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.schema import BOOLEAN, DATE, DOUBLE, LONG, STRING, TIMESTAMP, DecimalType, struct
from delta_models.values import Decimal, Rows

SCHEMA = struct(
    ("id", LONG), ("na-me", STRING), ("price", DOUBLE), ("day", DATE), ("at", TIMESTAMP), ("sum", DecimalType(12, 3)),
    ("ok", BOOLEAN),
)  # fmt: skip
ROWS = (
    (1, 'it\'s "é"', 1.5, 19_000, 1_700_000_000_000_001, Decimal(-1500, 3), True),
    (2, None, float("nan"), -719_162, -62_135_596_800_000_000, None, None),
    (None, "", -0.0, None, None, Decimal(0, 3), False),
)
ID = Column(("id",))
OPERATIONS: tuple[ops.Operation, ...] = (
    ops.Create(SCHEMA, (), (("delta.checkpointInterval", "3"),)),
    ops.Append(Rows(SCHEMA, ROWS), files=2),
    ops.Overwrite(Rows(SCHEMA, ROWS[:1]), where=Compare("=", ID, Literal(LONG, 1))),
    ops.Update((("price", Literal(DOUBLE, 2.5)),), Compare(">", ID, Literal(LONG, 1))),
    ops.Reopen(),
    ops.Merge(
        Rows(SCHEMA, (*ROWS[:1], (9, "new", 0.5, 0, 0, None, None))),
        Compare("=", Column(("source", "id")), Column(("target", "id"))),
        (
            ops.MergeClause("matched", "update", (("price", Literal(DOUBLE, 7.0)),)),
            ops.MergeClause("not-matched", "insert", everything=True),
        ),
    ),
    ops.Optimize(),
    ops.Delete(Compare("=", ID, Literal(LONG, 9))),
    ops.Restore(ops.AtState(5)),
    ops.Vacuum(168.0),
)


def history(*operations: ops.Operation, seed: int = 7) -> History:
    return History(
        "lockstep", "dev", 3, seed, tuple(Step(operation) for operation in operations or OPERATIONS)
    )


def finding(requirement: str = "contents.append", **changes: Any) -> Finding:
    failing_history = changes.pop("history", history())
    key = FindingKey(
        requirement, "delta-rs", "Append", ("files",), ("1/2",), ("decimal", "string partition"), "Committed"
    )
    fields: dict[str, Any] = {
        "key": key,
        "strength": "must",
        "engine": "delta-rs@1.6.6",
        "role": "writer",
        "step": len(failing_history.steps) - 1,
        "action": "Append 3 rows",
        "detail": '3 rows; missing (1, \'a\'); not expected (2, """b""")',
        "history": failing_history,
    }
    return Finding(**(fields | changes))
