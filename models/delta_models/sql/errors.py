"""Why a text is no expression: one class for each reason."""

from __future__ import annotations


class SqlError(ValueError):
    """The text does not yield an expression."""


class SyntaxProblem(SqlError):
    """The text is no SQL."""


class NoSuchColumn(SqlError):
    """A column or a field that the text names is not there."""


class TypeMismatch(SqlError):
    """Operands or arguments are of types that do not go together."""


class NotUnderstood(SqlError):
    """The text is SQL that the model does not know."""
