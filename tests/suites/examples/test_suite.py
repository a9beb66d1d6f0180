"""The suite compares worked examples with the table folder, and reports differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.suites.examples import EXAMPLES, Example, Live
from conformance.suites.examples.suite import AS_WRITTEN, ExampleTable, execute_written
from delta_adapters.capabilities import Capabilities
from delta_adapters.reference import Reference
from delta_models.operations import Delete, Update, Vacuum
from delta_models.outcomes import NoChange
from tests.mutants.stage import InProcess


class Hoards(Reference):
    """Reports that a vacuum changed nothing."""

    def execute(self, operation, tag):
        return NoChange() if isinstance(operation, Vacuum) else super().execute(operation, tag)


class Rewrites(Reference):
    """Writes files again in place of deletion vectors, as a writer may that does not promise them."""

    promises = False

    @property
    def capabilities(self):
        said = super().capabilities
        return {**said, "guarantees": {**said["guarantees"], "deletion-vectors": self.promises}}

    def rows_and_removals(self, operation, snapshot, before, after, draft):
        if isinstance(operation, Update | Delete):
            return self.copy_on_write(snapshot, after)
        return super().rows_and_removals(operation, snapshot, before, after, draft)


class PromisesVectors(Rewrites):
    """Promises deletion vectors all the same."""

    promises = True


def differences(example: Example, adapter: Reference, tmp_path) -> list[str]:
    """Return the differences from an example, after asserting that there is no other violation."""
    host: Any = InProcess(adapter)
    engine_session = EngineSession("reference@1", host, Capabilities.validated(adapter.capabilities), 60.0)
    session = TableSession(tmp_path / "table", [engine_session], 0, example.name, extra_reads=False)
    table = ExampleTable(session, example)
    assert not table.table_session.open_all()
    result: list[StepResult] = []
    for written in example.steps:
        execute_written([table], written, lambda _, step_results: result.extend(step_results))
    result += table.compare_checkpoint()
    return [
        violation.detail
        for step_result in result
        for violation in step_result.violations
        if violation.requirement == AS_WRITTEN
    ]


@pytest.mark.parametrize(
    "name", ("some-table", "ingest-update-delete-append", "overwrite-then-vacuum", "misfit-refused")
)
def test_an_honest_engine_ends_every_step_as_written(name, tmp_path):
    assert differences(EXAMPLES[name](), Reference(), tmp_path) == []


def test_files_that_a_vacuum_should_have_removed_are_reported(tmp_path):
    problems = differences(EXAMPLES["overwrite-then-vacuum"](), Hoards(), tmp_path)
    assert any("files of step 1 are still in the folder" in difference for difference in problems)


def test_live_files_of_other_steps_are_reported(tmp_path):
    example = EXAMPLES["some-table"]()
    steps = [replace(step, live=(Live(0),)) if step.live else step for step in example.steps]
    problems = differences(replace(example, steps=tuple(steps)), Reference(), tmp_path)
    assert any("written down are 1 of step 0" in difference for difference in problems)


def small_invoices() -> Example:
    """The example with deletion vectors, without its last 99,257 rows."""
    example = EXAMPLES["invoices-with-deletion-vectors"]()
    return replace(example, steps=example.steps[:-1])


@pytest.mark.parametrize("adapter", (Reference, Rewrites))
def test_deletion_vectors_may_be_used_and_need_not(adapter, tmp_path):
    assert differences(small_invoices(), adapter(), tmp_path) == []


def test_who_promises_deletion_vectors_and_writes_files_again_is_reported(tmp_path):
    (problem,) = differences(small_invoices(), PromisesVectors(), tmp_path)
    assert problem.endswith(
        "after 'update one' live are 1 of step 1, 1 of step 3, "
        "written down are 1 of step 1, 1 of step 2 with 1 hidden rows, 1 of step 3"
    )


def test_another_file_than_the_one_that_is_written_again_is_reported(tmp_path):
    example = small_invoices()
    steps = [
        replace(step, rewritten=tuple(layout[1:] for layout in step.rewritten)) for step in example.steps
    ]
    (problem,) = differences(replace(example, steps=tuple(steps)), Rewrites(), tmp_path)
    assert "1 of step 1, 1 of step 2 with 1 hidden rows, 1 of step 3, or 1 of step 3" in problem


def test_what_follows_from_a_difference_is_not_reported_again(tmp_path):
    example = EXAMPLES["some-table"]()
    many = [step for step in example.steps if step.live]
    steps = [replace(step, live=(Live(0, files=7),)) if step.live else step for step in example.steps]
    problems = differences(replace(example, steps=tuple(steps)), Reference(), tmp_path)
    assert len(many) > 1
    assert len(problems) == 1


def test_a_checkpoint_elsewhere_than_written_down_is_reported(tmp_path):
    example = EXAMPLES["many-writes-and-a-checkpoint"]()
    wrong_example = replace(example, checkpoints={"reference": 7})
    problems = differences(wrong_example, Reference(), tmp_path)
    assert any("no checkpoint at version 7" in difference for difference in problems)


def test_a_checkpoint_where_it_is_written_down_is_read_back(tmp_path):
    example = EXAMPLES["many-writes-and-a-checkpoint"]()
    assert differences(replace(example, checkpoints={"reference": 10}), Reference(), tmp_path) == []
