"""The reasons why a text is not an expression, one class each."""

from __future__ import annotations


class SqlError(ValueError):
    """The text does not yield an expression."""


class SyntaxProblem(SqlError):
    """The text is not SQL."""


class NoSuchColumn(SqlError):
    """The text names a column or field that does not exist."""


class TypeMismatch(SqlError):
    """Operands or arguments have types that do not go together."""


class NotUnderstood(SqlError):
    """The text is SQL that the model does not know."""
