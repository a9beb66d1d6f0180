"""The judge of a worked example that is played again: its history, as a finding keeps it, is held to what is written.

A history of the suite that is no beginning of an example, because it was made smaller, has no judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Self

from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.histories import History, Step
from conformance.suites.examples import EXAMPLES, Example
from conformance.suites.examples.suite import ExampleTable, drawn_form

SUITE = "examples"


class ExampleJudge:
    """Executes the steps of a history, and compares the table with what the example says of each."""

    def __init__(self, table_session: TableSession, example: Example) -> None:
        self._table = ExampleTable(table_session, example)
        self._left = list(example.steps)

    @classmethod
    def of(cls, history: History, table_session: TableSession) -> Self | None:
        """The judge of a history at a table; None if it is no beginning of an example."""
        example = example_of(history)
        return None if example is None else cls(table_session, example)

    def execute(self, step: Step, execute: Callable[[Step], Sequence[StepResult]]) -> list[StepResult]:
        """Let the next step be executed, and return its results with what is not as written."""
        written = self._left.pop(0)
        self._table.prepare(written)
        results = list(execute(step))
        self._table.note(results)
        results += self._table.compare(written)
        return results if self._left else [*results, *self._table.compare_checkpoint()]


def example_of(history: History) -> Example | None:
    """The example that begins with the steps of a history; None if there is none."""
    if history.suite != SUITE or not history.steps:
        return None
    for example in _examples():
        forms = map(drawn_form, example.steps)
        if len(history.steps) <= len(example.steps) and all(
            step.operation == form.operation for step, form in zip(history.steps, forms, strict=False)
        ):
            return example
    return None


@cache
def _examples() -> tuple[Example, ...]:
    return tuple(make() for make in EXAMPLES.values())
