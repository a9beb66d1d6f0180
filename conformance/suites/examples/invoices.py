"""The invoices table: five commits of data, and what each leaves alive."""

from __future__ import annotations

from conformance.suites.examples.model import Example, ExampleStep, Live
from delta_models.expressions import Column, Compare, Literal
from delta_models.operations import Append, Create, Delete, Operation, Update
from delta_models.schema import DATE, LONG, STRING, DecimalType, struct
from delta_models.values import Decimal, Row, Rows

SCHEMA = struct(("id", LONG), ("customer", STRING), ("amount", DecimalType(10, 2)), ("issued", DATE))
LAST = 99_457
UPDATED, DELETED = 42, 142
FIRST_DAY = 18_262


def invoice(number: int) -> Row:
    """One invoice, computed from its number."""
    return (number, f"customer {number % 97}", Decimal(number * 7 % 100_000, 2), FIRST_DAY + number % 1461)


def invoices(first: int, last: int) -> tuple[Row, ...]:
    """Invoices by their numbers, both included."""
    return tuple(map(invoice, range(first, last + 1)))


def by_rewriting() -> Example:
    """Changed files are written again, without the old rows."""
    return _example(
        "invoices",
        "An update and a delete each replace the one file that they touch.",
        live=(
            (),
            (Live(1),),
            (Live(1), Live(2)),
            (Live(1), Live(3)),
            (Live(4), Live(3)),
            (Live(4), Live(3), Live(5)),
        ),
    )


def with_deletion_vectors() -> Example:
    """Changed files stay, and their old rows are hidden.

    The protocol lets a writer use deletion vectors, and asks for none. So one that does not promise them may rewrite.
    """
    both = (Live(1, hidden=1), Live(2, hidden=1), Live(3))
    others = (
        (Live(1, hidden=1), Live(3)),
        (Live(4), Live(2, hidden=1), Live(3)),
        (Live(4), Live(3)),
    )
    return _example(
        "invoices-with-deletion-vectors",
        "An update hides the old row and adds a file with the new one; a delete hides a row and adds none.",
        live=(
            (),
            (Live(1),),
            (Live(1), Live(2)),
            (Live(1), Live(2, hidden=1), Live(3)),
            both,
            (*both, Live(5)),
        ),
        rewritten=((), (), (), ((Live(1), Live(3)),), others, tuple((*other, Live(5)) for other in others)),
        deletion_vectors=True,
    )


def _example(
    name: str,
    sentence: str,
    live: tuple[tuple[Live, ...], ...],
    *,
    rewritten: tuple[tuple[tuple[Live, ...], ...], ...] = ((),) * 6,
    deletion_vectors: bool = False,
) -> Example:
    early = invoices(1, 200)
    paid = (UPDATED, "customer 42, moved", Decimal(1, 2), FIRST_DAY)
    updated = (*(row for row in early if row[0] != UPDATED), paid)
    deleted = tuple(row for row in updated if row[0] != DELETED)
    late = invoices(201, LAST)
    changes = (
        ("customer", Literal(STRING, paid[1])),
        ("amount", Literal(SCHEMA["amount"].type, paid[2])),
        ("issued", Literal(DATE, paid[3])),
    )
    properties = (("delta.enableDeletionVectors", "true"),) if deletion_vectors else ()
    steps: tuple[tuple[str, Operation, tuple[Row, ...]], ...] = (
        ("create", Create(SCHEMA, properties=properties), ()),
        ("load 101-200", Append(Rows(SCHEMA, invoices(101, 200))), invoices(101, 200)),
        ("insert 1-100", Append(Rows(SCHEMA, invoices(1, 100))), early),
        ("update one", Update(changes, _number_is(UPDATED)), updated),
        ("delete one", Delete(_number_is(DELETED)), deleted),
        ("insert 201-99457", Append(Rows(SCHEMA, late)), deleted + late),
    )
    return Example(
        name=name,
        sentence=sentence,
        schema=SCHEMA,
        features=("deletionVectors",) if deletion_vectors else (),
        steps=tuple(
            ExampleStep(says, operation, rows, live[number], rewritten=rewritten[number])
            for number, (says, operation, rows) in enumerate(steps)
        ),
    )


def _number_is(number: int) -> Compare:
    return Compare("=", Column(("id",)), Literal(LONG, number))
