"""The names on disk of the models' errors: findings show them, and the corpus compares them with error codes."""

from __future__ import annotations

from delta_models import log, sql
from delta_models.expressions import NotEvaluable
from delta_models.functions import EvaluationError
from delta_models.log import errors

NAMES: dict[type[Exception], str] = {
    errors.LogError: "LogError",
    errors.NoTable: "NoTable",
    errors.MissingVersion: "MissingVersion",
    errors.CorruptLog: "CorruptLog",
    errors.UnsupportedFeature: "UnsupportedFeature",
    errors.MissingFile: "MissingFile",
    errors.CorruptFile: "CorruptFile",
    errors.WrongCardinality: "WrongCardinality",
    errors.VectorOutsideFile: "VectorOutsideFile",
    errors.BadPartitionValue: "BadPartitionValue",
    log.NoChangeData: "NoChangeData",
    sql.SqlError: "SqlError",
    sql.SyntaxProblem: "SyntaxProblem",
    sql.NoSuchColumn: "NoSuchColumn",
    sql.TypeMismatch: "TypeMismatch",
    sql.NotUnderstood: "NotUnderstood",
    NotEvaluable: "NotEvaluable",
    EvaluationError: "EvaluationError",
}


def error_name(error: Exception) -> str:
    """The name of an error of the models. Raises KeyError for any other error."""
    return NAMES[type(error)]
