"""Constraints that deltalake keeps in DataFusion's own SQL, which no other engine reads."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from itertools import product
from math import inf, nextafter, prod

from conformance.findings.predictions.rules import of_doubles, without_point
from conformance.findings.predictions.tables import literals_of, rows_before
from conformance.observations.observation import Observation
from delta_models.expressions import Expression, columns_of, compile_expression
from delta_models.operations import AddConstraint
from delta_models.outcomes import Committed
from delta_models.requirements import Violation
from delta_models.schema import (
    BINARY,
    DOUBLE,
    FLOAT,
    INTEGRALS,
    STRING,
    DataType,
    DecimalType,
    Primitive,
    Struct,
)
from delta_models.sql import parse_predicate
from delta_models.table.generated_columns import CONSTRAINT
from delta_models.values import Decimal, Row, Value

OWN = re.compile(
    r"""arrow_cast\('(?P<moment>[-+0-9T:.]+)',\ 'Timestamp\(Microsecond,\ (?:None|(?P<utc>Some\("UTC"\)))\)'\)
    |   decode\('(?P<bytes>(?:[0-9a-f]{2})*)',\ 'hex'\)
    |   '(?P<text>(?:[^']|'')*)'
    |   "(?P<name>(?:[^"]|"")*)" """,
    re.VERBOSE,
)
COMBINATIONS = 4096  # of values, on which two conditions are compared
MOMENTS = frozenset({Primitive("date"), Primitive("timestamp"), Primitive("timestamp_ntz")})


def constraint_in_its_own_sql(observation: Observation, _: Violation) -> bool:
    """The stored text, its own words replaced by those of Spark, decides as what was asked for, and so has such words.

    The words are `arrow_cast` of moments, `decode` of bytes, and names in double quotes. Decimals may have lost their
    point and floats their type on the way, which are deviations of their own.
    """
    operation, after = observation.operation, observation.after
    if (
        not isinstance(operation, AddConstraint)
        or not isinstance(observation.outcome, Committed)
        or after is None
    ):
        return False
    text = after.properties[f"{CONSTRAINT}{operation.name}"]
    translated = _in_words_of_spark(text)
    if translated == _in_words_of_spark(text, only_texts=True):
        return False
    stored = parse_predicate(translated, after.schema, UTC)
    asked = operation.check
    known = rows_before(observation) or ()
    variants = (asked, of_doubles(asked), without_point(asked), of_doubles(without_point(asked)))
    return any(_decide_alike(stored, variant, after.schema, known) for variant in dict.fromkeys(variants))


def _in_words_of_spark(text: str, *, only_texts: bool = False) -> str:
    def translate(found: re.Match[str]) -> str:
        if found["text"] is not None:
            return "'" + found["text"].replace("''", "'").replace("\\", "\\\\").replace("'", "\\'") + "'"
        if only_texts:
            return found[0]
        if found["moment"] is not None:
            zone, type_name = ("Z", "TIMESTAMP") if found["utc"] else ("", "TIMESTAMP_NTZ")
            return f"CAST('{found['moment']}{zone}' AS {type_name})"
        if found["bytes"] is not None:
            return f"X'{found['bytes']}'"
        return "`" + found["name"].replace('""', '"').replace("`", "``") + "`"

    return OWN.sub(translate, text)


def _decide_alike(left: Expression, right: Expression, schema: Struct, known: Sequence[Row]) -> bool:
    """Whether two conditions are true of the same rows: those of the table, and those made of values near literals."""
    first: Callable[[Row], Value] = compile_expression(left, schema)
    second: Callable[[Row], Value] = compile_expression(right, schema)
    rows = (*known, *_rows_near(left, right, schema))
    return all((first(row) is True) == (second(row) is True) for row in rows)


def _rows_near(left: Expression, right: Expression, schema: Struct) -> Iterator[Row]:
    used = {schema.index(column.path[0]) for column in (*columns_of(left), *columns_of(right))}
    literals = [literal for side in (left, right) for literal in literals_of(AddConstraint("", side))]
    values = [
        _near(field.type, [literal.value for literal in literals if literal.type == field.type])
        if position in used
        else (None,)
        for position, field in enumerate(schema)
    ]
    if prod(map(len, values)) <= COMBINATIONS:
        yield from product(*values)
        return
    chosen = random.Random(0)  # the same rows in each run
    for _ in range(COMBINATIONS):
        yield tuple(chosen.choice(options) for options in values)


def _near(data_type: DataType, values: Sequence[Value]) -> tuple[Value, ...]:
    """Null, and the values with their neighbours on both sides."""
    near: list[Value] = [None]
    for value in values:
        if value is None:
            continue
        near.append(value)
        if data_type in INTEGRALS or data_type in MOMENTS:
            near += [value - 1, value + 1]
        elif data_type in {FLOAT, DOUBLE}:
            near += [nextafter(value, -inf), nextafter(value, inf), value - 1.0, value + 1.0]
        elif isinstance(data_type, DecimalType):
            near += [Decimal(value.unscaled - 1, value.scale), Decimal(value.unscaled + 1, value.scale)]
        elif data_type == STRING:
            near += ["", value[:-1], f"{value} "]
        elif data_type == BINARY:
            near += [b"", value[:-1], value + b"\0"]
    if data_type == Primitive("boolean"):
        near += [False, True]
    return tuple(dict.fromkeys(near))
