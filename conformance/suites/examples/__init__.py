"""Worked examples: short histories with the live files and rows written down after every step; data, no engine.

`EXAMPLES` maps names to functions that make them, for some have a hundred thousand rows. What each field asks for is in
`story`; the suite plays them on engines, the tests play them on the model.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.suites.examples import dropped, invoices, letters, lifecycle, misfit, retained, streaky
from conformance.suites.examples.story import Ended, Example, Live, Orphan, Step, check_example_on_model

__all__ = ["EXAMPLES", "Ended", "Example", "Live", "Orphan", "Step", "check_example_on_model"]

EXAMPLES: dict[str, Callable[[], Example]] = {
    "invoices": invoices.by_rewriting,
    "invoices-with-deletion-vectors": invoices.with_deletion_vectors,
    "some-table": letters.some_table,
    "ingest-update-delete-append": lifecycle.ingest_update_delete_append,
    "many-writes-and-a-checkpoint": streaky.many_writes_and_a_checkpoint,
    "overwrite-then-vacuum": retained.overwrite_then_vacuum,
    "misfit-refused": misfit.misfit_refused,
    "drop-managed": dropped.managed,
    "drop-external": dropped.external,
}
