"""From a syntax tree to an expression over a schema: names found, literals read, implicit casts put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from sqlglot import exp

from delta_models import functions
from delta_models.coercion import as_decimal_type, brought, common_type, compared, is_number
from delta_models.conversions import converter, read_decimal
from delta_models.expressions import (
    And,
    Between,
    Call,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
    type_of,
)
from delta_models.functions.dates import INTERVAL_UNITS, unit_named
from delta_models.functions.numbers import arithmetic_result
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTEGRALS,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    DecimalType,
    Map,
    Struct,
)
from delta_models.sql.errors import NoSuchColumn, NotUnderstood, TypeMismatch
from delta_models.sql.types import type_from

_COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expression], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div",
}  # fmt: skip
_BITWISE: dict[type[exp.Expression], str] = {
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^",
}  # fmt: skip
_MATCHING: dict[type[exp.Expression], str] = {exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike"}
_PARTS = {"DAYS": "day", "DOW": "dayofweek", "DOW_ISO": "weekday", "DOY": "dayofyear", "SECONDS": "second"}
_SAME_TYPE = {"coalesce", "nvl", "ifnull", "nullif", "greatest", "least", "array"}
_SIGNS = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LONGEST = 1 << 63


class Walk:
    """One text over one schema."""

    def __init__(self, schema: Struct, zone: tzinfo) -> None:
        self._schema = schema
        self._zone = zone

    def expression(self, tree: exp.Expression) -> Expression:
        """The expression that a node means."""
        kind = type(tree)
        if kind in _COMPARISONS:
            return self._comparison(_COMPARISONS[kind], tree)
        if kind in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[kind], tree.this, tree.expression)
        if kind in _BITWISE:
            return self._alike(_BITWISE[kind], [self.expression(tree.this), self.expression(tree.expression)])
        if kind in _MATCHING:
            return self._matching(tree)
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise NotUnderstood(f"{tree.sql('spark')}: the model does not know {kind.__name__}")
        return handler(self, tree)

    def _type(self, expression: Expression) -> DataType:
        return type_of(expression, self._schema)

    def _truth(self, tree: exp.Expression) -> Expression:
        found = self.expression(tree)
        source = self._type(found)
        if source not in {BOOLEAN, VOID, STRING}:
            raise TypeMismatch(f"{tree.sql('spark')} is {source}, not a boolean")
        return brought(found, source, BOOLEAN, self._zone)

    # Names

    def _column(self, tree: exp.Expression) -> Expression:
        return self._path([each.name for each in _identifiers(tree)])

    def _path(self, names: Sequence[str]) -> Expression:
        found: Expression = Column(())
        data_type: DataType = self._schema
        path: tuple[str, ...] = ()
        for position, name in enumerate(names):
            if isinstance(data_type, Struct):
                try:
                    field = data_type[name]
                except KeyError as error:
                    raise NoSuchColumn(f"there is no {'.'.join(names)}: {error.args[0]}") from error
                path = (*path, field.name)
                found, data_type = Column(path), field.type
                continue
            return self._steps(found, names[position:])
        return found

    def _steps(self, found: Expression, names: Sequence[str]) -> Expression:
        """Names that go into an array of structs, or a map."""
        for name in names:
            source = self._type(found)
            if isinstance(source, Array) and isinstance(source.element, Struct):
                result: DataType = Array(self._field(source.element, name))
                found = Call("field", (found, Literal(STRING, name)), result)
            elif isinstance(source, Map):
                found = self._call("[]", [found, Literal(STRING, name)])
            elif isinstance(source, Struct):
                found = Call("field", (found, Literal(STRING, name)), self._field(source, name))
            else:
                raise NoSuchColumn(f"{source} has no field {name!r}")
        return found

    def _field(self, struct: Struct, name: str) -> DataType:
        try:
            return struct[name].type
        except KeyError as error:
            raise NoSuchColumn(str(error.args[0])) from error

    def _dot(self, tree: exp.Expression) -> Expression:
        names: list[str] = []
        base: exp.Expression = tree
        while isinstance(base, exp.Dot):
            names.insert(0, base.expression.name)
            base = base.this
        if isinstance(base, exp.Column):
            return self._path([*(each.name for each in _identifiers(base)), *names])
        return self._steps(self.expression(base), names)

    def _bracket(self, tree: exp.Expression) -> Expression:
        found = self.expression(tree.this)
        for each in tree.expressions:
            key = self.expression(each)
            if isinstance(self._type(found), Struct) and isinstance(key, Literal):
                found = self._steps(found, [str(key.value)])
            else:
                found = self._call("[]", [found, key])
        return found

    # Literals

    def _literal(self, tree: exp.Expression) -> Expression:
        return Literal(STRING, tree.this) if tree.is_string else number(tree.this)

    def _negative(self, tree: exp.Expression) -> Expression:
        if isinstance(tree.this, exp.Literal) and not tree.this.is_string:
            return number(f"-{tree.this.this}")
        found = self.expression(tree.this)
        if isinstance(found, Literal) and found.type in INTEGRALS:
            return Literal(found.type, -found.value)
        return self._call("negative", [found])

    def _cast(self, tree: exp.Expression) -> Expression:
        target, inner = type_from(tree.args["to"]), self.expression(tree.this)
        source = self._type(inner)
        converter(source, target, self._zone)  # so that types without a cast are noticed
        if isinstance(inner, Literal) and source != target:
            folded = brought(inner, source, target, self._zone)
            if isinstance(folded, Literal):
                return folded
        name = "try_cast" if tree.args.get("safe") else "cast"
        return inner if source == target else Call(name, (inner,), target)

    # Operators

    def _comparison(self, op: str, tree: exp.Expression) -> Expression:
        left, right = self.expression(tree.this), self.expression(tree.expression)
        if isinstance(left, Literal) and not isinstance(right, Literal):
            left, right, op = right, left, _SIGNS.get(op, op)
        left, right = compared((left, right), self._schema, self._zone)
        return Compare(op, left, right)

    def _arithmetic(self, op: str, first: exp.Expression, second: exp.Expression) -> Expression:
        if op in {"+", "-"}:
            if isinstance(second, exp.Interval):
                return self._moved(self.expression(first), second, -1 if op == "-" else 1)
            if isinstance(first, exp.Interval) and op == "+":
                return self._moved(self.expression(second), first, 1)
        return self._calculated(op, self.expression(first), self.expression(second))

    def _calculated(self, op: str, left: Expression, right: Expression) -> Expression:
        types = [self._type(left), self._type(right)]
        if types[0] == DATE and op in {"+", "-"}:
            if types[1] in INTEGRALS:
                return self._call("date_add" if op == "+" else "date_sub", [left, right])
            if types[1] == DATE and op == "-":
                return self._call("datediff", [left, right])
        if types[1] == DATE and types[0] in INTEGRALS and op == "+":
            return self._call("date_add", [right, left])
        left, right = (
            brought(each, STRING, DOUBLE, self._zone) if found == STRING else each
            for each, found in zip((left, right), types, strict=True)
        )
        types = [self._type(left), self._type(right)]
        if not all(is_number(each) or each == VOID for each in types):
            raise TypeMismatch(f"{types[0]} {op} {types[1]}")
        wanted = common_type(types[0], types[1])
        if isinstance(wanted, DecimalType):
            mine, its = as_decimal_type(types[0]), as_decimal_type(types[1])
            result = arithmetic_result(op, _literal_type(left, mine), _literal_type(right, its))
            return Call(op, tuple(self._as_decimal(each) for each in (left, right)), result)
        if op == "/":
            wanted = DOUBLE
        elif op == "div":
            wanted = LONG
        arguments = tuple(
            brought(each, found, wanted, self._zone) for each, found in zip((left, right), types, strict=True)
        )
        return Call(op, arguments, arithmetic_result(op, wanted, wanted))

    def _as_decimal(self, operand: Expression) -> Expression:
        source = self._type(operand)
        return brought(operand, source, _literal_type(operand, as_decimal_type(source)), self._zone)

    def _moved(self, moment: Expression, interval: exp.Expression, sign: int) -> Expression:
        unit = unit_named(interval.text("unit"))
        amount = interval.this
        if unit not in INTERVAL_UNITS or amount is None:
            raise NotUnderstood(f"the interval {interval.sql('spark')}")
        count = number(amount.this) if isinstance(amount, exp.Literal) else self.expression(amount)
        if not isinstance(count, Literal) or count.type not in INTEGRALS:
            raise NotUnderstood(f"the interval {interval.sql('spark')}")
        source = self._type(moment)
        if source == STRING:
            moment = brought(moment, source, TIMESTAMP, self._zone)
        elif source not in {DATE, TIMESTAMP, TIMESTAMP_NTZ}:
            raise TypeMismatch(f"{source} is no moment")
        return self._call(f"add_{unit.lower()}", [moment, Literal(LONG, sign * count.value)])

    def _matching(self, tree: exp.Expression, *escape: Expression) -> Expression:
        arguments = [self.expression(tree.this), self.expression(tree.expression), *escape]
        found = self._call(_MATCHING[type(tree)], arguments)
        return Not(found) if tree.args.get("negate") else found

    def _escape(self, tree: exp.Expression) -> Expression:
        if type(tree.this) not in _MATCHING:
            raise NotUnderstood(tree.sql("spark"))
        return self._matching(tree.this, self.expression(tree.expression))

    def _in(self, tree: exp.Expression) -> Expression:
        if not tree.expressions:
            raise NotUnderstood(f"{tree.sql('spark')}: a subquery")
        operand, *options = compared(
            [self.expression(tree.this), *map(self.expression, tree.expressions)], self._schema, self._zone
        )
        return In(operand, tuple(options))

    def _between(self, tree: exp.Expression) -> Expression:
        parts = [self.expression(each) for each in (tree.this, tree.args["low"], tree.args["high"])]
        operand, low, high = compared(parts, self._schema, self._zone)
        return Between(operand, low, high)

    def _is(self, tree: exp.Expression) -> Expression:
        operand = self.expression(tree.this)
        if isinstance(tree.expression, exp.Null):
            return IsNull(operand)
        if isinstance(tree.expression, exp.Boolean):
            return Compare("<=>", self._truth(tree.this), Literal(BOOLEAN, bool(tree.expression.this)))
        raise NotUnderstood(tree.sql("spark"))

    def _not(self, tree: exp.Expression) -> Expression:
        if isinstance(tree.this, exp.Is) and isinstance(tree.this.expression, exp.Null):
            return IsNotNull(self.expression(tree.this.this))
        return Not(self._truth(tree.this))

    # Functions

    def _case(self, tree: exp.Expression) -> Expression:
        conditions: list[Expression] = []
        values = [self.expression(each.args["true"]) for each in tree.args["ifs"]]
        for each in tree.args["ifs"]:
            if tree.this is None:
                conditions.append(self._truth(each.this))
            else:
                conditions.append(self._comparison("=", exp.EQ(this=tree.this, expression=each.this)))
        otherwise = tree.args.get("default")
        values.append(Literal(VOID, None) if otherwise is None else self.expression(otherwise))
        values = self._one_type(values)
        arguments = [part for pair in zip(conditions, values, strict=False) for part in pair]
        return Call("case", (*arguments, values[-1]), self._type(values[0]))

    def _if(self, tree: exp.Expression) -> Expression:
        no = tree.args.get("false")
        values = [
            self.expression(tree.args["true"]),
            Literal(VOID, None) if no is None else self.expression(no),
        ]
        values = self._one_type(values)
        return Call("if", (self._truth(tree.this), *values), self._type(values[0]))

    def _extract(self, tree: exp.Expression) -> Expression:
        part = tree.this.name.upper()
        return self._call(_PARTS.get(part, part.lower()), [self.expression(tree.expression)])

    def _trim(self, tree: exp.Expression) -> Expression:
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
            str(tree.args.get("position") or "").upper(), "trim"
        )
        arguments = [self.expression(tree.this)]
        if tree.expression is not None and not isinstance(tree.expression, str):
            arguments.append(self.expression(tree.expression))
        return self._call(name, arguments)

    def _substring(self, tree: exp.Expression) -> Expression:
        parts = [tree.this, tree.args.get("start"), tree.args.get("length")]
        return self._call("substring", [self.expression(each) for each in parts if each is not None])

    def _position(self, tree: exp.Expression) -> Expression:
        return self._call("position", [self.expression(tree.args["substr"]), self.expression(tree.this)])

    def _named(self, tree: exp.Expression) -> Expression:
        name = str(tree.this).lower()
        arguments = [self.expression(each) for each in tree.expressions]
        match name, arguments:
            case "isnull", [operand]:
                return IsNull(operand)
            case "isnotnull", [operand]:
                return IsNotNull(operand)
            case "if" | "iff", [_, yes, no]:
                values = self._one_type([yes, no])
                return Call("if", (self._truth(tree.expressions[0]), *values), self._type(values[0]))
            case "nvl2", [condition, some, none]:
                values = self._one_type([some, none])
                return Call("nvl2", (condition, *values), self._type(values[0]))
            case "date_part" | "datepart", [Literal(value=str(part)), source]:
                return self._call(_PARTS.get(part.upper(), part.lower()), [source])
            case "mod", [left, right]:
                return self._calculated("%", left, right)
        if name in {"variant_get", "try_variant_get"} and len(arguments) > 1:
            return self._variant(name, arguments)
        if name in _SAME_TYPE:
            arguments = self._one_type(arguments)
        if name == "concat":
            return self._joined(name, arguments)
        return self._call(name, arguments)

    def _joined(self, name: str, arguments: Sequence[Expression]) -> Expression:
        types = [self._type(each) for each in arguments]
        if not all(each == BINARY or isinstance(each, Array) for each in types):
            arguments = [
                brought(each, found, STRING, self._zone) for each, found in zip(arguments, types, strict=True)
            ]
        return self._call(name, arguments)

    def _pipes(self, tree: exp.Expression) -> Expression:
        return self._joined("||", [self.expression(tree.this), self.expression(tree.expression)])

    def _variant(self, name: str, arguments: Sequence[Expression]) -> Expression:
        from delta_models.sql import parse_type  # noqa: PLC0415 - a type stands in a literal here alone

        result: DataType = VARIANT
        if len(arguments) > 2 and isinstance(arguments[2], Literal):
            result = parse_type(str(arguments[2].value))
        return Call(name, tuple(arguments), result)

    def _one_type(self, arguments: Sequence[Expression]) -> list[Expression]:
        wanted: DataType = VOID
        for each in arguments:
            wanted = common_type(wanted, self._type(each))
        return [brought(each, self._type(each), wanted, self._zone) for each in arguments]

    def _alike(self, name: str, arguments: Sequence[Expression]) -> Expression:
        return self._call(name, self._one_type(arguments))

    def _call(self, name: str, arguments: Sequence[Expression]) -> Expression:
        found = functions.signature(name)
        if found is None:
            raise NotUnderstood(f"the model does not know the function {name!r}")
        if not found.takes(len(arguments)):
            raise TypeMismatch(f"{name} does not take {len(arguments)} arguments")
        given = []
        for position, each in enumerate(arguments):
            source, wanted = self._type(each), found.parameter(position)
            if wanted is not None and source != wanted:
                if not isinstance(each, Literal):
                    converter(source, wanted, self._zone)
                given.append(brought(each, source, wanted, self._zone))
            else:
                given.append(each)
        types = [self._type(each) for each in given]
        result = found.result(types)
        functions.application(name, types, result, self._zone)  # so that wrong types are noticed at once
        return Call(name, tuple(given), result)


def number(text: str) -> Literal:
    """A number as it is written: whole ones int, long or decimal by their size, with a point decimal, with an
    exponent double."""
    plain = text.lstrip("+-")
    if plain.isdigit():
        whole = int(text)
        if -(1 << 31) <= whole < 1 << 31:
            return Literal(INTEGER, whole)
        if -_LONGEST <= whole < _LONGEST:
            return Literal(LONG, whole)
    elif "e" in plain.lower():
        return Literal(DOUBLE, float(text))
    value = read_decimal(text)
    digits = max(len(str(abs(value.unscaled))), value.scale)
    return Literal(DecimalType(digits, value.scale), value)


def _literal_type(operand: Expression, otherwise: DecimalType) -> DecimalType:
    """A whole literal meets a decimal with no more digits than it has."""
    if isinstance(operand, Literal) and operand.type in INTEGRALS and operand.value is not None:
        return DecimalType(len(str(abs(operand.value))), 0)
    return otherwise


def _identifiers(tree: exp.Expression) -> list[exp.Expression]:
    return [part for key in ("catalog", "db", "table", "this") if (part := tree.args.get(key)) is not None]


def _flat(kind: type[exp.Expression], tree: exp.Expression) -> list[exp.Expression]:
    while isinstance(tree, exp.Paren):
        tree = tree.this
    if isinstance(tree, kind):
        return [*_flat(kind, tree.this), *_flat(kind, tree.expression)]
    return [tree]


_Handler = Callable[[Walk, exp.Expression], Expression]

_HANDLERS: dict[type[exp.Expression], _Handler] = {
    exp.Column: Walk._column,  # noqa: SLF001 - the table of the class, beside it
    exp.Dot: Walk._dot,  # noqa: SLF001
    exp.Bracket: Walk._bracket,  # noqa: SLF001
    exp.Literal: Walk._literal,  # noqa: SLF001
    exp.Boolean: lambda _, tree: Literal(BOOLEAN, bool(tree.this)),
    exp.Null: lambda _walk, _tree: Literal(VOID, None),
    exp.HexString: lambda _, tree: Literal(BINARY, bytes.fromhex(tree.this)),
    exp.Neg: Walk._negative,  # noqa: SLF001
    exp.BitwiseNot: lambda walk, tree: walk._call("~", [walk.expression(tree.this)]),  # noqa: SLF001
    exp.Paren: lambda walk, tree: walk.expression(tree.this),
    exp.And: lambda walk, tree: And(tuple(walk._truth(each) for each in _flat(exp.And, tree))),  # noqa: SLF001
    exp.Or: lambda walk, tree: Or(tuple(walk._truth(each) for each in _flat(exp.Or, tree))),  # noqa: SLF001
    exp.Not: Walk._not,  # noqa: SLF001
    exp.Is: Walk._is,  # noqa: SLF001
    exp.In: Walk._in,  # noqa: SLF001
    exp.Between: Walk._between,  # noqa: SLF001
    exp.Escape: Walk._escape,  # noqa: SLF001
    exp.Cast: Walk._cast,  # noqa: SLF001
    exp.TryCast: Walk._cast,  # noqa: SLF001
    exp.Case: Walk._case,  # noqa: SLF001
    exp.If: Walk._if,  # noqa: SLF001
    exp.Extract: Walk._extract,  # noqa: SLF001
    exp.Trim: Walk._trim,  # noqa: SLF001
    exp.Substring: Walk._substring,  # noqa: SLF001
    exp.StrPosition: Walk._position,  # noqa: SLF001
    exp.DPipe: Walk._pipes,  # noqa: SLF001
    exp.Concat: lambda walk, tree: walk._call("concat", [walk.expression(each) for each in tree.expressions]),  # noqa: SLF001
    exp.Anonymous: Walk._named,  # noqa: SLF001
}
