"""A table of numbers and letters: created, added to, overwritten; what is no longer live still lies in the folder."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleStep, Live
from delta_models.operations import Append, Create, Overwrite
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows

SCHEMA = struct(("num", LONG), ("letter", STRING))
FIRST = ((1, "a"), (2, "b"), (3, "c"))
SECOND = ((8, "dd"), (9, "ee"))
THIRD = ((11, "aa"), (22, "bb"))


def some_table() -> Example:
    """Create, write, append, overwrite."""
    return Example(
        name="some-table",
        sentence="An overwrite removes every live file from the table, and none from the folder.",
        schema=SCHEMA,
        steps=(
            ExampleStep("create", Create(SCHEMA), (), ()),
            ExampleStep("write", Append(Rows(SCHEMA, FIRST)), FIRST, (Live(1),)),
            ExampleStep("append", Append(Rows(SCHEMA, SECOND)), FIRST + SECOND, (Live(1), Live(2))),
            ExampleStep("overwrite", Overwrite(Rows(SCHEMA, THIRD)), THIRD, (Live(3),), tombstones=(1, 2)),
        ),
    )
