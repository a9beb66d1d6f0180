"""Ingest, update, delete, append: in the end only the last file is alive."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleStep, Live
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Update
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("state", STRING))
INGESTED = tuple((number, "new") for number in range(1, 6))
UPDATED = (*INGESTED[:3], (4, "seen"), (5, "seen"))
APPENDED = ((6, "new"), (7, "new"))


def ingest_update_delete_append() -> Example:
    """Each change replaces the one live file; the delete takes all rows, and with them the file."""
    return Example(
        name="ingest-update-delete-append",
        sentence="After a delete of all rows nothing is alive, and after an append exactly its file.",
        schema=SCHEMA,
        steps=(
            ExampleStep("create", Create(SCHEMA), (), ()),
            ExampleStep("ingest", Append(Rows(SCHEMA, INGESTED)), INGESTED, (Live(1),)),
            ExampleStep(
                "update",
                Update(
                    (("state", Literal(STRING, "seen")),), Compare(">", Column(("id",)), Literal(LONG, 3))
                ),
                UPDATED,
                (Live(2),),
                tombstones=(1,),
            ),
            ExampleStep("delete", Delete(), (), (), tombstones=(1, 2)),
            ExampleStep("append", Append(Rows(SCHEMA, APPENDED)), APPENDED, (Live(4),), tombstones=(1, 2)),
        ),
    )
