"""The minimal history of each cause in delta-spark still shows it."""

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.histories import History
from delta_adapters.contract import Answer, Identity
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import all_causes
from delta_adapters.host_client import HostClient
from delta_models.operations import Operation, Read
from delta_models.outcomes import Outcome
from tests.adapters.deviations.shown import assert_shown
from tests.mutants.stage import ALWAYS_KNOWN, play

# Under faults they are replayed in tests/suites/crashes.
OURS = tuple(
    cause for cause in all_causes() if cause.engine == "delta-spark" and cause.history["suite"] != "crashes"
)


# Every history with such a step shows these as well.
ALWAYS = ("delta-spark-restores-without-checksum", "delta-spark-empty-values-stay-in-files")


class Hosted:
    """The host as an adapter, so that these tests share its JVM."""

    def __init__(self, host: HostClient) -> None:
        self._host = host
        self.open = host.open

    @property
    def identity(self) -> Identity:
        return self._host.identity

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self._host.capabilities.document

    def execute(self, operation: Operation, tag: str) -> Outcome:
        return self._host.execute(operation, tag).outcome

    def read(self, read: Read) -> Answer | Outcome | None:
        reply = self._host.read(read)
        return reply.outcome if reply.table is None else Answer(reply.table, reply.version)


@pytest.mark.slow
@pytest.mark.parametrize("cause", OURS, ids=lambda cause: cause.id)
def test_the_minimal_history_of_a_cause_still_shows_it(delta_spark_host, tmp_path, cause):
    history = History.from_json(cause.history)
    steps = [(step.operation, step.slot or "A") for step in history.steps]
    others = [DeltaRs()] if "delta-rs" in cause.slots.values() else []
    played = play(Hosted(delta_spark_host), tmp_path / "table", steps, *others, extra_reads=not others)
    assert_shown(cause, played.result, (*ALWAYS, *ALWAYS_KNOWN))
