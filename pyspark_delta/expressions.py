"""From a condition, a Column or SQL, to the predicate by which files can be told apart.

Spark itself analyses and simplifies the condition (casts, constants, In); its expression comes over as JSON in one call.
What has no counterpart becomes `Unknown`, which keeps every file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson
from pyspark.sql.types import (
    BinaryType,
    DataType,
    StructType,
    TimestampNTZType,
    TimestampType,
    _parse_datatype_json_value,
)

from pyspark_delta.exceptions import CorruptLog
from pyspark_delta.partition_values import Internal, internal
from pyspark_delta.predicates import (
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Not,
    Operator,
    Or,
    Path,
    Predicate,
    StartsWith,
    Unknown,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["predicate_of"]


def predicate_of(condition: Column | str | None, schema: StructType, spark: SparkSession) -> Predicate | None:
    """The predicate of a condition on the columns of this schema; None where there is no condition."""
    if condition is None:
        return None
    session = spark._jsparkSession  # noqa: SLF001 - the classic session's own way to the JVM
    jvm = spark._jvm  # noqa: SLF001
    rows = spark._jsc.emptyRDD()  # noqa: SLF001
    frame = session.createDataFrame(rows, session.parseDataType(schema.json()))
    if isinstance(condition, str):
        frame = frame.filter(condition)
    else:
        frame = frame.filter(condition._jc)  # noqa: SLF001
    plan = frame.queryExecution().optimizedPlan()
    found: list[Predicate] = []
    while (name := plan.getClass().getSimpleName()) != "LogicalRDD":
        if name == "LocalRelation":  # nothing can come through
            return Constant(False)
        if name != "Filter":
            return Unknown()
        nodes = orjson.loads(plan.condition().toJSON())
        zone = session.conf().get("spark.sql.session.timeZone")
        found.append(_Reader(nodes, zone).predicate())
        plan = plan.child()
    assert jvm is not None  # noqa: S101 - a live session has one
    return And(tuple(found)) if len(found) > 1 else found[0] if found else Constant(True)


class _Reader:
    """Reads the nodes of an expression, parents before children."""

    def __init__(self, nodes: list[dict[str, Any]], zone: str) -> None:
        self._nodes = nodes
        self._at = 0
        self._zone = zone

    def predicate(self) -> Predicate:
        node = self._nodes[self._at]
        name = node["class"].rsplit(".", 1)[-1]
        make = _MAKERS.get(name)
        if make is None:
            return Unknown(tuple(self._skipped()))
        return make(self, node)

    def two(self, kind: type[And | Or]) -> Predicate:
        self._at += 1
        left, right = self.predicate(), self.predicate()
        return kind((left, right))

    def negation(self) -> Predicate:
        self._at += 1
        return Not(self.predicate())

    def comparison(self, operator: Operator) -> Predicate:
        self._at += 1
        left, right = self._operand(), self._operand()
        if isinstance(left, _Column) and isinstance(right, _Value):
            return Comparison(operator, left.path, right.value)
        if isinstance(left, _Value) and isinstance(right, _Column):
            return Comparison(_TURNED[operator], right.path, left.value)
        return Unknown(tuple(_paths([left, right])))

    def one_of(self, node: dict[str, Any]) -> Predicate:
        self._at += 1
        operands = [self._operand() for _ in range(node["num-children"])]
        column, values = operands[0], operands[1:]
        if isinstance(column, _Column) and all(isinstance(value, _Value) for value in values):
            return In(column.path, tuple(value.value for value in values if isinstance(value, _Value)))
        return Unknown(tuple(_paths(operands)))

    def null_test(self, *, negative: bool) -> Predicate:
        self._at += 1
        operand = self._operand()
        if not isinstance(operand, _Column):
            return Unknown(tuple(_paths([operand])))
        return Not(IsNull(operand.path)) if negative else IsNull(operand.path)

    def starts(self) -> Predicate:
        self._at += 1
        column, text = self._operand(), self._operand()
        if isinstance(column, _Column) and isinstance(text, _Value) and isinstance(text.value, str):
            return StartsWith(column.path, text.value)
        return Unknown(tuple(_paths([column, text])))

    def constant(self) -> Predicate:
        operand = self._operand()
        if isinstance(operand, _Value) and (operand.value is None or isinstance(operand.value, bool)):
            return Constant(operand.value)
        return Unknown()

    def boolean_column(self) -> Predicate:
        operand = self._operand()
        return (
            Comparison("=", operand.path, True)
            if isinstance(operand, _Column)
            else Unknown(tuple(_paths([operand])))
        )

    def _operand(self) -> _Operand:
        node = self._nodes[self._at]
        name = node["class"].rsplit(".", 1)[-1]
        if name == "AttributeReference":
            self._at += 1
            return _Column((node["name"],))
        if name == "GetStructField":
            self._at += 1
            inside = self._operand()
            field = node.get("name")
            if isinstance(inside, _Column) and isinstance(field, str):
                return _Column((*inside.path, field))
            return _Other(_paths([inside]))
        if name == "Literal":
            self._at += 1
            return _literal(node, self._zone)
        return _Other(self._skipped())

    def _skipped(self) -> list[Path]:
        """Pass over a whole expression; returns the columns that it names."""
        node = self._nodes[self._at]
        if node["class"].rsplit(".", 1)[-1] in {"AttributeReference", "GetStructField"}:
            return _paths([self._operand()])
        self._at += 1
        found: list[Path] = []
        for _ in range(node["num-children"]):
            found.extend(self._skipped())
        return found


class _Column:
    def __init__(self, path: Path) -> None:
        self.path = path


class _Value:
    def __init__(self, value: Internal | None) -> None:
        self.value = value


class _Other:
    def __init__(self, columns: list[Path]) -> None:
        self.columns = columns


_Operand = _Column | _Value | _Other

_TURNED: dict[Operator, Operator] = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

_MAKERS: dict[str, Callable[[_Reader, dict[str, Any]], Predicate]] = {
    "And": lambda reader, _: reader.two(And),
    "Or": lambda reader, _: reader.two(Or),
    "Not": lambda reader, _: reader.negation(),
    "EqualTo": lambda reader, _: reader.comparison("="),
    "EqualNullSafe": lambda reader, _: reader.comparison("<=>"),
    "LessThan": lambda reader, _: reader.comparison("<"),
    "LessThanOrEqual": lambda reader, _: reader.comparison("<="),
    "GreaterThan": lambda reader, _: reader.comparison(">"),
    "GreaterThanOrEqual": lambda reader, _: reader.comparison(">="),
    "In": lambda reader, node: reader.one_of(node),
    "IsNull": lambda reader, _: reader.null_test(negative=False),
    "IsNotNull": lambda reader, _: reader.null_test(negative=True),
    "StartsWith": lambda reader, _: reader.starts(),
    "Literal": lambda reader, _: reader.constant(),
    "AttributeReference": lambda reader, _: reader.boolean_column(),
    "GetStructField": lambda reader, _: reader.boolean_column(),
}


def _literal(node: dict[str, Any], zone: str) -> _Value | _Other:
    text = node.get("value")
    data_type = _type_of(node["dataType"])
    if text is None:
        return _Value(None)
    if data_type is None or isinstance(data_type, BinaryType):
        return _Other([])
    if text == "":  # a text without characters is no null here
        return _Value("") if data_type.typeName() == "string" else _Other([])
    try:
        if isinstance(data_type, TimestampType | TimestampNTZType) and text.lstrip("-").isdigit():
            return _Value(int(text))
        return _Value(internal(text, data_type, zone))
    except CorruptLog:
        return _Other([])


def _type_of(name: Any) -> DataType | None:
    try:
        return _parse_datatype_json_value(name)
    except Exception:  # noqa: BLE001 - a type that PySpark can't name says nothing about files
        return None


def _paths(operands: list[_Operand]) -> list[Path]:
    found: list[Path] = []
    for operand in operands:
        if isinstance(operand, _Column):
            found.append(operand.path)
        elif isinstance(operand, _Other):
            found.extend(operand.columns)
    return found
