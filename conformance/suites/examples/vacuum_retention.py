"""An overwrite keeps the old version readable until a vacuum takes its files away."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleOutcome, ExampleStep, Live
from delta_models.operations import Append, AtState, Create, Overwrite, Read, Reopen, Vacuum
from delta_models.outcomes import NoChange
from delta_models.schema import DATE, DOUBLE, LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("score", DOUBLE), ("day", DATE))
OLD = ((1, 1.5, 19_000), (2, None, 19_001))
NEW = ((3, -2.0, 19_002),)


def overwrite_then_vacuum() -> Example:
    """The old version is read before the vacuum, and after it may be refused, but never read wrong."""
    return Example(
        name="overwrite-then-vacuum",
        sentence="What an overwrite removes can be read by its version until a vacuum deletes the files.",
        schema=SCHEMA,
        steps=(
            ExampleStep("create", Create(SCHEMA), (), ()),
            ExampleStep("write", Append(Rows(SCHEMA, OLD)), OLD, (Live(1),)),
            ExampleStep("overwrite", Overwrite(Rows(SCHEMA, NEW)), NEW, (Live(2),), tombstones=(1,)),
            ExampleStep(
                "read the old version",
                Read(AtState(1)),
                NEW,
                (Live(2),),
                read=ExampleOutcome(OLD),
                tombstones=(1,),
            ),
            ExampleStep("vacuum", Vacuum(0.0), NEW, (Live(2),), gone=(1,)),
            ExampleStep("open anew", Reopen(), NEW, (Live(2),), outcome=NoChange(), gone=(1,)),
            ExampleStep(
                "read the old version again",
                Read(AtState(1)),
                NEW,
                (Live(2),),
                read=ExampleOutcome(OLD, may_refuse=True),
                gone=(1,),
            ),
        ),
    )
