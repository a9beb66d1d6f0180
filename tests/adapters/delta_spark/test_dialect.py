"""Each literal of Spark SQL expresses exactly its value: it finds the row with the value, and no other row.

The tables have no statistics, so that the test proves the literal, and not the engine's data skipping.
"""

import pyarrow as pa
import pytest

from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.spark_sql import SparkSqlDialect
from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.operations import Append, Create, Delete, Merge, MergeClause, Read, Update
from delta_models.outcomes import Committed
from delta_models.schema import (
    BINARY,
    DATE,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    Array,
    DecimalType,
    Map,
    struct,
)
from delta_models.values import Decimal, Rows, same_key
from tests.adapters.extremes import EXTREMES, FIRST_DAY, LAST_DAY

DIALECT = SparkSqlDialect()
NO_STATISTICS = (("delta.dataSkippingNumIndexedCols", "0"),)
VALUE, NUMBER = Column(("value",)), Column(("number",))
ROWS = max(map(len, EXTREMES.values()))
DAY = 86_400_000_000
# The years 12000, 10000 and 0 and before it, of which no text is read: they are counted from the epoch.
FAR_DAYS = (3_663_382, LAST_DAY + 1, FIRST_DAY - 1, FIRST_DAY - 400_000)
FAR = {
    DATE: FAR_DAYS,
    **{
        data_type: tuple(day * DAY + 3_723_000_001 for day in FAR_DAYS)
        for data_type in (TIMESTAMP, TIMESTAMP_NTZ)
    },
}
WITH_BINARY = (
    EXTREMES
    | {BINARY: (b"", b"\x00", b"'\\\xff\xfe", b"text")}
    | {data_type: (*EXTREMES[data_type], *values) for data_type, values in FAR.items()}
)
NAMED = {data_type: f"c{number}" for number, data_type in enumerate(WITH_BINARY)}


def sql(expression: Expression) -> str:
    return render_sql(expression, None, DIALECT)


def _numbers(reply) -> set[int]:
    assert isinstance(reply.table, pa.Table), reply.outcome
    return set(reply.table["number"].to_pylist())


@pytest.fixture(scope="module")
def all_types(delta_spark_host, tmp_path_factory):
    """One table with a column for each type and a row for each number, because making tables is expensive."""
    delta_spark_host.open(str(tmp_path_factory.mktemp("types") / "table"))
    schema = struct(("number", LONG), *((NAMED[data_type], data_type) for data_type in WITH_BINARY))
    rows = tuple((n, *(values[n % len(values)] for values in WITH_BINARY.values())) for n in range(ROWS))
    assert delta_spark_host.execute(Create(schema, (), NO_STATISTICS)).outcome == Committed()
    assert (
        delta_spark_host.execute(Append(Rows(schema, (*rows, (ROWS, *(None for _ in WITH_BINARY)))))).outcome
        == Committed()
    )
    return delta_spark_host


@pytest.mark.slow
@pytest.mark.parametrize("data_type", tuple(WITH_BINARY), ids=str)
def test_a_literal_finds_exactly_its_value(all_types, data_type):
    values = WITH_BINARY[data_type]
    value = Column((NAMED[data_type],))
    literals = [Literal(data_type, values[number % len(values)]) for number in range(ROWS)]
    # One read proves all literals: a row is kept if the one of its own number picks it, and no other one does.
    own = Or(
        tuple(
            And((Compare("=", NUMBER, Literal(LONG, number)), Compare("=", value, literal)))
            for number, literal in enumerate(literals)
        )
    )
    others = Or(
        tuple(
            And(
                (
                    Compare("=", value, Literal(data_type, element)),
                    Not(
                        In(
                            NUMBER,
                            tuple(
                                Literal(LONG, number)
                                for number in range(ROWS)
                                if number % len(values) == index
                            ),
                        )
                    ),
                )
            )
            for index, element in enumerate(values)
        )
    )
    assert _numbers(all_types.read(Read(where=And((own, Not(others)))))) == set(range(ROWS))
    options = (*(Literal(data_type, element) for element in values[1:]), Literal(data_type, None))
    numbers = _numbers(all_types.read(Read(where=In(value, options))))
    assert numbers == {number for number in range(ROWS) if number % len(values)}


@pytest.mark.slow
def test_literals_of_all_types_are_written_by_an_update_and_found_by_a_delete(all_types):
    values = {data_type: value[len(value) - 1] for data_type, value in WITH_BINARY.items()}
    alone = Compare("=", NUMBER, Literal(LONG, ROWS))
    update = Update(
        tuple((NAMED[data_type], Literal(data_type, value)) for data_type, value in values.items()), alone
    )
    assert all_types.execute(update).outcome == Committed()
    every = And(
        tuple(
            Compare("=", Column((NAMED[data_type],)), Literal(data_type, value))
            for data_type, value in values.items()
        )
    )
    assert _numbers(all_types.read(Read(where=every))) == {ROWS}
    assert all_types.execute(Delete(every)).outcome == Committed()
    assert _numbers(all_types.read(Read())) == set(range(ROWS))


@pytest.mark.slow
def test_a_zero_that_is_negative_is_written_as_such_and_found_by_either(delta_spark):
    double = next(extreme for extreme in EXTREMES if str(extreme) == "double")
    schema = struct(("value", double), ("number", LONG))
    delta_spark.execute(Create(schema, (), NO_STATISTICS))
    delta_spark.execute(Append(Rows(schema, ((-0.0, 0), (0.0, 1), (1.0, 2)))))
    delta_spark.execute(Update((("value", Literal(double, -0.0)),), Compare("=", NUMBER, Literal(LONG, 2))))
    table = delta_spark.read(Read()).table
    numbers = {
        number: same_key(double, value) for value, number in zip(*table.to_pydict().values(), strict=True)
    }
    assert numbers == {0: same_key(double, -0.0), 1: same_key(double, 0.0), 2: same_key(double, -0.0)}
    for zero in (0.0, -0.0):
        assert _numbers(delta_spark.read(Read(where=Compare("=", VALUE, Literal(double, zero))))) == {0, 1, 2}


NAMES = ("Upper", "q`uote", "a.b", "select", "ünï", "it's", 'd"q', "#", "$x", "source", "target")


@pytest.mark.slow
def test_any_name_can_be_said(delta_spark):
    schema = struct(*((candidate, LONG) for candidate in NAMES))
    row = tuple(range(len(NAMES)))
    assert delta_spark.execute(Create(schema)).outcome == Committed()
    assert (
        delta_spark.execute(Append(Rows(schema, (row, tuple(value + 100 for value in row))))).outcome
        == Committed()
    )
    every = And(tuple(Compare("=", Column((name,)), Literal(LONG, n)) for n, name in enumerate(NAMES)))
    assert (
        delta_spark.execute(
            Update(tuple((candidate, Literal(LONG, 7)) for candidate in NAMES), every)
        ).outcome
        == Committed()
    )
    on = And(
        tuple(
            Compare("=", Column(("target", candidate)), Column(("source", candidate))) for candidate in NAMES
        )
    )
    clauses = (
        MergeClause("matched", "update", tuple((candidate, Literal(LONG, 8)) for candidate in NAMES)),
        MergeClause(
            "not-matched", "insert", tuple((candidate, Column(("source", candidate))) for candidate in NAMES)
        ),
    )
    source = Rows(schema, (tuple(7 for _ in row), tuple(9 for _ in row)))
    assert delta_spark.execute(Merge(source, on, clauses)).outcome == Committed()
    table = delta_spark.read(
        Read(columns=NAMES, where=Compare("<", Column((NAMES[0],)), Literal(LONG, 100)))
    ).table
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == [
        tuple(8 for _ in row),
        tuple(9 for _ in row),
    ]


def test_the_portable_core_reads_as_sql():
    number, text = Column(("id",)), Column(("a`b",))
    tree = Or(
        (
            And((Compare("!=", number, Literal(LONG, -1)), Not(IsNull(text)))),
            In(text, (Literal(STRING, "it's ${x}\\"), Literal(STRING, None))),
            Between(number, Literal(LONG, 1), Literal(LONG, 2)),
            Compare("<=>", number, Literal(LONG, None)),
            And(()),
        )
    )
    assert sql(tree) == (
        "(((`id` <> CAST('-1' AS BIGINT)) AND (NOT (`a``b` IS NULL)))"
        r" OR (`a``b` IN ('it\u0027s \u0024{x}\u005C', CAST(NULL AS STRING)))"
        " OR (`id` BETWEEN CAST('1' AS BIGINT) AND CAST('2' AS BIGINT))"
        " OR (`id` <=> CAST(NULL AS BIGINT)) OR TRUE)"
    )


def test_calls_read_as_sql():
    plus = Call("+", (Column(("id",)), Literal(LONG, 1)), LONG)
    assert (
        sql(Call("cast", (plus,), DecimalType(20, 0)))
        == "CAST((`id` + CAST('1' AS BIGINT)) AS DECIMAL(20,0))"
    )
    assert sql(Call("upper", (Column(("source", "s")),), STRING)) == "upper(`source`.`s`)"
    assert sql(Call("like", (Column(("s",)), Literal(STRING, "a%")), STRING)) == "(`s` LIKE 'a%')"
    assert sql(Call("-", (Column(("id",)),), LONG)) == "(- `id`)"


def test_nested_constants_read_as_sql():
    nested = struct(("a", Array(LONG)), ("m", Map(STRING, DATE)))
    assert DIALECT.literal(nested, ((1, None), (("k", 0),))) == (
        "NAMED_STRUCT('a', CAST(ARRAY(CAST('1' AS BIGINT), CAST(NULL AS BIGINT)) AS ARRAY<BIGINT>), "
        "'m', CAST(MAP('k', CAST('1970-01-01' AS DATE)) AS MAP<STRING, DATE>))"
    )


def test_a_string_that_is_no_utf8_is_made_from_its_bytes():
    assert DIALECT.literal(STRING, "a\udcff") == "CAST(X'61ff' AS STRING)"


def test_decimals_keep_every_digit():
    assert DIALECT.literal(DecimalType(38, 10), Decimal(-1, 10)) == "CAST('-0.0000000001' AS DECIMAL(38,10))"


def test_a_moment_after_9999_is_counted_from_the_epoch_because_no_text_of_it_is_read():
    after = LAST_DAY + 1
    assert DIALECT.literal(TIMESTAMP_NTZ, after * 86_400_000_000) == (
        "(CAST('1970-01-01' AS TIMESTAMP_NTZ)"
        f" + MAKE_DT_INTERVAL({after}, 0, 0, CAST('0.000000' AS DECIMAL(18,6))))"
    )


@pytest.mark.parametrize(
    "literal",
    (
        Literal(VARIANT, (b"", b"")),
        Call("drop table", (), LONG),
        In(Literal(LONG, 1), ()),
    ),
    ids=("variant", "no function", "empty list"),
)
def test_what_has_no_words_is_said_to_be_inexpressible(literal):
    with pytest.raises(Inexpressible):
        sql(literal)
