"""Dropping a table takes the files of a managed one, and leaves those of an external one."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleStep, Live
from delta_models.operations import Append, Create, Drop
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("note", STRING))
ROWS = ((1, "kept?"), (2, None))


def managed() -> Example:
    """The catalogue owns the files."""
    return _example("drop-managed", "Dropping a managed table deletes its files.", is_managed=True)


def external() -> Example:
    """The catalogue only knows where the files are."""
    return _example(
        "drop-external", "Dropping an external table leaves its files where they are.", is_managed=False
    )


def _example(name: str, sentence: str, *, is_managed: bool) -> Example:
    dropped = ExampleStep(
        "drop",
        Drop(),
        None if is_managed else ROWS,
        None if is_managed else (Live(1),),
        folder=not is_managed,
    )
    return Example(
        name=name,
        sentence=sentence,
        schema=SCHEMA,
        steps=(
            ExampleStep("create", Create(SCHEMA, name="dropped", managed=is_managed), (), ()),
            ExampleStep("write", Append(Rows(SCHEMA, ROWS)), ROWS, (Live(1),)),
            dropped,
        ),
    )
