"""delta-spark resolves conflicts between threads of one JVM as the model expects.

The Turnstile can't race these threads, because a paused one holds the lock of the table. Here delta-spark's own
transaction observer takes every thread through its phases in a given order. The result is checked against the model
like that of any other race.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suites.crashes.scenarios import FORTY_DAYS, SCHEMA, rows, where
from conformance.suites.races.scenarios import INSERT_99
from delta_models.concurrency import (
    CANNOT,
    CompletedOperation,
    documented_conflict,
    is_serial,
    overlap_of,
)
from delta_models.concurrency.serializability import find_anomaly
from delta_models.expressions import Literal
from delta_models.log import LogReader
from delta_models.operations import Append, Create, Delete, Operation, SetProperties, Update
from delta_models.schema import LONG
from delta_models.table import ModelHistory
from tests.pyspark_delta.delta_spark import DeltaSpark

pytestmark = pytest.mark.slow

BEFORE = (Create(SCHEMA), Append(rows(1, 2)), Append(rows(3, 4)))
IN_SQL: tuple[tuple[Operation, str], ...] = (
    (Append(rows(20)), "INSERT INTO delta.`{table}` VALUES (20, 0)"),
    (Delete(where("=", 2)), "DELETE FROM delta.`{table}` WHERE id = 2"),
    (Delete(where(">", 2)), "DELETE FROM delta.`{table}` WHERE id > 2"),
    (
        Update((("part", Literal(LONG, 8)),), where("=", 2)),
        "UPDATE delta.`{table}` SET part = 8 WHERE id = 2",
    ),
    (
        INSERT_99,
        """MERGE INTO delta.`{table}` t USING (SELECT 99L AS id, 3L AS part) s ON t.id = s.id
        WHEN NOT MATCHED THEN INSERT *""",
    ),
    (
        SetProperties(FORTY_DAYS),
        "ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 40 days')",
    ),
)
PAIRS = ((0, 0), (0, 2), (1, 3), (4, 4), (0, 5))
ORDERS = ("AABBBA", "BABAAB")  # start, prepare, commit: all overlap, and either commits first

RACE = """
from pyspark import InheritableThread
import time
delta = spark._jvm.org.apache.spark.sql.delta
observers = getattr(getattr(delta, "TransactionExecutionObserver$"), "MODULE$")
phases = getattr(getattr(delta.fuzzer, "OptimisticTransactionPhases$"), "MODULE$")

class Writer:
    def __init__(self, name, text):
        self.outcome, self.text = None, text
        self.observer = delta.fuzzer.PhaseLockingTransactionExecutionObserver(phases.forName(name))
        of = self.observer.phases()
        self.gates = [of.initialPhase(), of.preparePhase(), of.commitPhase()]
        self.rest = [of.backfillPhase(), of.postCommitPhase()]
        self.thread = InheritableThread(target=self.work)
        self.thread.start()
        self.await_gate()
    def work(self):
        try:
            observers.setObserver(self.observer)
            spark.sql(self.text).collect()
            self.outcome = "committed"
        except Exception as error:
            self.outcome = type(error).__name__
    def await_gate(self):
        until = time.monotonic() + 60
        while self.outcome is None and not (self.gates and self.gates[0].hasReached()):
            if time.monotonic() > until:
                raise TimeoutError(f"{self.text} came to no phase")
            time.sleep(0.005)
    def go_on(self):
        if self.outcome is not None:
            return
        self.gates.pop(0).entryBarrier().unblock()
        if not self.gates:
            for each in self.rest:
                each.entryBarrier().unblock()
        self.await_gate()

writers = {name: Writer(name, text) for name, text in zip("AB", texts)}
for name in order:
    writers[name].go_on()
for each in writers.values():
    each.thread.join(60)
result = [writers[name].outcome for name in "AB"]
"""


@pytest.fixture(scope="module")
def model_history() -> ModelHistory:
    history = ModelHistory()
    for operation in BEFORE:
        history = history.after(operation)
    return history


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_two_threads_leave_what_some_order_of_them_leaves(
    pair: tuple[int, int], model_history: ModelHistory, delta_spark: DeltaSpark, tmp_path: Path
):
    refused = []
    operations = [IN_SQL[at][0] for at in pair]
    for order in ORDERS:
        table = tmp_path / order
        delta_spark.run(
            """
            spark.sql(f"CREATE TABLE delta.`{table}` (id BIGINT, part BIGINT) USING delta")
            for values in ("(1, 1), (2, 2)", "(3, 3), (4, 0)"):
                spark.sql(f"INSERT INTO delta.`{table}` VALUES {values}")
            """,
            table=str(table),
        )
        texts = [IN_SQL[at][1].format(table=table) for at in pair]
        results = delta_spark.run(RACE, texts=texts, order=order)
        reader = LogReader(table)
        done = [
            CompletedOperation(candidate, at)
            for at, candidate in enumerate(operations)
            if results[at] == "committed"
        ]
        newest = reader.snapshot()
        states = [reader.rows(reader.snapshot(version)) for version in range(2, newest.version + 1)]
        assert newest.version == 2 + len(done), (order, results)
        assert find_anomaly(model_history, done, states[-1]) is None, (order, results)
        assert is_serial(model_history, done, states), (order, results)
        if any(isinstance(step.operation, SetProperties) for step in done):
            assert newest.metadata.configuration == dict(FORTY_DAYS), (order, results)
        assert "committed" in results
        refused += [(operations[at], outcome) for at, outcome in enumerate(results) if outcome != "committed"]
    names = {kind for _, kind in refused}
    if documented_conflict(operations[0], operations[1], overlap_of(model_history, operations)) == CANNOT:
        assert refused == []
    if any(isinstance(candidate, SetProperties) for candidate in operations):
        assert names == {"MetadataChangedException"}
    else:
        assert names <= {"ConcurrentAppendException", "ConcurrentDeleteReadException"}
        assert not any(isinstance(operation, Append) for operation, _ in refused), "an append reads nothing"
    assert bool(refused) == (pair != (0, 0)), names
