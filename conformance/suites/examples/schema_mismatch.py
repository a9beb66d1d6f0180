"""Rows whose schema does not fit are refused before any file of theirs is registered."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleStep, Live
from delta_models.operations import Append, Create
from delta_models.outcomes import Rejected
from delta_models.schema import DATE, LONG, STRING, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("day", DATE))
FITTING = ((1, 0), (2, 19_000))
MORE = struct(("id", LONG), ("day", DATE), ("note", STRING))
OTHER = struct(("id", LONG), ("day", STRING))


def misfit_refused() -> Example:
    """A column too many, then a type that can't be cast."""
    refused = Rejected("schema")
    return Example(
        name="misfit-refused",
        sentence="A write whose schema does not fit adds no version.",
        schema=SCHEMA,
        steps=(
            ExampleStep("create", Create(SCHEMA), (), ()),
            ExampleStep("write", Append(Rows(SCHEMA, FITTING)), FITTING, (Live(1),)),
            ExampleStep(
                "a column too many", Append(Rows(MORE, ((3, 0, "x"),))), FITTING, (Live(1),), outcome=refused
            ),
            ExampleStep(
                "a type that does not fit",
                Append(Rows(OTHER, ((3, "soon"),))),
                FITTING,
                (Live(1),),
                outcome=refused,
            ),
            ExampleStep("write", Append(Rows(SCHEMA, FITTING)), FITTING * 2, (Live(1), Live(4))),
        ),
    )
