"""Translate a condition (Column or SQL) into a predicate that files can be checked against.

A plain condition compares columns with literals of their own type. It is translated as Spark parsed it, which takes a
millisecond. Any other condition is first analysed and simplified by Spark, including casts and constants. Parts that
still have no counterpart become `Unknown`, which keeps every file. The expression is fetched as JSON, in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    _parse_datatype_json_value,
)

from pyspark_delta import schema as schemas
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
    all_of,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["predicate_of"]


def predicate_of(
    condition: Column | str | None, schema: StructType, spark: SparkSession, alias: str | None = None
) -> Predicate | None:
    """The predicate of a condition on columns of this schema; None without a condition.

    The condition may call the table by an alias.
    """
    if condition is None:
        return None
    parsed = _as_written(condition, spark) if alias is None else None
    if parsed is not None:
        plain = _Translation(parsed.apply, schema).predicate(_tree(parsed.toJSON()))
        if plain is not None:
            return plain
    return _simplified(condition, schema, spark, alias)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of Spark's expression: its kind, its JSON, and its place in the order of all nodes."""

    kind: str
    body: dict[str, Any]
    number: int
    children: list[_Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Column:
    path: Path
    data_type: DataType | None


@dataclass(frozen=True, slots=True)
class _Value:
    value: Internal | None
    data_type: DataType


def _as_written(condition: Column | str, spark: SparkSession) -> Any | None:
    """Spark's parsed, unresolved expression of the condition; None if this Spark can't give it."""
    try:
        if isinstance(condition, str):
            return spark._jsparkSession.sessionState().sqlParser().parseExpression(condition)  # noqa: SLF001
        package = spark._jvm.org.apache.spark.sql.classic  # noqa: SLF001
        converter = getattr(getattr(package, "ColumnNodeToExpressionConverter$"), "MODULE$")
        return converter.apply(condition._jc.node())  # noqa: SLF001
    except Exception:  # noqa: BLE001 - what is wrong with a condition is said when it is analysed
        return None


def _simplified(
    condition: Column | str, schema: StructType, spark: SparkSession, alias: str | None
) -> Predicate:
    """The condition after Spark's optimizer, as the filter of a relation about which Spark knows nothing."""
    session = spark._jsparkSession  # noqa: SLF001
    frame = session.createDataFrame(spark._jsc.emptyRDD(), session.parseDataType(schema.json()))  # noqa: SLF001
    if alias is not None:
        frame = frame.alias(alias)
    frame = frame.filter(condition if isinstance(condition, str) else condition._jc)  # noqa: SLF001
    plan = frame.queryExecution().optimizedPlan()
    predicates: list[Predicate] = []
    while (name := plan.getClass().getSimpleName()) != "LogicalRDD":
        if name == "LocalRelation":  # the condition is never true
            return Constant(False)
        if name != "Filter":
            return Unknown()
        expression = plan.condition()
        translation = _Translation(expression.apply)
        predicate = translation.predicate(_tree(expression.toJSON()))
        predicates.append(predicate if predicate is not None else Unknown())
        plan = plan.child()
    return all_of(predicates)


def _tree(text: str) -> _Node:
    bodies = orjson.loads(text)
    position = 0

    def next_node() -> _Node:
        nonlocal position
        number, body = position, bodies[position]
        position += 1
        kind = body["class"].rsplit(".", 1)[-1]
        if kind == "UnresolvedFunction":
            kind = _FUNCTIONS.get(body["nameParts"].lower(), body["nameParts"])
        return _Node(kind, body, number, [next_node() for _ in range(body["num-children"])])

    return next_node()


class _Translation:
    """Translates nodes to a predicate. With a schema the nodes are unresolved, and only plain ones are translated."""

    def __init__(self, node_at: Callable[[int], Any], schema: StructType | None = None) -> None:
        self._node_at = node_at
        self._schema = schema

    def predicate(self, node: _Node) -> Predicate | None:
        """The predicate of a node; None if only plain nodes are wanted and this one is not."""
        make = _MAKERS.get(node.kind)
        predicate = make(self, node) if make is not None else None
        if predicate is None and self._schema is None:
            return Unknown(tuple(_named(node)))
        return predicate

    def connective(self, node: _Node, kind: type[And | Or]) -> Predicate | None:
        parts = [self.predicate(child) for child in node.children]
        known = tuple(part for part in parts if part is not None)
        return kind(known) if len(known) == len(parts) else None

    def negation(self, node: _Node) -> Predicate | None:
        part = self.predicate(node.children[0])
        return None if part is None else Not(part)

    def comparison(self, node: _Node, operator: Operator) -> Predicate | None:
        left, right = (self._operand(child) for child in node.children)
        if isinstance(left, _Value):
            left, right, operator = right, left, _TURNED[operator]
        if not isinstance(left, _Column) or not isinstance(right, _Value):
            return None
        fitted = self._fitted(left, right)
        return None if fitted is None else Comparison(operator, left.path, fitted.value)

    def between(self, node: _Node) -> Predicate | None:
        value, low, high = node.children
        parts = (
            self.comparison(_Node("", {}, node.number, [value, low]), ">="),
            self.comparison(_Node("", {}, node.number, [value, high]), "<="),
        )
        return And((parts[0], parts[1])) if parts[0] is not None and parts[1] is not None else None

    def in_list(self, node: _Node) -> Predicate | None:
        column, *operands = (self._operand(child) for child in node.children)
        if not isinstance(column, _Column):
            return None
        values = [
            self._fitted(column, operand) if isinstance(operand, _Value) else None for operand in operands
        ]
        known = tuple(value.value for value in values if value is not None)
        return In(column.path, known) if len(known) == len(values) else None

    def in_set(self, node: _Node) -> Predicate | None:
        """The predicate of a long IN list. Only the JVM has the values, so they are fetched as text."""
        column = self._operand(node.children[0])
        if not isinstance(column, _Column) or column.data_type is None:
            return None
        values = self._node_at(node.number).hset()
        has_null = values.contains(None)
        texts = values.mkString(_SEPARATOR).split(_SEPARATOR)
        if len(texts) != values.size():
            return None
        if has_null:
            texts.remove("null")
        internals = [self._internal_of_set(text, column.data_type) for text in texts]
        if any(value is None for value in internals):
            return None
        return In(column.path, (*internals, *([None] if has_null else [])))

    def null_test(self, node: _Node) -> Predicate | None:
        operand = self._operand(node.children[0])
        return IsNull(operand.path) if isinstance(operand, _Column) else None

    def not_null_test(self, node: _Node) -> Predicate | None:
        test = self.null_test(node)
        return None if test is None else Not(test)

    def starts_with(self, node: _Node) -> Predicate | None:
        column, text = (self._operand(child) for child in node.children)
        if not isinstance(column, _Column) or not isinstance(text, _Value) or not isinstance(text.value, str):
            return None
        return StartsWith(column.path, text.value) if isinstance(column.data_type, StringType) else None

    def constant(self, node: _Node) -> Predicate | None:
        operand = self._operand(node)
        if isinstance(operand, _Value) and (operand.value is None or isinstance(operand.value, bool)):
            return Constant(operand.value)
        return None

    def boolean_column(self, node: _Node) -> Predicate | None:
        operand = self._operand(node)
        if isinstance(operand, _Column) and isinstance(operand.data_type, BooleanType):
            return Comparison("=", operand.path, True)
        return None

    def _operand(self, node: _Node) -> _Column | _Value | None:
        if node.kind == "Literal":
            return self._literal(node)
        if node.kind == "AttributeReference":
            return _Column((node.body["name"],), _type_of(node.body["dataType"]))
        if node.kind == "GetStructField":
            inside = self._operand(node.children[0])
            if isinstance(inside, _Column) and isinstance(inside.data_type, StructType):
                part = inside.data_type.fields[node.body["ordinal"]]
                return _Column((*inside.path, part.name), part.dataType)
            return None
        if node.kind == "UnresolvedAttribute" and self._schema is not None:
            return self._resolved(node.body["nameParts"][1:-1].split(", "), self._schema)
        return None

    @staticmethod
    def _resolved(names: list[str], schema: StructType) -> _Column | None:
        inside: DataType = schema
        path: list[str] = []
        for name in names:
            step = schemas.find(inside, name) if isinstance(inside, StructType) else None
            if step is None:
                return None
            path.append(step.name)
            inside = step.dataType
        return _Column(tuple(path), inside)

    def _literal(self, node: _Node) -> _Value | None:
        text, data_type = node.body.get("value"), _type_of(node.body["dataType"])
        if data_type is None or isinstance(data_type, BinaryType):
            return None
        if text is None:
            return _Value(None, data_type)
        if isinstance(data_type, StringType):
            return _Value(text, data_type)
        if isinstance(data_type, DateType | TimestampType | TimestampNTZType):
            # The text is in the JVM's own zone and calendar, not the session's.
            return _Value(int(self._node_at(node.number).value()), data_type)
        try:
            value = internal(text, data_type)
        except CorruptLog:
            return None
        return None if value is None else _Value(value, data_type)

    def _fitted(self, column: _Column, value: _Value) -> _Value | None:
        """The literal's value, if comparing it directly gives what Spark's casts would give; else None."""
        if value.value is None or self._schema is None:
            return value  # after analysis both sides have one type
        kind, literal = column.data_type, value.data_type
        if isinstance(kind, StringType):
            plain = getattr(kind, "collation", "UTF8_BINARY") in {"UTF8_BINARY", None}
            return value if plain and isinstance(literal, StringType) else None
        if isinstance(kind, _EXACT):
            return value if isinstance(literal, _EXACT) else None
        if isinstance(kind, DoubleType):
            if isinstance(literal, DoubleType | DecimalType):
                return _Value(float(value.value), kind)
            small = isinstance(literal, _EXACT) and abs(int(value.value)) <= 2**53
            return _Value(float(value.value), kind) if small else None
        same = (BooleanType, DateType, TimestampType, TimestampNTZType)
        return (
            value
            if any(isinstance(kind, value_type) and isinstance(literal, value_type) for value_type in same)
            else None
        )

    def _internal_of_set(self, text: str, data_type: DataType) -> Internal | None:
        if isinstance(data_type, DateType | TimestampType | TimestampNTZType):
            return int(text)
        if isinstance(data_type, StringType):
            return text
        if isinstance(data_type, DecimalType):
            return Decimal(text)
        if isinstance(data_type, _EXACT | DoubleType | FloatType):
            return internal(text, data_type)
        return None


_EXACT = (ByteType, ShortType, IntegerType, LongType, DecimalType)
_SEPARATOR = "\x00\x1f\x00"

_TURNED: dict[Operator, Operator] = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

# Function names in a Column before analysis, by the expression that Spark makes of them.
_FUNCTIONS = {
    "[and]": "And",
    "[or]": "Or",
    "[!]": "Not",
    "[not]": "Not",
    "[=]": "EqualTo",
    "[==]": "EqualTo",
    "[<=>]": "EqualNullSafe",
    "[<]": "LessThan",
    "[<=]": "LessThanOrEqual",
    "[>]": "GreaterThan",
    "[>=]": "GreaterThanOrEqual",
    "[in]": "In",
    "[isnull]": "IsNull",
    "[isnotnull]": "IsNotNull",
    "[startswith]": "StartsWith",
    "[between]": "Between",
}

_MAKERS: dict[str, Callable[[_Translation, _Node], Predicate | None]] = {
    "And": lambda to, node: to.connective(node, And),
    "Or": lambda to, node: to.connective(node, Or),
    "Not": lambda to, node: to.negation(node),
    "EqualTo": lambda to, node: to.comparison(node, "="),
    "EqualNullSafe": lambda to, node: to.comparison(node, "<=>"),
    "LessThan": lambda to, node: to.comparison(node, "<"),
    "LessThanOrEqual": lambda to, node: to.comparison(node, "<="),
    "GreaterThan": lambda to, node: to.comparison(node, ">"),
    "GreaterThanOrEqual": lambda to, node: to.comparison(node, ">="),
    "Between": lambda to, node: to.between(node),
    "In": lambda to, node: to.in_list(node),
    "InSet": lambda to, node: to.in_set(node),
    "IsNull": lambda to, node: to.null_test(node),
    "IsNotNull": lambda to, node: to.not_null_test(node),
    "StartsWith": lambda to, node: to.starts_with(node),
    "Literal": lambda to, node: to.constant(node),
    "AttributeReference": lambda to, node: to.boolean_column(node),
    "UnresolvedAttribute": lambda to, node: to.boolean_column(node),
    "GetStructField": lambda to, node: to.boolean_column(node),
}


def _type_of(name: Any) -> DataType | None:
    try:
        return NullType() if name == "void" else _parse_datatype_json_value(name)
    except Exception:  # noqa: BLE001 - a type that PySpark can't name says nothing about files
        return None


def _named(node: _Node) -> Iterator[Path]:
    if node.kind == "AttributeReference":
        yield (node.body["name"],)
    for child in node.children:
        yield from _named(child)
