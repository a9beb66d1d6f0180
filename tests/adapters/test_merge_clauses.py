import pytest

from delta_adapters.dialects import Inexpressible
from delta_adapters.merge_clauses import builder_method
from delta_adapters.spark.sql_rendering import with_clause
from delta_models.operations import MergeClause


class Recorder:
    """A merge builder that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def __getattr__(self, method):
        return lambda *arguments: self.calls.append((method, *arguments))


@pytest.mark.parametrize(
    ("clause", "method", "takes_assignments"),
    (
        (MergeClause("matched", "update", everything=True), "when_matched_update_all", False),
        (MergeClause("matched", "update"), "when_matched_update", True),
        (MergeClause("matched", "delete"), "when_matched_delete", False),
        (MergeClause("not-matched", "insert", everything=True), "when_not_matched_insert_all", False),
        (MergeClause("not-matched", "insert"), "when_not_matched_insert", True),
        (MergeClause("not-matched-by-source", "update"), "when_not_matched_by_source_update", True),
        (MergeClause("not-matched-by-source", "delete"), "when_not_matched_by_source_delete", False),
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_clause_has_a_method_of_both_builders(clause, method, takes_assignments):
    assert builder_method(clause) == (method, takes_assignments)
    recorder = Recorder()
    with_clause(recorder, clause)
    name, *arguments = recorder.calls[0]
    assert name == "".join(
        part.capitalize() if number else part for number, part in enumerate(method.split("_"))
    )
    assert arguments == [None, {}][: 1 + takes_assignments]


@pytest.mark.parametrize(
    "clause",
    (
        MergeClause("matched", "insert"),
        MergeClause("not-matched", "update"),
        MergeClause("not-matched-by-source", "update", everything=True),
    ),
)
def test_a_clause_that_no_merge_has_is_inexpressible(clause):
    with pytest.raises(Inexpressible, match="a merge clause"):
        builder_method(clause)
