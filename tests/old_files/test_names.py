"""Names in files come from tables: a Python class may be renamed, and no file changes."""

import dataclasses
import inspect
import typing

import pytest

from conformance import error_names
from conformance.events import serialization, types
from conformance.histories import History
from delta_adapters.deviations import all_causes
from delta_models import expressions, operations, outcomes, wire_names
from delta_models.expressions import And, Column, IsNull, Not, NotEvaluable
from delta_models.functions import EvaluationError
from delta_models.log import LogError
from delta_models.operations import AtVersion, Delete
from delta_models.sql import SqlError
from tests.old_files.fingerprints import fingerprints, observation
from tests.reporting.samples import ONE_OF_EACH

TABLES = (wire_names.NAMES, serialization.NAMES, error_names.NAMES)
OTHER_TAGS = {"Type", "Field", "Rows"}  # the codec writes these itself


@pytest.mark.parametrize("table", TABLES)
def test_a_name_stands_for_one_class(table):
    assert len(set(table.values())) == len(table)


def test_every_class_of_the_vocabulary_has_a_name():
    classes = {
        kind
        for module in (expressions, operations, outcomes)
        for kind in vars(module).values()
        if inspect.isclass(kind)
        and dataclasses.is_dataclass(kind)
        and kind.__module__.startswith(module.__name__)
    }
    assert classes == set(wire_names.NAMES)
    assert not OTHER_TAGS & wire_names.CLASSES.keys()


def test_every_event_has_a_name():
    assert set(typing.get_args(types.Event)) == set(serialization.NAMES)


def test_every_error_of_the_models_has_a_name():
    assert {
        kind for base in (LogError, SqlError, NotEvaluable, EvaluationError) for kind in family(base)
    } == set(error_names.NAMES)


def family(kind):
    return {kind}.union(*map(family, kind.__subclasses__()))


def test_what_is_not_of_the_vocabulary_has_no_name():
    with pytest.raises(TypeError, match="int is not part of the vocabulary"):
        wire_names.name_of(3)


@pytest.fixture
def rename_classes():
    """Gives every class of the tables another Python name when it is called, until the test ends."""
    names = {kind: kind.__name__ for table in TABLES for kind in table}

    def rename(prefix="Other"):
        for kind, name in names.items():
            kind.__name__ = kind.__qualname__ = f"{prefix}{name}"

    yield rename
    rename(prefix="")


def test_a_renamed_class_is_written_and_read_as_before(rename_classes):
    forms = [cause.history for cause in all_causes()]
    rename_classes()
    assert all(kind.__name__.startswith("Other") for table in TABLES for kind in table)
    assert [History.from_json(form).to_json() for form in forms] == forms


def test_a_renamed_event_is_written_and_read_as_before(rename_classes):
    forms = [serialization.to_json(event) for event in ONE_OF_EACH]
    rename_classes()
    assert [serialization.to_json(event) for event in ONE_OF_EACH] == forms
    assert [serialization.from_json(form) for form in forms] == list(ONE_OF_EACH)


def test_fingerprints_do_not_depend_on_the_names_of_classes(rename_classes, tmp_path):
    histories = [History.from_json(cause.history) for cause in all_causes()]
    on = observation(tmp_path)
    before = [list(fingerprints(history, on)) for history in histories]
    rename_classes()
    assert [list(fingerprints(history, on)) for history in histories] == before


def test_words_do_not_depend_on_the_names_of_classes(rename_classes):
    values = (AtVersion(3), Delete(IsNull(Column(("id",)))), And((Not(Column(("b",))),)), None)
    rename_classes()
    assert list(map(wire_names.text_of, values)) == [
        "AtVersion(version=3)",
        "Delete(where=IsNull(operand=Column(path=('id',))))",
        "And(operands=(Not(operand=Column(path=('b',))),))",
        "None",
    ]
