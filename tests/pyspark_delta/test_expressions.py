"""Conditions become predicates with the same meaning as in Spark."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pytest
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyspark_delta.expressions import predicate_of
from pyspark_delta.predicates import (
    FALSE,
    TRUE,
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Not,
    Or,
    StartsWith,
    Unknown,
)
from pyspark_delta.skipping.exact import Pruner

pytestmark = pytest.mark.slow

SCHEMA = StructType(
    [
        StructField("id", LongType()),
        StructField("i", IntegerType()),
        StructField("s", StringType()),
        StructField("d", DateType()),
        StructField("ts", TimestampType()),
        StructField("n", TimestampNTZType()),
        StructField("dec", DecimalType(20, 3)),
        StructField("f", DoubleType()),
        StructField("fl", FloatType()),
        StructField("b", BooleanType()),
        StructField("st", StructType([StructField("x", LongType())])),
    ]
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    (
        ("id = 5", Comparison("=", ("id",), 5)),
        ("5 < ID", Comparison(">", ("id",), 5)),
        ("i < 3.5", Comparison("<", ("i",), Decimal("3.5"))),
        ("s in ('a', null)", In(("s",), ("a", None))),
        ("s is null or st.x <=> 3", Or((IsNull(("s",)), Comparison("<=>", ("st", "x"), 3)))),
        ("d >= date'2020-01-01'", Comparison(">=", ("d",), 18262)),
        ("not b", Not(Comparison("=", ("b",), True))),
        ("f > 1.5", Comparison(">", ("f",), 1.5)),
        ("i between 1 and 2", And((Comparison(">=", ("i",), 1), Comparison("<=", ("i",), 2)))),
        ("1 = 2", Constant(False)),
        ("fl = 0.1", Constant(False)),
        ("s like 'ab%'", And((Not(IsNull(("s",))), StartsWith(("s",), "ab")))),
        ("d = '2020-01-01'", And((Not(IsNull(("d",))), Comparison("=", ("d",), 18262)))),
        ("length(s) > 3", And((Not(IsNull(("s",))), Unknown((("s",),))))),
    ),
    ids=str,
)
def test_a_condition_becomes_this_predicate(spark, condition, expected):
    assert predicate_of(condition, SCHEMA, spark) == expected
    assert predicate_of(sf.expr(condition), SCHEMA, spark) == expected


def test_columns_are_conditions_too(spark):
    condition = (sf.col("id") == 5) & ~sf.col("s").startswith("a") | sf.col("st").getField("x").isin(1, 2)
    pruner = Pruner(SCHEMA, ["id"])
    predicate = predicate_of(condition, SCHEMA, spark)
    assert predicate is not None
    assert pruner.may_match(predicate, {"id": "5"})
    assert predicate_of(sf.col("i").isNotNull(), SCHEMA, spark) == Not(IsNull(("i",)))
    assert predicate_of(None, SCHEMA, spark) is None


def test_a_long_list_of_dates_arrives_with_its_null(spark):
    dates = ", ".join(f"'2020-01-{day:02d}'" for day in range(1, 15))
    predicate = predicate_of(f"d in ({dates}, null)", SCHEMA, spark)
    assert isinstance(predicate, In)
    assert set(predicate.values) == {*range(18262, 18276), None}


@pytest.mark.parametrize("zone", ("UTC", "America/Los_Angeles", "+05:30"))
def test_times_are_those_of_the_session(spark, zone):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        predicate = predicate_of("ts = timestamp'2020-07-01 12:00:00.123456'", SCHEMA, spark)
        moment = spark.sql("select unix_micros(timestamp'2020-07-01 12:00:00.123456')").first()[0]
        assert predicate == Comparison("=", ("ts",), moment)
        wall = predicate_of("n = timestamp_ntz'2020-07-01 12:00:00'", SCHEMA, spark)
        assert wall == Comparison("=", ("n",), 1_593_604_800_000_000)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


CONDITIONS = (
    "id > 5",
    "id = 5 or s = 'b'",
    "not (id > 5 and s is null)",
    "s > 'a' and s < 'c'",
    "s in ('b', null)",
    "not s in ('b', null)",
    "d = date'2020-01-02' or id <=> null",
    "cast(d as timestamp) > '2020-01-01 12:00:00'",
    "dec > 1.25",
    "dec = 1",
    "f >= 1e0",
    "f = double('NaN')",
    "st.x < 2",
    "b or id = 1",
    "coalesce(id, 0) = 0",
    "id + 1 > 6",
    "ts >= '2020-01-02'",
    "s like 'b%' and not s like 'bc%'",
    "id between 4 and 6",
    "i <> 3",
)


def test_a_predicate_never_leaves_out_a_row_that_spark_picks(spark):
    rows = [
        (None, None, None, None, None, None, None, None),
        (1, 3, "a", dt.date(2020, 1, 1), Decimal("1.000"), 1.0, True, (1,)),
        (5, 4, "b", dt.date(2020, 1, 2), Decimal("1.250"), float("nan"), False, (2,)),
        (6, 3, "bc", dt.date(2020, 1, 3), Decimal("-7.500"), -1.0, None, (None,)),
    ]
    names = ["id", "i", "s", "d", "dec", "f", "b", "st"]
    schema = StructType([SCHEMA[name] for name in names] + [SCHEMA["ts"]])
    frame = spark.createDataFrame([(*row, None) for row in rows], schema)
    frame = frame.withColumn("ts", sf.col("d").cast("timestamp"))
    pruner = Pruner(schema, [])
    for condition in CONDITIONS:
        predicate = predicate_of(condition, schema, spark)
        assert predicate is not None
        picked = [row[0] for row in frame.select(sf.expr(f"coalesce({condition}, false)")).collect()]
        for row, pick in zip(rows, picked, strict=True):
            bounds = {
                name: (
                    str(value)
                    if isinstance(value, dt.date)
                    else float(value)
                    if isinstance(value, Decimal)
                    else value
                )
                for name, value in zip(names[:6], row[:6], strict=True)
                if value is not None and value == value
            }
            stats = {
                "numRecords": 1,
                "minValues": bounds,
                "maxValues": bounds,
                "nullCount": {
                    name: int(value is None) for name, value in zip(names[:6], row[:6], strict=True)
                },
            }
            outcomes = pruner.outcomes(predicate, {}, json.dumps(stats))
            assert outcomes & (TRUE if pick else ~TRUE), (condition, row)
            assert outcomes != FALSE or not pick
