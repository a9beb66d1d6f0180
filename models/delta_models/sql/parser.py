"""Parse SQL text to a syntax tree, in which functions stay calls by their own names.

`converter` decides what the functions mean.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from delta_models.sql.errors import SyntaxProblem

# delta-spark stores conditions with blanks between all tokens, and Spark reads X '00ff' as X'00ff'; sqlglot does not.
_APART = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`)|\b(?P<mark>[xX])\s+(?=')""", re.DOTALL
)
_KEPT = {"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION"}


class _Plain(Spark):
    """Spark's dialect, without sqlglot's rewriting of functions."""

    class Parser(Spark.Parser):  # type: ignore[valid-type, misc]  # sqlglot makes its classes by a metaclass
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parse for name, parse in Spark.Parser.FUNCTION_PARSERS.items() if name in _KEPT
        }


def syntax_tree(text: str) -> exp.Expression:
    """Return the syntax tree of an expression. Raises SyntaxProblem."""
    try:
        # Parsed as the condition of a query, because some words begin a statement if they come first.
        query = _Plain().parse(f"SELECT 1 WHERE {_APART.sub(_together, text)}")
    except (SqlglotError, RecursionError) as error:
        raise SyntaxProblem(f"{text}: {_first_line(error)}") from error
    where = query[0].args.get("where") if len(query) == 1 and query[0] is not None else None
    extra = {key for key, value in (query[0].args if query[0] else {}).items() if value} - {
        "where",
        "expressions",
        "kind",
    }
    if where is None or extra:
        raise SyntaxProblem(f"{text}: no expression")
    condition: exp.Expression = where.this
    return condition


def type_tree(text: str) -> exp.Expression:
    """Return the syntax tree of a type. Raises SyntaxProblem."""
    cast = syntax_tree(f"CAST(NULL AS {text})")
    target = cast.args.get("to")
    if not isinstance(target, exp.DataType):
        raise SyntaxProblem(f"{text}: no type")
    return target


def _together(found: re.Match[str]) -> str:
    return str(found["quoted"] or found["mark"])


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
