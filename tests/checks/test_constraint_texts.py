"""A new constraint is stored in SQL that other engines read; the check says what they can't."""

from __future__ import annotations

import math
import re
from datetime import UTC

import pytest

from conformance.checks.constraint_texts import find_private_sql
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.dialects import render_sql
from delta_adapters.dialects.delta_rs_constraints import DeltaRsConstraintDialect
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    Literal,
    Not,
    Or,
    compile_expression,
)
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    DecimalType,
    struct,
)
from delta_models.sql import parse_predicate
from delta_models.values import Decimal, Row, Rows, Value
from tests.mutants.stage import play

MONEY = DecimalType(10, 2)
MOMENT, LAST_MOMENT, FAR = 1_709_209_800_123_456, 253_402_300_799_999_999, 253_402_300_800_000_000
VALUES: tuple[tuple[DataType, Value], ...] = (
    (BYTE, -128), (SHORT, 7), (INTEGER, -7), (LONG, -(1 << 63)), (FLOAT, 0.5), (DOUBLE, 1e300),
    (MONEY, Decimal(-150, 2)), (STRING, "plain"), (STRING, 'in "double" quotes'), (STRING, "Up"),
    (BINARY, b"\0\xff"), (BOOLEAN, True), (DATE, -719_162), (DATE, 2_932_896), (DATE, 3_000_000),
    (TIMESTAMP, MOMENT), (TIMESTAMP, LAST_MOMENT), (TIMESTAMP, -62_135_596_800_000_000),
    (TIMESTAMP_NTZ, MOMENT), (TIMESTAMP_NTZ, LAST_MOMENT), (TIMESTAMP_NTZ, -1),
)  # fmt: skip

TOKENS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|\w+|<=>|<=|>=|<>|\S")


def stands_in(name: str, data_type: DataType, value: Value) -> Expression:
    return Compare("=", Column((name,)), Literal(data_type, value))


@pytest.mark.parametrize(
    ("data_type", "value"),
    (*VALUES, (DOUBLE, math.nan), (TIMESTAMP, FAR), (TIMESTAMP_NTZ, FAR), (STRING, "a'b")),
)
@pytest.mark.parametrize("name", ("plain", "Up", "x y", "tick`", 'quote"'))
def test_what_engines_of_spark_write_is_read_by_others(name: str, data_type: DataType, value: Value):
    asked = stands_in(name, data_type, value)
    text = render_sql(asked, None, SparkSqlDialect())
    schema = struct((name, data_type))
    assert find_private_sql(text, asked, schema, UTC) is None
    apart = " ".join(TOKENS.findall(text))  # as delta-spark stores it
    assert find_private_sql(apart, asked, schema, UTC) is None, apart


@pytest.mark.parametrize(("data_type", "value"), VALUES)
def test_what_deltalake_is_asked_means_the_same_to_others(data_type: DataType, value: Value):
    schema = struct(("Up", data_type))
    column, literal = Column(("Up",)), Literal(data_type, value)
    rows: list[Row] = [(value,), (None,)]
    for asked in (
        Compare("=", column, literal),
        Compare("<=>", column, literal),
        Not(In(column, (literal,))),
        And((Between(column, literal, literal), Or((IsNotNull(column), Compare("!=", column, literal))))),
    ):
        text = render_sql(asked, schema, DeltaRsConstraintDialect())
        assert find_private_sql(text, asked, schema, UTC) is None
        read = compile_expression(parse_predicate(text, schema, UTC), schema)
        assert [read(row) for row in rows] == [compile_expression(asked, schema)(row) for row in rows], text


@pytest.mark.parametrize(
    ("data_type", "value"), [pair for pair in VALUES if pair[0] in {TIMESTAMP, TIMESTAMP_NTZ}]
)
def test_deltalake_compares_moments_with_texts_as_it_should(data_type: DataType, value: int, tmp_path):
    schema = struct(("at", data_type))
    engine = DeltaRs()
    engine.open(str(tmp_path / "table"))
    assert engine.execute(ops.Create(schema), "1") == Committed()
    assert engine.execute(ops.AddConstraint("it", stands_in("at", data_type, value)), "2") == Committed()
    assert engine.execute(ops.Append(Rows(schema, ((value,),))), "3") == Committed()
    refused = engine.execute(ops.Append(Rows(schema, ((value - 1,),))), "4")
    assert isinstance(refused, Rejected)
    assert refused.kind == "constraint"


@pytest.mark.parametrize(
    ("text", "said"),
    (
        ("at = arrow_cast('1970-01-01T00:00:00.000000', 'Timestamp(Microsecond, None)')", "'arrow_cast'"),
        ("at = CAST('1970-01-01' AS TIMESTAMP_NTZ) OR Up = decode('00', 'hex')", "'hex'"),
        ("at IS NULL OR \"Up\" = X'00'", "Up in double quotes"),
        ('at IS NULL OR "up" IS NULL', "up in double quotes"),
        ("at =", "at ="),
        ("nobody = 1", "nobody"),
        ("upper('a')", "a predicate is a boolean"),
    ),
)
def test_words_of_one_engine_are_named(text: str, said: str):
    asked = Or((stands_in("at", TIMESTAMP_NTZ, 0), stands_in("Up", BINARY, b"\0")))
    found = find_private_sql(text, asked, struct(("at", TIMESTAMP_NTZ), ("Up", BINARY)), UTC)
    assert found is not None
    assert said in found


def test_words_of_one_engine_are_named_beside_a_function_that_the_model_does_not_know_either():
    asked = stands_in("at", TIMESTAMP_NTZ, FAR)
    found = find_private_sql("at = arrow_cast(1, 'Date64')", asked, struct(("at", TIMESTAMP_NTZ)), UTC)
    assert found == "the model does not know the function 'arrow_cast'"


def test_a_text_in_double_quotes_that_was_asked_for_is_no_name():
    asked = stands_in("name", STRING, "name")
    assert find_private_sql('name = "name"', asked, struct(("name", STRING)), UTC) is None


def test_functions_that_were_asked_for_and_the_model_does_not_know_are_nobodys_fault():
    asked = Compare("=", Call("own", (Column(("id",)),), LONG), Literal(LONG, 1))
    assert find_private_sql("own(id) = 1", asked, struct(("id", LONG)), UTC) is None


def test_only_the_writer_of_a_shared_table_is_charged_and_its_history_ends_there(tmp_path):
    schema = struct(("at", TIMESTAMP_NTZ))
    story = ((ops.Create(schema), "A"), (ops.AddConstraint("it", stands_in("at", TIMESTAMP_NTZ, 0)), "A"))
    later = (ops.Append(Rows(schema, ((0,),))), "B")
    played = play(DeltaRs(), tmp_path / "table", (*story, later), Reference())
    charged = [
        result.observation.engine
        for result in played.result
        for violation in result.violations
        if violation.requirement == "write.constraint-understood"
    ]
    assert [name.partition("@")[0] for name in charged] == ["delta-rs"]
    assert not any(isinstance(result.observation.operation, ops.Append) for result in played.result)
