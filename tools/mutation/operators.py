"""Finds the places of a Python source where one small change makes a mutant, and makes the changed text.

Each operator is a function from a node of the syntax tree to the texts that may stand in its place. A mutant changes
one node. Annotations, docstrings, f-strings, what is logged and what only a type checker runs are left as they are.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True, slots=True)
class Place:
    """One mutant of a source: the operator, the line, and the text between two offsets that is replaced."""

    operator: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def apply(self, source: str) -> str:
        """Return the changed source. Raises ValueError if the source is not the one that the place is of."""
        if source[self.start : self.end] != self.before:
            message = (
                f"line {self.line} does not hold {self.before!r}; the mutants were drawn from another source"
            )
            raise ValueError(message)
        return source[: self.start] + self.after + source[self.end :]


def places_of(source: str) -> Iterator[Place]:
    """Yield all mutants of a source, in the order of its lines. A few are no Python any more (`is_python`)."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found: list[Place] = []
    changes: list[tuple[str, ast.expr | ast.stmt, str]]
    for node in _reached(tree):
        changes = [("condition", part, text) for part, text in _condition(node)]
        if isinstance(node, ast.expr | ast.stmt):
            changes += [(name, node, text) for name, operator in OPERATORS.items() for text in operator(node)]
        for name, part, text in changes:
            start = offset(part.lineno, part.col_offset)
            end = offset(part.end_lineno or part.lineno, part.end_col_offset or 0)
            place = Place(name, part.lineno, start, end, source[start:end], text)
            if place.after != place.before:
                found.append(place)
    yield from sorted(found, key=lambda place: (place.start, place.end, place.operator, place.after))


def is_python(source: str) -> bool:
    """Whether a changed source still compiles."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _reached(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below a node that a change of behaviour may come from."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_silent(child):
                continue
            yield child
            yield from _reached(child)


def _is_silent(node: ast.AST) -> bool:
    """Whether no change of a node is one of behaviour: imports, docstrings, texts, `__all__`, what is logged.

    An f-string may hold an expression of SQL, too. Python 3.11 does not say where its parts stand.
    """
    match node:
        case (
            ast.Import()
            | ast.ImportFrom()
            | ast.JoinedStr()
            | ast.Expr(value=ast.Constant())
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="_log"))))
            | ast.If(test=ast.Name(id="TYPE_CHECKING"))
            | ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")])
        ):
            return True
    return False


# The operators


def _comparison(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                operators = [*node.ops[:position], other(), *node.ops[position + 1 :]]
                yield _expression(ast.Compare(node.left, operators, node.comparators))


def _arithmetic(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield _expression(ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right))


def _connective(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _expression(ast.BoolOp(other, node.values))
        for position in range(len(node.values)):
            rest = node.values[:position] + node.values[position + 1 :]
            yield _expression(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))


def _negation(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _expression(node.operand)
    if isinstance(node, ast.IfExp):
        yield _expression(ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse))
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        for position, generator in enumerate(node.generators):
            if generator.ifs:
                negated: list[ast.expr] = [ast.UnaryOp(ast.Not(), condition) for condition in generator.ifs]
                other = ast.comprehension(generator.target, generator.iter, negated, generator.is_async)
                generators = [*node.generators[:position], other, *node.generators[position + 1 :]]
                yield ast.unparse(type(node)(node.elt, generators))


def _constant(node: ast.AST) -> Iterator[str]:
    if not isinstance(node, ast.Constant):
        return
    match node.value:
        case bool():
            yield repr(not node.value)
        case int() | float():
            yield repr(node.value + 1)
        case str() if node.value and " " not in node.value:
            yield repr(f"{node.value}x")


def _call(node: ast.AST) -> Iterator[str]:
    if not isinstance(node, ast.Call):
        return
    if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        yield _expression(node.args[0])
    if isinstance(node.func, ast.Attribute) and node.args:
        yield _expression(node.func.value)


def _keyword(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        for position in range(len(node.keywords)):
            rest = node.keywords[:position] + node.keywords[position + 1 :]
            yield ast.unparse(ast.Call(node.func, node.args, rest))


def _returned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield "return None"
        if isinstance(node.value, ast.Compare | ast.BoolOp | ast.Call):
            yield f"return not {_expression(node.value)}"


def _removed(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "pass"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"


def _condition(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """What decides where a statement goes on: a condition is negated, a loop has nothing to go through."""
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield test, f"(not {_expression(test)})"
        case ast.For(iter=whole):
            yield whole, "()"


OPERATORS: dict[str, Callable[[ast.AST], Iterator[str]]] = {
    "comparison": _comparison,
    "arithmetic": _arithmetic,
    "connective": _connective,
    "negation": _negation,
    "constant": _constant,
    "call": _call,
    "keyword": _keyword,
    "return": _returned,
    "removal": _removed,
}


def _expression(node: ast.AST) -> str:
    return f"({ast.unparse(node)})"
