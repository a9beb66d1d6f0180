"""What a function is to the evaluator: its parameters, the type of its result, and how it is computed."""

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
    """A function was given arguments of a number or of types that it does not take."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function. `parameters` are the types to which arguments are brought, None for as they are.

    With `variadic` the last of them repeats; `optional` of them may be left out. A `strict` function is null if an
    argument is. A `lazy` one gets its arguments as functions without parameters, and calls those that it needs.
    """

    parameters: tuple[DataType | None, ...]
    result: Result
    make: Make
    strict: bool = True
    lazy: bool = False
    variadic: bool = False
    optional: int = 0

    def takes(self, count: int) -> bool:
        """Whether so many arguments are right."""
        most = len(self.parameters)
        return most - self.optional <= count and (self.variadic or count <= most)

    def parameter(self, position: int) -> DataType | None:
        """The type to which the argument at a position is brought."""
        return self.parameters[min(position, len(self.parameters) - 1)] if self.parameters else None


def simple(
    parameters: Sequence[DataType | None],
    result: DataType | Result,
    apply: Apply,
    **flags: Any,
) -> Function:
    """A function whose computation depends on the values alone."""
    return Function(
        tuple(parameters),
        result if callable(result) else (lambda _: result),
        lambda _types, _result, _zone: apply,
        **flags,
    )


def first_type(types: Sequence[DataType]) -> DataType:
    """The result has the type of the first argument."""
    return types[0]
