"""The builder method that adds each kind of merge clause. deltalake and delta-spark name these methods alike."""

from __future__ import annotations

from delta_adapters.dialects import Inexpressible
from delta_models.operations import MergeClause

METHODS = {
    ("matched", "update"): "when_matched_update",
    ("matched", "delete"): "when_matched_delete",
    ("not-matched", "insert"): "when_not_matched_insert",
    ("not-matched-by-source", "update"): "when_not_matched_by_source_update",
    ("not-matched-by-source", "delete"): "when_not_matched_by_source_delete",
}


def builder_method(clause: MergeClause) -> tuple[str, bool]:
    """Return the method's name in snake case, and whether it takes assignments.

    Raises Inexpressible if no merge has such a clause.
    """
    kind = (clause.when, clause.action)
    takes_all = clause.everything and clause.action != "delete"
    if kind not in METHODS or (takes_all and clause.when == "not-matched-by-source"):
        raise Inexpressible(
            f"a merge clause {clause.when}, {clause.action}{' *' if clause.everything else ''}"
        )
    return f"{METHODS[kind]}{'_all' if takes_all else ''}", clause.action != "delete" and not takes_all
