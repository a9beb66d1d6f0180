"""The Python API has the names, parameters and defaults of delta-spark's package. Needs no JVM."""

from __future__ import annotations

import inspect
import pickle
from types import FunctionType
from typing import Any

import delta
import delta.exceptions
import delta.tables
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

import pyspark_delta
import pyspark_delta.exceptions
import pyspark_delta.tables

CLASSES = [
    name
    for name, var in vars(delta.tables).items()
    if inspect.isclass(var) and var.__module__ == delta.tables.__name__
]
METHODS = [
    (name, method)
    for name in CLASSES
    for method, var in vars(getattr(delta.tables, name)).items()
    if not method.startswith("_") and isinstance(var, FunctionType | classmethod)
]
ERRORS = [
    name
    for name, var in vars(delta.exceptions).items()
    if inspect.isclass(var) and var.__module__.startswith(delta.exceptions.__name__) and "Base" not in name
]


def parameters(of: Any, method: str) -> list[tuple[str, str, Any]]:
    declared = inspect.signature(getattr(of, method)).parameters.values()
    return [(parameter.name, str(parameter.kind), parameter.default or None) for parameter in declared]


def test_there_is_something_to_compare():
    assert {"DeltaTable", "DeltaMergeBuilder", "DeltaTableBuilder", "DeltaOptimizeBuilder"} <= {*CLASSES}
    assert len(METHODS) > 40
    assert len(ERRORS) >= 8


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[".".join(method) for method in METHODS])
def test_a_method_takes_what_delta_sparks_takes(name, method):
    theirs = parameters(getattr(delta.tables, name), method)
    ours = parameters(getattr(pyspark_delta.tables, name), method)
    assert ours[: len(theirs)] == theirs
    for added in ours[len(theirs) :]:
        assert added[2] in {None, False}, "what is ours alone has a default"


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_where_a_changed_import_finds_it(name):
    assert name in pyspark_delta.tables.__all__


@pytest.mark.parametrize("name", delta.__all__)
def test_what_the_package_has_is_where_a_changed_import_finds_it(name):
    assert name in pyspark_delta.__all__
    assert hasattr(pyspark_delta, name)


def test_a_builder_of_delta_sparks_quick_start_needs_no_package_here():
    configure = pyspark_delta.configure_spark_with_delta_pip
    assert parameters(pyspark_delta, configure.__name__) == parameters(delta, configure.__name__)
    builder = SparkSession.Builder()
    assert configure(builder)._options == {}
    assert configure(builder, ["g:a:1", "g:b:2"])._options == {"spark.jars.packages": "g:a:1,g:b:2"}
    with pytest.raises(TypeError, match="Builder"):
        configure("local")


@pytest.mark.parametrize("name", ERRORS)
def test_an_exception_has_the_name_of_delta_sparks(name):
    ours = getattr(pyspark_delta.exceptions, name)
    assert issubclass(ours, pyspark_delta.exceptions.DeltaError)
    if name != "DeltaConcurrentModificationException":
        assert issubclass(ours, pyspark_delta.exceptions.DeltaConcurrentModificationException)


def test_an_error_is_what_scripts_for_delta_spark_catch_and_comes_back_from_a_pickle():
    assert issubclass(pyspark_delta.exceptions.DeltaError, PySparkException)
    assert issubclass(pyspark_delta.exceptions.NotADeltaTable, AnalysisException)
    error = pickle.loads(pickle.dumps(pyspark_delta.exceptions.NotADeltaTable("nothing there")))
    assert (error.cause, error.getCondition(), error.getMessage()) == ("nothing there", None, str(error))
    assert error.cure in str(error)


def test_every_error_has_a_cause_and_a_cure():
    for var in vars(pyspark_delta.exceptions).values():
        if inspect.isclass(var) and issubclass(var, pyspark_delta.exceptions.DeltaError):
            error = var("what is wrong")
            assert error.cause.startswith("what is wrong")
            assert var is pyspark_delta.exceptions.DeltaError or error.cure, var
