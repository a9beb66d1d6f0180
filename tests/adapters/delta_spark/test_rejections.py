import pytest

from delta_adapters.delta_spark import rejections
from delta_adapters.delta_spark.rejections import classify
from delta_adapters.spark.jvm_errors import Cause, describe
from delta_models.outcomes import REJECTIONS


def _cause(
    name: str = "java.lang.Exception",
    condition: str | None = None,
    state: str | None = None,
    message: str = "",
) -> Cause:
    return Cause(name, condition, state, message)


def test_every_kind_in_the_tables_is_one_of_the_vocabulary():
    kinds = {*rejections.CONDITIONS.values(), *rejections.CLASSES.values(), *rejections.STATES.values()}
    kinds |= {kind for _, _, kind in rejections.MESSAGES}
    assert kinds <= set(REJECTIONS)


@pytest.mark.parametrize(
    ("causes", "kind"),
    (
        ((_cause(condition="DELTA_METADATA_MISMATCH", state="42KDG"),), "schema"),
        (
            (_cause(condition="DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT", state="2D521"),),
            "conflict.append",
        ),
        ((_cause("io.delta.exceptions.ConcurrentDeleteReadException"),), "conflict.delete-read"),
        ((_cause("org.apache.hadoop.fs.FSError", message="No space left on device"),), "io"),
        ((_cause(state="23999", condition="SOMETHING_NEW"),), "constraint"),
        ((_cause(state="42999", condition="SOMETHING_NEW"),), "bad-argument"),
        ((_cause("java.io.IOException", message="Mkdirs failed to create x"),), "io"),
        ((_cause("java.lang.NullPointerException", message="boom"),), "unclassified"),
        ((), "unclassified"),
    ),
    ids=str,
)
def test_a_chain_is_classified_by_what_it_says(causes, kind):
    assert classify(causes) == kind


def test_a_telling_condition_deep_in_the_chain_beats_a_vague_state_above_it():
    causes = (
        _cause("org.apache.spark.SparkException", "TASK_WRITE_FAILED", "58030"),
        _cause("org.apache.spark.sql.AnalysisException", "SOMETHING", "42000"),
        _cause("x.DeltaInvariantViolationException", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "23001"),
    )
    assert classify(causes) == "constraint"


def test_the_words_are_the_first_line_of_each_link_that_adds_something():
    causes = (
        _cause("a.b.Outer$Inner", message="first\nsecond"),
        _cause("c.Same", message="first"),
        _cause("d.Root", message="why"),
    )
    assert describe(causes) == "Inner: first <- Root: why"
