"""SQL text becomes typed expressions, which evaluate as in Spark's ANSI mode."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from delta_models.expressions import Column, Compare, Literal, compile_expression
from delta_models.functions import EvaluationError
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
    Array,
    DecimalType,
    Map,
    Primitive,
    struct,
)
from delta_models.sql import (
    NoSuchColumn,
    NotUnderstood,
    SyntaxProblem,
    TypeMismatch,
    parse_expression,
    parse_predicate,
    parse_type,
)
from delta_models.values import Decimal

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
SCHEMA = struct(
    ("a", INTEGER), ("b", struct(("c", LONG), ("d", struct(("e", STRING))))), ("b.c", LONG), ("s", STRING),
    ("dt", DATE), ("ts", TIMESTAMP), ("ntz", TIMESTAMP_NTZ), ("f", FLOAT), ("x", DOUBLE), ("p", DecimalType(10, 2)),
    ("bin", BINARY), ("tiny", BYTE), ("small", SHORT), ("yes", BOOLEAN), ("tags", Array(STRING)),
    ("m", Map(STRING, INTEGER)), ("people", Array(struct(("age", INTEGER)))), ("t", Primitive("time(6)")),
    ("nothing", INTEGER),
)  # fmt: skip
DAY = 19_904  # 2024-06-30
NOON = DAY * 86_400_000_000 + 19 * 3_600_000_000  # 2024-06-30 12:00 in Los Angeles
ROW = (
    7, (8, ("deep",)), 9, "apple pie", DAY, NOON, DAY * 86_400_000_000, 0.5, 2.5, Decimal(1234, 2), b"abc", 3, 300,
    True, ("x", "y", None), (("k", 1),), ((30,), (40,)), 45_000_000_000, None,
)  # fmt: skip


def value(text, zone=LOS_ANGELES):
    return compile_expression(parse_expression(text, SCHEMA, zone), SCHEMA, zone)(ROW)


@pytest.mark.parametrize(
    "text",
    (
        "a = 7", "7 = a", "a == 7", "a <> 8", "7 <=> A", "NOT a <=> NULL", "a BETWEEN 7 AND 9", "a NOT IN (1, 2)",
        "a in (7.0, 8)", "(nothing > 1) IS NULL", "nothing IS NULL and a is not null", "b.c = 8", "`b.c` = 9",
        "b.d.e like 'd%'", "s like '%pie'", "s not like '%PIE'", "s ilike '%PIE'", "s rlike 'p{2}'",
        "s like 'apple!_pie' escape '!' or true", "s > 'apple'", "dt = '2024-06-30'", "dt > DATE'2024-06-29'",
        "year(dt) = 2024", "month(ts) = 6 and hour(ts) = 12", "date_add(dt, 1) > '2024-06-30'",
        "datediff(dt, '2024-06-01') = 29", "date_trunc('MONTH', ts) = '2024-06-01'", "trunc(dt, 'year') = '2024-01-01'",
        "ts = '2024-06-30 12:00:00'", "ts = TIMESTAMP'2024-06-30T19:00:00Z'", "ts >= '2024-06-30'",
        "ntz = TIMESTAMP_NTZ'2024-06-30 00:00:00'", "ntz = '2024-06-30'", "cast(ts as date) = dt",
        "cast(ts as string) = '2024-06-30 12:00:00'", "dt + interval 1 day = '2024-07-01'",
        "ts - interval 1 hour < ts", "add_months(dt, -4) = '2024-02-29'", "last_day('2024-02-01') = '2024-02-29'",
        "f = 0.5", "x > 2", "x = '2.5'", "p > 12.3", "p = 12.34", "p * 2 = 24.68", "p / 2 = 6.17", "p > 12",
        "a + 1 = 8", "a % 4 = 3", "a div 2 = 3", "a / 2 = 3.5", "-a = -7", "abs(-3) = 3", "pmod(-1, 3) = 2",
        "round(2.5) = 3", "ceil(x) = 3 and floor(x) = 2", "tiny = 3 and small > 127", "tiny + 1 < 128",
        "bin = 'abc'", "hex(bin) = '616263'", "bin = X'616263'",
        "bin = X '616263'", "bin = x  '616263' and s <> 'x ' and `s` <> 'no x'", "hex(255) = 'FF'",
        "yes", "yes = true", "not not yes",
        "yes is true", "size(tags) = 3", "tags[0] = 'x'", "element_at(tags, -1) is null", "array_contains(tags, 'y')",
        "m['k'] = 1", "m.k = 1", "m['z'] is null", "people.age[1] = 40", "people[0].age = 30",
        "length(s) = 9", "upper(s) = 'APPLE PIE'", "substring(s, 1, 5) = 'apple'", "substring(s, -3) = 'pie'",
        "trim('  x ') = 'x'", "trim(both 'x' from 'xax') = 'a'", "concat(s, '!') = 'apple pie!'",
        "s || a = 'apple pie7'",
        "replace(s, 'p', '') = 'ale ie'", "split(s, ' ')[1] = 'pie'", "lpad('7', 3, '0') = '007'",
        "coalesce(nothing, a) = 7", "nvl(nothing, 0) = 0", "if(a > 5, 'big', 'small') = 'big'", "nullif(a, 7) is null",
        "case when a > 100 then 1 when a > 5 then 2 else 3 end = 2", "case a when 7 then 'x' end = 'x'",
        "greatest(1, a, nothing) = 7", "cast('12' as int) = 12", "try_cast('x' as int) is null", "a::string = '7'",
        "extract(year from dt) = 2024", "dayofweek(dt) = 1", "weekofyear(dt) = 26", "quarter(dt) = 2",
        "t >= '12:30:00'", "t > TIME '12:00:00'", "1 = 1.0", "x > 1e0",
        "a < 9223372036854775808", "a > -9223372036854775808",
        "if(a = 7, true, 1 / 0 = 1)", "instr(s, 'pie') = 7", "date_format(dt, 'yyyy-MM') = '2024-06'",
        "md5('') = 'd41d8cd98f00b204e9800998ecf8427e'",
    ),
)  # fmt: skip
def test_a_predicate_holds_as_in_spark(text):
    predicate = parse_predicate(text, SCHEMA, LOS_ANGELES)
    assert compile_expression(predicate, SCHEMA, LOS_ANGELES)(ROW) is True


@pytest.mark.parametrize(
    "text", ("a = NULL", "NOT a = NULL", "nothing > 1", "a NOT IN (1, NULL)", "year(NULL) = 2024")
)
def test_unknown_stays_unknown(text):
    assert value(text) is None


def test_a_literal_takes_the_type_of_the_column_that_it_is_compared_with():
    tree = parse_predicate("5 < tiny", SCHEMA)
    assert tree == Compare(">", Column(("tiny",)), Literal(BYTE, 5))
    assert parse_predicate("p > 12.5", SCHEMA).right == Literal(DecimalType(10, 2), Decimal(1250, 2))


def test_a_literal_that_the_columns_type_cannot_hold_is_compared_in_a_wider_one():
    assert value("tiny < 128") is True
    assert value("f < 0.1") is False
    assert value("a > 6.5") is True


def test_the_zone_of_the_session_says_what_a_timestamp_without_one_means():
    text = "ts = '2024-06-30 19:00:00'"
    assert value(text, ZoneInfo("UTC")) is True
    assert value(text) is False


@pytest.mark.parametrize(
    ("text", "problem"),
    (
        ("unheard = 1", NoSuchColumn),
        ("_metadata.default_row_commit_version > 1", NoSuchColumn),
        ("b.zzz = 1", NoSuchColumn),
        ("a >", SyntaxProblem),
        ("a = 1 ORDER BY a", SyntaxProblem),
        ("soundex(s) = 'x'", NotUnderstood),
        ("a IN (SELECT 1)", NotUnderstood),
        ("a", TypeMismatch),
        ("yes = 3", TypeMismatch),
        ("tags = 'x'", TypeMismatch),
        ("year(dt, 1) = 2", TypeMismatch),
        ("tags + 1 = 2", TypeMismatch),
        ("dt = 'no day'", EvaluationError),
    ),
)
def test_a_text_without_meaning_is_refused_for_its_reason(text, problem):
    with pytest.raises(problem):
        compile_expression(parse_predicate(text, SCHEMA), SCHEMA)(ROW)


@pytest.mark.parametrize(
    "text", ("1 / (a - 7) = 1", "cast(s as int) = 1", "cast(300 + a as tinyint) = 1", "tags[5] = 'x'")
)
def test_a_value_that_does_not_exist_is_an_error_and_no_null(text):
    with pytest.raises(EvaluationError):
        value(text)


def test_types_are_read_by_their_sql_names():
    assert parse_type("decimal(10, 2)") == DecimalType(10, 2)
    assert parse_type("array<map<string, bigint>>") == Array(Map(STRING, LONG))
