"""The claims and rejections of the in-house engine's adapter, tested without a JVM."""

from __future__ import annotations

import pytest

from delta_adapters.capabilities import Capabilities
from delta_adapters.deviations import all_causes
from delta_adapters.pyspark_engine import PysparkEngine
from delta_adapters.pyspark_engine.rejections import KINDS, outcome_of
from delta_adapters.registry import availability, parse_engine
from delta_models.outcomes import REJECTIONS, Rejected, Unknown
from delta_models.wire_names import ALPHABET
from pyspark_delta import exceptions, features


def test_no_cause_of_the_engine_is_ever_excused():
    """Findings of the in-house engine are bugs to fix: it may have no known causes."""
    assert [cause.id for cause in all_causes() if cause.engine == "pyspark"] == []


def test_it_is_an_engine_by_name_that_promises_to_behave_as_delta_spark():
    assert parse_engine("pyspark").adapter == "delta_adapters.pyspark_engine:PysparkEngine"
    assert availability("pyspark")
    assert PysparkEngine().identity.compatible_with == ("delta-spark",)


def test_its_capability_document_is_valid_and_names_what_exists():
    claimed = Capabilities.validated(PysparkEngine().capabilities)
    assert set(claimed.operations) <= set(ALPHABET)
    performed = {operation.__name__ for operation in PysparkEngine.PERFORM}
    assert set(claimed.operations) - performed <= {"Read", "History", "Detail"}


def test_it_claims_the_features_that_the_engine_supports_and_no_others():
    claimed = Capabilities.validated(PysparkEngine().capabilities)
    assert claimed.read_features == features.READABLE
    assert claimed.write_features == features.WRITABLE


def test_every_kind_of_refusal_is_one_of_the_vocabulary():
    assert {kind for _, kind in KINDS} <= set(REJECTIONS)


def test_every_exception_of_the_engine_has_a_kind():
    open_ended = {exceptions.DeltaError, exceptions.CommitOutcomeUnknown}
    for name in exceptions.__all__:
        exception = getattr(exceptions, name)
        assert exception in open_ended or issubclass(exception, tuple(kind for kind, _ in KINDS)), name


@pytest.mark.parametrize(
    ("error", "kind"),
    (
        (exceptions.EmptyLog("x"), "missing-table"),
        (exceptions.RetentionTooShort("x"), "retention"),
        (exceptions.InvalidArgument("x"), "bad-argument"),
        (exceptions.ConcurrentAppendException("x"), "conflict.append"),
        (OSError(5, "x"), "io"),
        (ValueError("x"), "bad-argument"),
    ),
)
def test_a_refusal_is_reported_by_its_class(error, kind):
    outcome = outcome_of(error)
    assert isinstance(outcome, Rejected)
    assert outcome.kind == kind


def test_a_commit_with_an_unknown_outcome_is_unknown():
    assert isinstance(outcome_of(exceptions.CommitOutcomeUnknown("x")), Unknown)
