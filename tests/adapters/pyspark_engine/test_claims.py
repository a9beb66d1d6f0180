"""What the adapter of the in-house engine says of it, without a JVM."""

from __future__ import annotations

import pytest

from delta_adapters.capabilities import Capabilities
from delta_adapters.deviations import all_deviations
from delta_adapters.pyspark_engine import PysparkEngine
from delta_adapters.pyspark_engine.rejections import KINDS, outcome_of
from delta_adapters.registry import availability, parse_engine
from delta_models.outcomes import REJECTIONS, Rejected, Unknown
from delta_models.wire_names import ALPHABET
from pyspark_delta import exceptions, features


def test_no_deviation_of_the_engine_is_ever_excused():
    """Its findings are bugs to mend: an entry for it may not land."""
    assert [deviation.name for deviation in all_deviations() if deviation.engine == "pyspark"] == []


def test_it_is_an_engine_by_name_that_promises_to_behave_as_delta_spark():
    assert parse_engine("pyspark").adapter == "delta_adapters.pyspark_engine:PysparkEngine"
    assert availability("pyspark")
    assert PysparkEngine().identity.compatible_with == ("delta-spark",)


def test_its_capability_document_is_valid_and_names_what_exists():
    claimed = Capabilities.validated(PysparkEngine().capabilities)
    assert set(claimed.operations) <= set(ALPHABET)
    performed = {each.__name__ for each in PysparkEngine.PERFORM}
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
        each = getattr(exceptions, name)
        assert each in open_ended or issubclass(each, tuple(kind for kind, _ in KINDS)), name


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
def test_a_refusal_is_told_by_its_class(error, kind):
    found = outcome_of(error)
    assert isinstance(found, Rejected)
    assert found.kind == kind


def test_a_commit_of_which_nobody_knows_is_unknown():
    assert isinstance(outcome_of(exceptions.CommitOutcomeUnknown("x")), Unknown)
