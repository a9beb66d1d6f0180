"""Parse SQL text of Spark's dialect: `parse_expression("year(dt) = 2024 and b.c < 3", schema)` returns an expression.

sqlglot parses the text. This package resolves names and types and adds implicit casts, as Spark's ANSI mode does.
"""

from __future__ import annotations

from datetime import UTC, tzinfo

from delta_models.casts.explicit import NotConvertible, Unreadable
from delta_models.casts.implicit import Mismatch
from delta_models.expressions import Expression, type_of
from delta_models.functions import BadCall, EvaluationError
from delta_models.schema import BOOLEAN, VOID, DataType, SchemaError, Struct
from delta_models.sql.errors import NoSuchColumn, NotUnderstood, SqlError, SyntaxProblem, TypeMismatch

__all__ = [
    "NoSuchColumn", "NotUnderstood", "SqlError", "SyntaxProblem", "TypeMismatch", "parse_expression",
    "parse_predicate", "parse_type",
]  # fmt: skip


def parse_expression(text: str, schema: Struct, zone: tzinfo = UTC) -> Expression:
    """Return the expression that a text means for rows of a schema, in a session of this zone.

    Raises SqlError.
    """
    from delta_models.sql.converter import Converter  # noqa: PLC0415 - sqlglot is slow to import, and few tables need it
    from delta_models.sql.parser import syntax_tree  # noqa: PLC0415 - the same

    tree = syntax_tree(text)
    try:
        return Converter(schema, zone).expression(tree)
    except (Mismatch, NotConvertible, BadCall) as error:
        raise TypeMismatch(f"{text}: {error}") from error
    except (Unreadable, EvaluationError) as error:
        raise TypeMismatch(f"{text}: {error}") from error


def parse_predicate(text: str, schema: Struct, zone: tzinfo = UTC) -> Expression:
    """Return the predicate that a text means. Raises SqlError, also if its result is not a boolean."""
    predicate = parse_expression(text, schema, zone)
    result = type_of(predicate, schema)
    if result not in {BOOLEAN, VOID}:
        raise TypeMismatch(f"{text}: a predicate is a boolean, not {result}")
    return predicate


def parse_type(text: str) -> DataType:
    """Return the type that a text such as `decimal(10, 2)` or `array<int>` names. Raises SqlError."""
    from delta_models.sql.parser import type_tree  # noqa: PLC0415 - the same
    from delta_models.sql.types import type_from  # noqa: PLC0415 - the same

    try:
        return type_from(type_tree(text))
    except SchemaError as error:
        raise NotUnderstood(f"{text}: {error}") from error
