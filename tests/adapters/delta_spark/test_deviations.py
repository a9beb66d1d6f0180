"""Each known deviation of delta-spark still happens in its smallest history."""

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.findings import key_of, known_deviation
from conformance.histories import History
from delta_adapters.contract import Answer, Identity
from delta_adapters.deviations import all_deviations
from delta_adapters.host_client import HostClient
from delta_models.operations import Operation, Read
from delta_models.outcomes import Outcome
from tests.mutants.stage import play

# Under faults they are replayed in tests/suites/crashes.
OURS = tuple(
    deviation
    for deviation in all_deviations()
    if deviation.engine == "delta-spark" and deviation.history["suite"] != "crashes"
)


# Every history with such a step shows these as well.
ALWAYS = ("delta-spark-restores-without-checksum",)


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
@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_a_known_deviation_still_happens(delta_spark_host, tmp_path, entry):
    history = History.from_json(entry.history)
    steps = [(step.operation, step.slot or "A") for step in history.steps]
    played = play(Hosted(delta_spark_host), tmp_path / "table", steps)
    keys = [
        key_of(result.observation, violation) for result in played.result for violation in result.violations
    ]
    causes = {key: known_deviation(key, history=history) for key in keys}
    assert {key.fingerprint for key, cause in causes.items() if cause == entry.name} == set(
        entry.fingerprints
    ), played.describe() or "it is gone"
    assert set(causes.values()) <= {entry.name, *ALWAYS}, played.describe()
