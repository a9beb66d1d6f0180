"""Many writes, one that fails and leaves an orphan, an update, and the checkpoint that the engine makes by itself."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleStep, Live, Orphan
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Update
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Row, Rows

SCHEMA = struct(("batch", LONG), ("note", STRING))
WRITES = 9
INTERVAL = 10


def many_writes_and_a_checkpoint() -> Example:
    """The table is created in version 0, written in 1 to 9, and updated in 10."""
    writes = [((number, f"batch {number}"),) for number in range(1, WRITES + 1)]
    so_far: list[tuple[Row, ...]] = [()]
    for write in writes:
        so_far.append(so_far[-1] + write)
    everything = so_far[-1]
    alive = tuple(Live(number) for number in range(1, WRITES + 1))
    updated = (*everything[:-1], (WRITES, "checked"))
    orphan = WRITES + 1
    return Example(
        name="many-writes-and-a-checkpoint",
        sentence="An orphan is never read, and the checkpoint holds the state of its version.",
        schema=SCHEMA,
        checkpoints={"delta-spark": 10, "delta-rs": 9},
        steps=(
            ExampleStep(
                "create", Create(SCHEMA, properties=(("delta.checkpointInterval", str(INTERVAL)),)), (), ()
            ),
            *(
                ExampleStep(
                    f"write {number}",
                    Append(Rows(SCHEMA, writes[number - 1])),
                    so_far[number],
                    alive[:number],
                )
                for number in range(1, WRITES + 1)
            ),
            ExampleStep("a write that fails", Orphan(((99, "never committed"),)), everything, alive),
            ExampleStep(
                "update",
                Update(
                    (("note", Literal(STRING, "checked")),),
                    Compare("=", Column(("batch",)), Literal(LONG, WRITES)),
                ),
                updated,
                (*alive[:-1], Live(orphan + 1)),
                tombstones=(WRITES,),
            ),
        ),
    )
