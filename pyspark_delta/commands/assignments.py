"""`SET column = value`: resolve column names as Spark does and compute the new value of each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import DataType, StructType

from pyspark_delta.commands.conditions import expression
from pyspark_delta.exceptions import DeltaAnalysisError, InvalidArgument
from pyspark_delta.schema import path_text

__all__ = ["Assigned", "Tree", "assigned_value", "assignments", "parse_name"]

Assigned: TypeAlias = "Mapping[str, str | Column]"
# What is assigned to a column: a value for all of it, or a tree for some of its fields.
Tree: TypeAlias = "dict[str, Column | Tree]"


def assignments(assigned: Assigned, schema: StructType, alias: str | None, case_sensitive: bool) -> Tree:
    """The assigned values by column, under the schema's names; refuses unknown names and names given twice."""
    tree: Tree = {}
    for name, value in assigned.items():
        if not isinstance(name, str):
            raise TypeError(
                f"the name of a column must be a text, and {name!r} is of type {type(name).__name__}"
            )
        path = _resolve(parse_name(name), schema, alias, case_sensitive)
        if path is None:
            raise DeltaAnalysisError(
                f"there is no column {name} to assign to",
                f"The table has {', '.join(path_text((field.name,)) for field in schema.fields)}.",
            )
        _insert(tree, path, expression(value), name)
    return tree


def assigned_value(old: Column, data_type: DataType, tree: Column | Tree) -> Column:
    """The new value of a column: a whole new value, or a struct in which some fields are new."""
    if isinstance(tree, Column):
        return tree
    if not isinstance(data_type, StructType):
        raise TypeError(f"a {data_type.simpleString()} has no fields")
    return F.struct(
        *(
            (
                assigned_value(old.getField(field.name), field.dataType, tree[field.name])
                if field.name in tree
                else old.getField(field.name)
            ).alias(field.name)
            for field in data_type.fields
        )
    )


def parse_name(text: str) -> tuple[str, ...]:
    """The parts of a name. Dots separate them except between backticks; a doubled backtick is one."""
    parts: list[str] = []
    rest = text.strip()
    while True:
        if rest.startswith("`"):
            end = 1
            while True:
                end = rest.find("`", end)
                if end < 0:
                    raise InvalidArgument(f"the name {text} has a backtick without its other one")
                if rest[end + 1 : end + 2] != "`":
                    break
                end += 2
            part, rest = rest[1:end].replace("``", "`"), rest[end + 1 :]
            if rest and not rest.startswith("."):
                raise InvalidArgument(f"in the name {text} something follows a quoted part: {rest}")
        else:
            part, dot, rest = rest.partition(".")
            rest = dot + rest
        if not part:
            raise InvalidArgument(
                f"the name {text!r} has an empty part", "Quote a name with dots in backticks."
            )
        parts.append(part)
        if not rest:
            return tuple(parts)
        rest = rest[1:]


def _resolve(
    parts: tuple[str, ...], schema: StructType, alias: str | None, case_sensitive: bool
) -> tuple[str, ...] | None:
    resolved = _walk(parts, schema, case_sensitive)
    if (
        resolved is None
        and len(parts) > 1
        and alias is not None
        and _is_same_name(parts[0], alias, case_sensitive)
    ):
        resolved = _walk(parts[1:], schema, case_sensitive)
    return resolved


def _walk(parts: tuple[str, ...], schema: StructType, case_sensitive: bool) -> tuple[str, ...] | None:
    path: list[str] = []
    inside: DataType = schema
    for part in parts:
        if not isinstance(inside, StructType):
            return None
        field = next(
            (column for column in inside.fields if _is_same_name(column.name, part, case_sensitive)), None
        )
        if field is None:
            return None
        path.append(field.name)
        inside = field.dataType
    return tuple(path)


def _is_same_name(left: str, right: str, case_sensitive: bool) -> bool:
    return left == right or (not case_sensitive and left.lower() == right.lower())


def _insert(tree: Tree, path: tuple[str, ...], value: Column, name: str) -> None:
    *above, last = path
    for step in above:
        below = tree.setdefault(step, {})
        if isinstance(below, Column):
            raise _assigned_twice(name)
        tree = below
    if last in tree:
        raise _assigned_twice(name)
    tree[last] = value


def _assigned_twice(name: str) -> DeltaAnalysisError:
    return DeltaAnalysisError(f"the column {name} is assigned twice", "Assign to each column once.")
