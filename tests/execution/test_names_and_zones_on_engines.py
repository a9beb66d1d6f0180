"""Released engines pair the fields of structs by name, and delta-spark computes in the zone of its session."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.engine_pool import call_timeout
from conformance.execution.engine_session import EngineSession
from conformance.execution.step_result import StepResult
from conformance.execution.table_session import TableSession
from conformance.histories import Step
from delta_adapters.host_client import HostClient
from delta_adapters.registry import parse_engine
from delta_models import operations as ops
from delta_models.expressions import Literal
from delta_models.outcomes import Committed, Rejected
from delta_models.schema import DATE
from delta_models.values import Rows
from tests.checks.test_row_constraints import BARE, CREATE, FIRST, TWO, WEST
from tests.mutants.names_and_zones import CREATED, MERGE, OTHER, TURNED, UPDATE
from tests.mutants.stage import ALWAYS

BY_NAME = (
    *CREATED, ops.Append(Rows(TURNED, (OTHER,))), ops.Overwrite(Rows(TURNED, (OTHER,))),
    ops.Append(Rows(TURNED, (OTHER,)), schema_mode="merge"), ops.Overwrite(Rows(TURNED, (OTHER,))), MERGE,
)  # fmt: skip
BY_POSITION = (*CREATED, ops.Append(Rows(TURNED, (OTHER,)), by_name=False))
ASSIGNED = (ops.Create(BARE), TWO, WEST, ops.Update((("at", Literal(DATE, 1)),), FIRST))
KEPT = (CREATE, TWO, WEST, ops.Delete(FIRST))
COMPACTED = (CREATE, TWO, WEST, TWO, ops.Optimize())

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], EngineSession]]:
    """A function that starts an engine, once."""
    with ExitStack() as stack:

        @functools.cache
        def start_once(name: str) -> EngineSession:
            host = stack.enter_context(HostClient.start(parse_engine(name), tmp_path_factory.mktemp(name)))
            return EngineSession(str(host.identity), host, host.capabilities, call_timeout(on_jvm=True))

        yield start_once


def play(
    engine_session: EngineSession, folder: Path, operations: Sequence[ops.Operation]
) -> list[StepResult]:
    """Play operations at a new table, which no violation may end."""
    result = play_all(engine_session, folder, operations)
    assert violations_of(result) == {}
    return result


def play_all(
    engine_session: EngineSession, folder: Path, operations: Sequence[ops.Operation]
) -> list[StepResult]:
    """Play operations at a new table."""
    table_session = TableSession(folder / "table", [replace(engine_session, left=None)], 1, "t")
    result = table_session.open_all()
    for operation in operations:
        result += table_session.execute(Step(operation))
    return result


def violations_of(result: Sequence[StepResult]) -> dict[str, str]:
    """The violations with their details, without those that every history of an engine has."""
    return {
        violation.requirement: violation.detail
        for step_result in result
        for violation in step_result.violations
        if violation.requirement not in {*ALWAYS, "protocol.features-needed"}
    }


@pytest.mark.parametrize("engine", ("delta-rs", "delta-spark"))
def test_no_released_engine_is_charged_for_fields_by_name(
    start: Callable[[str], EngineSession], engine: str, tmp_path: Path
):
    result = play(start(engine), tmp_path, BY_NAME)
    written = [one.observation for one in result if not isinstance(one.observation.operation, ops.QUERIES)]
    assert [one.outcome for one in written] == [Committed()] * len(BY_NAME)
    assert written[-1].model.rows == ((1, (3, 4), ((3, 4),), (("k", (3, 4)),)),)


def test_delta_spark_is_not_charged_for_what_it_inserts_by_position(
    start: Callable[[str], EngineSession], tmp_path: Path
):
    result = play(start("delta-spark"), tmp_path, BY_POSITION)
    assert result[-1].observation.outcome == Committed()


def test_delta_spark_is_charged_for_an_update_that_assigns_fields_by_position(
    start: Callable[[str], EngineSession], tmp_path: Path
):
    """`DeltaTable.update` of 4.4.0 does so. The same update in SQL goes by name, as merges and deltalake do."""
    result = violations_of(play_all(start("delta-spark"), tmp_path, (*CREATED, UPDATE)))
    assert list(result) == ["contents.update"]
    assert "missing (1, (3, 4)" in result["contents.update"]


@pytest.mark.parametrize("story", (KEPT, COMPACTED, ASSIGNED), ids=("delete", "optimize", "assigned"))
def test_delta_spark_is_not_charged_for_the_zone_of_its_session(
    start: Callable[[str], EngineSession], story: Sequence[ops.Operation], tmp_path: Path
):
    result = play(start("delta-spark"), tmp_path, story)
    last = result[-1].observation.outcome
    assert last == Committed() if story is ASSIGNED else isinstance(last, Rejected), last
