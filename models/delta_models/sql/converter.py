"""Convert a syntax tree to an expression, with one handler for each kind of node."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from delta_models.casts.explicit import converter
from delta_models.casts.implicit import cast_expression, unify_operands
from delta_models.expressions import (
    And,
    Between,
    Call,
    Compare,
    Expression,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
)
from delta_models.functions.dates import INTERVAL_UNITS, find_unit
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    DATE,
    INTEGRALS,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Struct,
)
from delta_models.sql.binder import Binder, number
from delta_models.sql.errors import NotUnderstood, TypeMismatch
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


class Converter(Binder):
    """Converts the syntax tree of one text over one schema."""

    def expression(self, tree: exp.Expression) -> Expression:
        """Return the expression that a node means. Raises SqlError."""
        kind = type(tree)
        if kind in _COMPARISONS:
            return self._comparison(_COMPARISONS[kind], tree)
        if kind in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[kind], tree.this, tree.expression)
        if kind in _BITWISE:
            return self.call_on_one_type(
                _BITWISE[kind], [self.expression(tree.this), self.expression(tree.expression)]
            )
        if kind in _MATCHING:
            return self._matching(tree)
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise NotUnderstood(f"{tree.sql('spark')}: the model does not know {kind.__name__}")
        return handler(self, tree)

    def _truth(self, tree: exp.Expression) -> Expression:
        expression = self.expression(tree)
        source = self.type(expression)
        if source not in {BOOLEAN, VOID, STRING}:
            raise TypeMismatch(f"{tree.sql('spark')} is {source}, not a boolean")
        return cast_expression(expression, source, BOOLEAN, self.zone)

    def _truths(self, kind: type[exp.Expression], tree: exp.Expression) -> tuple[Expression, ...]:
        return tuple(self._truth(operand) for operand in _operands(kind, tree))

    # Names

    def _column(self, tree: exp.Expression) -> Expression:
        return self.path([identifier.name for identifier in _identifiers(tree)])

    def _dot(self, tree: exp.Expression) -> Expression:
        names: list[str] = []
        base: exp.Expression = tree
        while isinstance(base, exp.Dot):
            names.insert(0, base.expression.name)
            base = base.this
        if isinstance(base, exp.Column):
            return self.path([*(identifier.name for identifier in _identifiers(base)), *names])
        return self.steps(self.expression(base), names)

    def _bracket(self, tree: exp.Expression) -> Expression:
        base = self.expression(tree.this)
        for expression in tree.expressions:
            key = self.expression(expression)
            if isinstance(self.type(base), Struct) and isinstance(key, Literal):
                base = self.steps(base, [str(key.value)])
            else:
                base = self.call("[]", [base, key])
        return base

    # Literals

    def _literal(self, tree: exp.Expression) -> Expression:
        return Literal(STRING, tree.this) if tree.is_string else number(tree.this)

    def _negative(self, tree: exp.Expression) -> Expression:
        if isinstance(tree.this, exp.Literal) and not tree.this.is_string:
            return number(f"-{tree.this.this}")
        operand = self.expression(tree.this)
        if isinstance(operand, Literal) and operand.type in INTEGRALS:
            return Literal(operand.type, -operand.value)
        return self.call("negative", [operand])

    def _cast(self, tree: exp.Expression) -> Expression:
        target, inner = type_from(tree.args["to"]), self.expression(tree.this)
        source = self.type(inner)
        converter(source, target, self.zone)  # raises for types without a cast
        if isinstance(inner, Literal) and source != target:
            folded = cast_expression(inner, source, target, self.zone)
            if isinstance(folded, Literal):
                return folded
        name = "try_cast" if tree.args.get("safe") else "cast"
        return inner if source == target else Call(name, (inner,), target)

    # Operators

    def _comparison(self, op: str, tree: exp.Expression) -> Expression:
        left, right = self.expression(tree.this), self.expression(tree.expression)
        if isinstance(left, Literal) and not isinstance(right, Literal):
            left, right, op = right, left, _SIGNS.get(op, op)
        left, right = unify_operands((left, right), self.schema, self.zone)
        return Compare(op, left, right)

    def _arithmetic(self, op: str, first: exp.Expression, second: exp.Expression) -> Expression:
        if op in {"+", "-"}:
            if isinstance(second, exp.Interval):
                return self._move(self.expression(first), second, -1 if op == "-" else 1)
            if isinstance(first, exp.Interval) and op == "+":
                return self._move(self.expression(second), first, 1)
        return self.arithmetic(op, self.expression(first), self.expression(second))

    def _move(self, moment: Expression, interval: exp.Expression, sign: int) -> Expression:
        unit = find_unit(interval.text("unit"))
        amount = interval.this
        if unit not in INTERVAL_UNITS or amount is None:
            raise NotUnderstood(f"the interval {interval.sql('spark')}")
        count = number(amount.this) if isinstance(amount, exp.Literal) else self.expression(amount)
        if not isinstance(count, Literal) or count.type not in INTEGRALS:
            raise NotUnderstood(f"the interval {interval.sql('spark')}")
        source = self.type(moment)
        if source == STRING:
            moment = cast_expression(moment, source, TIMESTAMP, self.zone)
        elif source not in {DATE, TIMESTAMP, TIMESTAMP_NTZ}:
            raise TypeMismatch(f"{source} is no moment")
        return self.call(f"add_{unit.lower()}", [moment, Literal(LONG, sign * count.value)])

    def _matching(self, tree: exp.Expression, *escape: Expression) -> Expression:
        arguments = [self.expression(tree.this), self.expression(tree.expression), *escape]
        call = self.call(_MATCHING[type(tree)], arguments)
        return Not(call) if tree.args.get("negate") else call

    def _escape(self, tree: exp.Expression) -> Expression:
        if type(tree.this) not in _MATCHING:
            raise NotUnderstood(tree.sql("spark"))
        return self._matching(tree.this, self.expression(tree.expression))

    def _in(self, tree: exp.Expression) -> Expression:
        if not tree.expressions:
            raise NotUnderstood(f"{tree.sql('spark')}: a subquery")
        operand, *options = unify_operands(
            [self.expression(tree.this), *map(self.expression, tree.expressions)], self.schema, self.zone
        )
        return In(operand, tuple(options))

    def _between(self, tree: exp.Expression) -> Expression:
        parts = [self.expression(part) for part in (tree.this, tree.args["low"], tree.args["high"])]
        operand, low, high = unify_operands(parts, self.schema, self.zone)
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
        values = [self.expression(argument.args["true"]) for argument in tree.args["ifs"]]
        for argument in tree.args["ifs"]:
            if tree.this is None:
                conditions.append(self._truth(argument.this))
            else:
                conditions.append(self._comparison("=", exp.EQ(this=tree.this, expression=argument.this)))
        otherwise = tree.args.get("default")
        values.append(Literal(VOID, None) if otherwise is None else self.expression(otherwise))
        values = self.one_type(values)
        arguments = [part for pair in zip(conditions, values, strict=False) for part in pair]
        return Call("case", (*arguments, values[-1]), self.type(values[0]))

    def _if(self, tree: exp.Expression) -> Expression:
        no = tree.args.get("false")
        values = [
            self.expression(tree.args["true"]),
            Literal(VOID, None) if no is None else self.expression(no),
        ]
        values = self.one_type(values)
        return Call("if", (self._truth(tree.this), *values), self.type(values[0]))

    def _extract(self, tree: exp.Expression) -> Expression:
        part = tree.this.name.upper()
        return self.call(_PARTS.get(part, part.lower()), [self.expression(tree.expression)])

    def _trim(self, tree: exp.Expression) -> Expression:
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
            str(tree.args.get("position") or "").upper(), "trim"
        )
        arguments = [self.expression(tree.this)]
        if tree.expression is not None and not isinstance(tree.expression, str):
            arguments.append(self.expression(tree.expression))
        return self.call(name, arguments)

    def _substring(self, tree: exp.Expression) -> Expression:
        parts = [tree.this, tree.args.get("start"), tree.args.get("length")]
        return self.call("substring", [self.expression(part) for part in parts if part is not None])

    def _position(self, tree: exp.Expression) -> Expression:
        return self.call("position", [self.expression(tree.args["substr"]), self.expression(tree.this)])

    def _function_call(self, tree: exp.Expression) -> Expression:
        name = str(tree.this).lower()
        arguments = [self.expression(expression) for expression in tree.expressions]
        match name, arguments:
            case "isnull", [operand]:
                return IsNull(operand)
            case "isnotnull", [operand]:
                return IsNotNull(operand)
            case "if" | "iff", [_, yes, no]:
                values = self.one_type([yes, no])
                return Call("if", (self._truth(tree.expressions[0]), *values), self.type(values[0]))
            case "nvl2", [condition, some, none]:
                values = self.one_type([some, none])
                return Call("nvl2", (condition, *values), self.type(values[0]))
            case "date_part" | "datepart", [Literal(value=str(part)), source]:
                return self.call(_PARTS.get(part.upper(), part.lower()), [source])
            case "mod", [left, right]:
                return self.arithmetic("%", left, right)
        if name in {"variant_get", "try_variant_get"} and len(arguments) > 1:
            return self.variant(name, arguments)
        if name in _SAME_TYPE:
            arguments = self.one_type(arguments)
        if name == "concat":
            return self.concatenation(name, arguments)
        return self.call(name, arguments)

    def _pipes(self, tree: exp.Expression) -> Expression:
        return self.concatenation("||", [self.expression(tree.this), self.expression(tree.expression)])


def _identifiers(tree: exp.Expression) -> list[exp.Expression]:
    return [part for key in ("catalog", "db", "table", "this") if (part := tree.args.get(key)) is not None]


def _operands(kind: type[exp.Expression], tree: exp.Expression) -> list[exp.Expression]:
    while isinstance(tree, exp.Paren):
        tree = tree.this
    if isinstance(tree, kind):
        return [*_operands(kind, tree.this), *_operands(kind, tree.expression)]
    return [tree]


_Handler = Callable[[Converter, exp.Expression], Expression]

_HANDLERS: dict[type[exp.Expression], _Handler] = {
    exp.Column: Converter._column,  # noqa: SLF001 - the table of the class, beside it
    exp.Dot: Converter._dot,  # noqa: SLF001
    exp.Bracket: Converter._bracket,  # noqa: SLF001
    exp.Literal: Converter._literal,  # noqa: SLF001
    exp.Boolean: lambda _, tree: Literal(BOOLEAN, bool(tree.this)),
    exp.Null: lambda _walk, _tree: Literal(VOID, None),
    exp.HexString: lambda _, tree: Literal(BINARY, bytes.fromhex(tree.this)),
    exp.Neg: Converter._negative,  # noqa: SLF001
    exp.BitwiseNot: lambda converter, tree: converter.call("~", [converter.expression(tree.this)]),
    exp.Paren: lambda converter, tree: converter.expression(tree.this),
    exp.And: lambda converter, tree: And(converter._truths(exp.And, tree)),  # noqa: SLF001
    exp.Or: lambda converter, tree: Or(converter._truths(exp.Or, tree)),  # noqa: SLF001
    exp.Not: Converter._not,  # noqa: SLF001
    exp.Is: Converter._is,  # noqa: SLF001
    exp.In: Converter._in,  # noqa: SLF001
    exp.Between: Converter._between,  # noqa: SLF001
    exp.Escape: Converter._escape,  # noqa: SLF001
    exp.Cast: Converter._cast,  # noqa: SLF001
    exp.TryCast: Converter._cast,  # noqa: SLF001
    exp.Case: Converter._case,  # noqa: SLF001
    exp.If: Converter._if,  # noqa: SLF001
    exp.Extract: Converter._extract,  # noqa: SLF001
    exp.Trim: Converter._trim,  # noqa: SLF001
    exp.Substring: Converter._substring,  # noqa: SLF001
    exp.StrPosition: Converter._position,  # noqa: SLF001
    exp.DPipe: Converter._pipes,  # noqa: SLF001
    exp.Concat: lambda converter, tree: converter.call(
        "concat", [converter.expression(expression) for expression in tree.expressions]
    ),
    exp.Anonymous: Converter._function_call,  # noqa: SLF001
}
