"""Worked examples: short histories with the live files and rows written down after every step; data, no engine.

`EXAMPLES` maps names to functions that make them, for some have a hundred thousand rows. `model` says what
each field means. The suite plays them on engines, the tests play them on the model.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.suites.examples import (
    append_overwrite,
    drop_table,
    invoices,
    many_writes,
    schema_mismatch,
    update_delete_append,
    vacuum_retention,
)
from conformance.suites.examples.model import (
    Example,
    ExampleOutcome,
    ExampleStep,
    Live,
    Orphan,
    check_example_on_model,
)

__all__ = ["EXAMPLES", "Example", "ExampleOutcome", "ExampleStep", "Live", "Orphan", "check_example_on_model"]

EXAMPLES: dict[str, Callable[[], Example]] = {
    "invoices": invoices.by_rewriting,
    "invoices-with-deletion-vectors": invoices.with_deletion_vectors,
    "some-table": append_overwrite.some_table,
    "ingest-update-delete-append": update_delete_append.ingest_update_delete_append,
    "many-writes-and-a-checkpoint": many_writes.many_writes_and_a_checkpoint,
    "overwrite-then-vacuum": vacuum_retention.overwrite_then_vacuum,
    "misfit-refused": schema_mismatch.misfit_refused,
    "drop-managed": drop_table.managed,
    "drop-external": drop_table.external,
}
