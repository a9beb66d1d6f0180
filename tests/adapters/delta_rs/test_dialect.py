"""Each literal of delta-rs expresses exactly its value: it finds the row with the value, and no other row.

The tables have no statistics, so that the test proves the literal, and not the engine's data skipping.
"""

import pyarrow as pa
import pytest

from delta_adapters.dialects import Inexpressible, render_sql
from delta_adapters.dialects.calendar import date_text, timestamp_text
from delta_adapters.dialects.delta_rs import DeltaRsDialect
from delta_adapters.host_client import ReadReply
from delta_models.expressions import And, Between, Call, Column, Compare, In, IsNull, Literal, Not, Or
from delta_models.operations import Append, Create, Delete, Merge, MergeClause, Read, Update
from delta_models.outcomes import Committed
from delta_models.schema import BINARY, DATE, INTEGER, LONG, STRING, VARIANT, DataType, DecimalType, struct
from delta_models.values import Decimal, Rows, Value
from tests.adapters.extremes import EXTREMES

NO_STATISTICS = (("delta.dataSkippingNumIndexedCols", "0"),)
VALUE, NUMBER = Column(("value",)), Column(("number",))


def _partition_values(data_type: DataType) -> tuple[Value, ...]:
    """Return the extremes that deltalake 1.6.6 supports as partition values.

    It writes negative decimals as `-1.-1`, after which no reader can read the table. It names folders by all digits of
    a double, which are too many for a file name. And it reads the name of Hive's null back as a null.
    """
    unfit = {"__HIVE_DEFAULT_PARTITION__", -1.7976931348623157e308, 5e-324, 2.2250738585072014e-308}
    values = [extreme for extreme in EXTREMES[data_type] if extreme not in unfit]
    if isinstance(data_type, DecimalType) and data_type.scale:
        values = [value for value in values if value.unscaled >= 0]
    return (*values, None)


@pytest.mark.parametrize("data_type", tuple(EXTREMES), ids=str)
@pytest.mark.parametrize("role", ("data", "partition"))
def test_a_literal_says_exactly_its_value(delta_rs, data_type, role):
    values = _partition_values(data_type) if role == "partition" else (*EXTREMES[data_type], None)
    schema = struct(("value", data_type), ("number", LONG))
    rows = list(enumerate(values))
    create = Create(schema, ("value",) if role == "partition" else (), NO_STATISTICS)
    assert delta_rs.execute(create).outcome == Committed()
    # A NaN gets a file of its own: beside other values in one row group deltalake 1.6.6 does not find it.
    for with_nan in (False, True):
        append = Append(Rows(schema, tuple((value, n) for n, value in rows if (value != value) is with_nan)))
        if append.rows.rows:
            assert delta_rs.execute(append).outcome == Committed()

    for number, value in rows[:-1]:
        numbers = _numbers(delta_rs.read(Read(where=Compare("=", VALUE, Literal(data_type, value)))))
        assert numbers == {number}, f"read {value!r}"
        # No null among the options: on partition columns deltalake 1.6.6 then picks every row.
        options = (Literal(data_type, value), Literal(data_type, rows[0][1]))
        assert _numbers(delta_rs.read(Read(where=In(VALUE, options)))) == {number, 0}, f"read in {value!r}"

    null = len(rows) - 1
    alone = Compare("=", NUMBER, Literal(LONG, null))
    for number, value in (rows[0], rows[null - 1]):
        assert delta_rs.execute(Update((("value", Literal(data_type, value)),), alone)).outcome == Committed()
        if value == value:  # for a NaN see above: the two are in one row group now
            numbers = _numbers(delta_rs.read(Read(where=Compare("=", VALUE, Literal(data_type, value)))))
            assert numbers == {number, null}, f"update to {value!r}"
    assert delta_rs.execute(Update((("value", Literal(data_type, None)),), alone)).outcome == Committed()
    assert _numbers(delta_rs.read(Read(where=IsNull(VALUE)))) == {null}

    condition = Compare("=", Column(("target", "value")), Literal(data_type, rows[0][1]))
    same = Compare("=", Column(("target", "number")), Column(("source", "number")))
    merge = Merge(Rows(schema, ((None, 0),)), same, (MergeClause("matched", "delete", condition=condition),))
    assert delta_rs.execute(merge).outcome == Committed()
    assert _numbers(delta_rs.read(Read())) == set(range(1, len(rows)))

    for number, value in rows[1:-1]:
        assert (
            delta_rs.execute(Delete(Compare("=", VALUE, Literal(data_type, value)))).outcome == Committed()
        ), value
        assert _numbers(delta_rs.read(Read())) == set(range(number + 1, len(rows))), f"delete {value!r}"


NAMES = ("Upper", "two words", 'q"uote', "a.b", "select", "ünï", "a`b", "it's", "a,b", "x=y", "#", "{}")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_said(delta_rs, name):
    schema = struct((name, LONG), ("other", LONG))
    target, source, plain = Column(("target", name)), Column(("source", name)), Column((name,))
    assert delta_rs.execute(Create(schema)).outcome == Committed()
    assert delta_rs.execute(Append(Rows(schema, ((1, 1), (2, 2), (3, 3))))).outcome == Committed()
    assert (
        delta_rs.execute(Update(((name, Literal(LONG, 20)),), Compare("=", plain, Literal(LONG, 2)))).outcome
        == Committed()
    )
    clauses = (
        MergeClause("matched", "update", ((name, Literal(LONG, 30)), ("other", Column(("source", "other"))))),
        MergeClause("not-matched", "insert", ((name, source), ("other", Literal(LONG, 0)))),
    )
    merge = Merge(Rows(schema, ((3, 33), (4, 44))), Compare("=", target, source), clauses)
    assert delta_rs.execute(merge).outcome == Committed()
    assert delta_rs.execute(Delete(Compare("=", plain, Literal(LONG, 1)))).outcome == Committed()
    table = delta_rs.read(Read(columns=(name, "other"), where=Compare(">", plain, Literal(LONG, 0)))).table
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == [(4, 0), (20, 2), (30, 33)]


def test_the_portable_core_reads_as_sql():
    schema = struct(("id", LONG), ("s", STRING))
    number, text = Column(("id",)), Column(("s",))
    tree = Or(
        (
            And((Compare("!=", number, Literal(LONG, -1)), Not(IsNull(text)))),
            In(text, (Literal(STRING, "it's"), Literal(STRING, None))),
            Between(number, Literal(LONG, 1), Literal(INTEGER, 2)),
            Compare("<=>", number, Literal(LONG, None)),
            And(()),
        )
    )
    assert render_sql(tree, schema, DeltaRsDialect()) == (
        """((("id" <> -1) AND (NOT ("s" IS NULL))) OR ("s" IN ('it''s', CAST(NULL AS VARCHAR)))"""
        """ OR ("id" BETWEEN 1 AND CAST(CAST(2 AS INT) AS BIGINT))"""
        """ OR ("id" IS NOT DISTINCT FROM CAST(NULL AS BIGINT)) OR TRUE)"""
    )


def test_calls_read_as_sql():
    schema = struct(("id", LONG))
    tree = Call("cast", (Call("+", (Column(("id",)), Literal(LONG, 1)), LONG),), DecimalType(20, 0))
    assert render_sql(tree, schema, DeltaRsDialect()) == 'CAST(("id" + 1) AS DECIMAL(20,0))'


@pytest.mark.parametrize(
    "literal",
    (
        Literal(STRING, "\udcff"),
        Literal(VARIANT, None),
        Call("levenshtein", (), LONG),
        In(Literal(LONG, 1), ()),
    ),
    ids=("no UTF-8", "variant", "unknown function", "empty list"),
)
def test_what_has_no_words_is_said_to_be_inexpressible(literal):
    with pytest.raises(Inexpressible):
        render_sql(literal, struct(), DeltaRsDialect())


def test_literals_of_each_kind_look_as_a_user_would_write_them():
    dialect = DeltaRsDialect()
    assert dialect.literal(DATE, 18_262) == "CAST('2020-01-01' AS DATE)"
    assert dialect.literal(BINARY, b"\x00\xff") == "X'00ff'"
    assert dialect.literal(DecimalType(5, 2), Decimal(-1, 2)) == "CAST('-0.01' AS DECIMAL(5,2))"


@pytest.mark.parametrize(
    ("days", "text"),
    (
        (0, "1970-01-01"),
        (-719_162, "0001-01-01"),
        (2_932_896, "9999-12-31"),
        (-719_528, "0000-01-01"),
        (-719_529, "-0001-12-31"),
    ),
)
def test_days_become_dates_of_any_year(days, text):
    assert date_text(days) == text


def test_microseconds_become_timestamps_before_the_epoch_too():
    assert timestamp_text(-1) == "1969-12-31 23:59:59.999999"


def _numbers(reply: ReadReply) -> set[int]:
    assert isinstance(reply.table, pa.Table), reply.outcome
    return set(reply.table["number"].to_pylist())
