"""Describe a function for the evaluator: its parameters, the type of its result, and how to compute it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from delta_models.schema import DataType
from delta_models.values import Value

Apply = Callable[..., Value]
Make = Callable[[Sequence[DataType], DataType, tzinfo], Apply]
Result = Callable[[Sequence[DataType]], DataType]


class BadCall(TypeError):
    """A function does not take so many arguments, or arguments of these types."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that expressions can call.

    The evaluator casts arguments to the types in `parameters`; None leaves an argument as it is. With `variadic` the
    last parameter repeats. The last `optional` parameters may be missing. A `strict` function is null if an argument
    is. A `lazy` function receives its arguments as functions without parameters, and calls those that it needs.
    """

    parameters: tuple[DataType | None, ...]
    result: Result
    make: Make
    strict: bool = True
    lazy: bool = False
    variadic: bool = False
    optional: int = 0

    def takes(self, count: int) -> bool:
        """Whether the function takes so many arguments."""
        most = len(self.parameters)
        return most - self.optional <= count and (self.variadic or count <= most)

    def parameter(self, position: int) -> DataType | None:
        """Return the type to which the evaluator casts the argument at a position; None for no cast."""
        return self.parameters[min(position, len(self.parameters) - 1)] if self.parameters else None


def simple(
    parameters: Sequence[DataType | None],
    result: DataType | Result,
    apply: Apply,
    **flags: Any,
) -> Function:
    """Return a function whose result depends on the values alone, not on their types or the zone."""
    return Function(
        tuple(parameters),
        result if callable(result) else (lambda _: result),
        lambda _types, _result, _zone: apply,
        **flags,
    )


def first_type(types: Sequence[DataType]) -> DataType:
    """Return the type of the first argument, which the result has too."""
    return types[0]
