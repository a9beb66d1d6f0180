"""Is the text of a new CHECK constraint SQL that other engines read?

The model reads Spark's SQL. What was asked for settles what a name in double quotes is: an engine that writes names so
leaves a text to all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo

from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_models.expressions import (
    Call,
    Column,
    Expression,
    Literal,
    NotEvaluable,
    columns_of,
    compile_expression,
)
from delta_models.functions import BadCall, EvaluationError
from delta_models.schema import Struct
from delta_models.sql import SqlError, parse_predicate

SPARK = SparkSqlDialect()
# Texts in single quotes, names in backticks, and what stands in double quotes outside of both.
QUOTED = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|\"(?P<inside>(?:[^\"]|\"\")*)\"")


def find_private_sql(text: str, asked: Expression, schema: Struct, zone: tzinfo) -> str | None:
    """Return what other engines can't read in the text of a constraint; None if they can.

    `asked` is the constraint that was asked for. What the model does not know of it in Spark's words is nobody's fault.
    """
    if names := _names_in_double_quotes(text, asked):
        return f"{', '.join(names)} in double quotes is a text, and no column"
    problem = _problem(text, schema, zone)
    if problem is None:
        return None
    try:
        in_words_of_spark = render_sql(asked, None, SPARK)
    except Inexpressible:
        return None
    return None if problem == _problem(in_words_of_spark, schema, zone) else problem


def _problem(text: str, schema: Struct, zone: tzinfo) -> str | None:
    """Why the model can't read a condition; None if it can."""
    try:
        for call in _constant_calls(parse_predicate(text, schema, zone)):
            compile_expression(call, schema, zone)(())
    except (SqlError, NotEvaluable, EvaluationError, BadCall) as error:
        return str(error)
    return None


def _names_in_double_quotes(text: str, asked: Expression) -> list[str]:
    """The columns of the constraint in double quotes. Whatever is a text of it as well may be that."""
    names = {part.casefold() for column in columns_of(asked) for part in column.path}
    names -= {part.value.casefold() for part in _parts(asked) if isinstance(part, Literal) and _is_text(part)}
    quoted = (found["inside"] for found in QUOTED.finditer(text) if found["inside"] is not None)
    return [name for inside in quoted if (name := inside.replace('""', '"')).casefold() in names]


def _is_text(literal: Literal) -> bool:
    return isinstance(literal.value, str)


def _constant_calls(expression: Expression) -> Iterator[Call]:
    return (part for part in _parts(expression) if isinstance(part, Call) and not columns_of(part))


def _parts(expression: Expression) -> Iterator[Expression]:
    """The expression and all inside it."""
    yield expression
    if isinstance(expression, Column | Literal):
        return
    for name in expression.__dataclass_fields__:
        value = getattr(expression, name)
        for part in value if isinstance(value, tuple) else (value,):
            if hasattr(part, "__dataclass_fields__") and name != "type":
                yield from _parts(part)
