"""The turnstile on deltalake: every fault action at every role of an append, and what it leaves."""

from datetime import timedelta

import pytest

from conformance.fault_injection.fault_actions import (
    DeadTable,
    Fail,
    FaultAction,
    FaultRule,
    Kill,
    LoseReply,
    Tear,
)
from delta_adapters.host_errors import HostDied
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.log import LogReader
from delta_models.operations import Append, Checkpoint, Create, Delete, Optimize, Overwrite, Update, Vacuum
from delta_models.outcomes import Committed, NoChange, Unknown
from delta_models.schema import LONG, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG), ("part", LONG))
ONE = Compare("=", Column(("id",)), Literal(LONG, 1))
ROLES = ("data-staging", "data", "staging", "commit", "clean-up")


def rows(*ids):
    return Rows(SCHEMA, tuple((identity, identity % 4) for identity in ids))


def commits(folder):
    return sorted(int(path.stem) for path in (folder / "_delta_log").glob("*.json"))


def ids(folder):
    reader = LogReader(folder)
    return sorted(row[0] for row in reader.rows(reader.snapshot()).rows)


class Stage:
    """A delta-rs behind the turnstile, at a table of three commits in a new folder."""

    def __init__(self, engine, folder):
        self.engine, self.instrumented_process, self.host, self.folder = (
            engine,
            engine.instrumented_process,
            engine.host,
            folder,
        )
        self.scene = 0

    def next_table(self):
        self.scene += 1
        self.table = self.folder / f"scene{self.scene}"
        self.engine.open(self.table)

    def set(self, properties=()):
        self.next_table()
        for operation in (Create(SCHEMA, properties=properties), Append(rows(1, 2)), Append(rows(3))):
            assert self.host.execute(operation).outcome == Committed()
        return self

    def act(self, operation, *rules, **options):
        self.instrumented_process.begin(rules, **options)
        try:
            outcome = self.host.execute(operation, timeout=30).outcome
        except HostDied:
            outcome = None
        return outcome, self.instrumented_process.end()


@pytest.fixture
def stage(engines, tmp_path):
    yield Stage(engines[0], tmp_path / "scenes")
    engines[0].instrumented_process.advance(-engines[0].instrumented_process.ahead)


# After a fault at each role: whether the table has the append, and which outcomes the engine may report.
MATRIX: dict[str, tuple[FaultAction, dict[str, bool]]] = {
    "kill before": (Kill("before"), {"clean-up": True}),
    "kill after": (Kill("after"), {"commit": True, "clean-up": True}),
    "EIO": (Fail("EIO"), {"clean-up": True}),
    "ENOSPC": (Fail("ENOSPC"), {"clean-up": True}),
    "EACCES": (Fail("EACCES"), {"clean-up": True}),
    # A name that is taken is what deltalake reckons with: it takes the next.
    "EEXIST": (Fail("EEXIST"), {"clean-up": True, "data-staging": True, "staging": True, "commit": True}),
    "lost reply": (LoseReply(), {"commit": True, "clean-up": True}),
    "dead before": (DeadTable("before"), {"clean-up": True}),
    "dead after": (DeadTable("after"), {"commit": True, "clean-up": True}),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if "kill" in name else []) for name in MATRIX]
)
def test_every_verdict_at_every_role_of_an_append_leaves_what_it_must(stage, name):
    action, present = MATRIX[name]
    for role in ROLES:
        stage.set()
        outcome, record = stage.act(Append(rows(4)), FaultRule(role, action))
        assert record.followed, (role, record)
        there = present.get(role, False)
        assert ids(stage.table) == ([1, 2, 3, 4] if there else [1, 2, 3]), role
        assert (outcome is None) == isinstance(action, Kill), role
        assert outcome != Committed() or there, role
        stage.table = stage.table.rename(stage.table.with_name(f"{stage.table.name}-afterwards"))
        stage.engine.open(stage.table)
        assert stage.host.execute(Append(rows(5))).outcome == Committed(), "the next writer succeeds"
        assert ids(stage.table)[-1] == 5


@pytest.mark.parametrize("role", ("data-staging", "staging"))
@pytest.mark.parametrize("then", ("kill", "ENOSPC"))
def test_a_torn_file_is_never_part_of_the_table(stage, role, then):
    outcome, record = stage.set().act(Append(rows(4)), FaultRule(role, Tear(5, then)))
    assert record.followed
    assert (outcome is None) == (then == "kill")
    assert ids(stage.table) == [1, 2, 3]
    if then == "kill":
        assert [path.stat().st_size for path in stage.table.rglob("*#1")] == [5]


def test_a_lost_reply_on_the_commit_is_told_as_unknown(stage):
    outcome, _ = stage.set().act(Append(rows(4)), FaultRule("commit", LoseReply()))
    assert isinstance(outcome, Unknown)
    assert commits(stage.table) == [0, 1, 2, 3]


def test_each_role_is_named_in_the_operation_that_makes_it(stage):
    stage.set(properties=(("delta.enableChangeDataFeed", "true"),))
    made = {
        Append(rows(4, 5)): {"data", "commit"},
        Update((("part", Literal(LONG, 9)),), ONE): {"data", "change", "commit"},
        Delete(Compare("=", Column(("id",)), Literal(LONG, 4))): {"data", "change", "commit"},
        Checkpoint(): {"checkpoint", "hint"},
        Optimize(): {"data", "commit"},
        Overwrite(rows(6)): {"data", "commit"},
        ops.SetProperties((("delta.logRetentionDuration", "interval 3 days"),)): {"commit"},
        Vacuum(0): {"clean-up", "commit"},
    }  # fmt: skip
    for operation, wanted in made.items():
        _, record = stage.act(operation)
        assert wanted <= {event.event.role for event in record.happened}, (operation, record.trace)
        assert "other" not in {event.event.role for event in record.happened}


@pytest.mark.parametrize(
    ("operation", "action", "role"),
    (
        (Checkpoint(), Kill("before"), "checkpoint"),
        (Checkpoint(), Kill("after"), "checkpoint"),
        (Checkpoint(), Fail("ENOSPC"), "hint"),
        (Checkpoint(), Tear(100), "checkpoint-staging"),
        (Optimize(), DeadTable(), "commit"),
        (Overwrite(rows(1, 2, 3)), Kill(), "commit"),
        (Vacuum(0), Kill(), "clean-up"),
        (Vacuum(0), Fail("EACCES"), "clean-up"),
    ),
)
def test_upkeep_that_is_cut_leaves_the_rows(stage, operation, action, role):
    stage.set()
    if not isinstance(operation, Optimize):
        stage.host.execute(Overwrite(rows(1, 2, 3)))
    _, record = stage.act(operation, FaultRule(role, action))
    assert record.followed, record
    assert ids(stage.table) == [1, 2, 3]


OPERATIONS = (
    Append(rows(*range(20, 60))),
    Delete(Compare("<", Column(("id",)), Literal(LONG, 25))),
    Update((("part", Literal(LONG, 9)),), Compare("=", Column(("id",)), Literal(LONG, 30))),
    ops.Merge(
        rows(30, 99),
        Compare("=", Column(("target", "id")), Column(("source", "id"))),
        (ops.MergeClause("matched", "delete"), ops.MergeClause("not-matched", "insert", everything=True)),
    ),
    Overwrite(rows(1, 2, 3, 4, 5, 6)),
    ops.AddConstraint("positive", Compare(">", Column(("id",)), Literal(LONG, 0))),
    Optimize(),
    Checkpoint(),
)


def test_thirty_runs_of_the_same_operations_have_the_same_traces(stage):
    # Partitioned, so that deltalake's own threads write several files at once.
    traces = set()
    for _ in range(30):
        stage.next_table()
        stage.host.execute(Create(SCHEMA, partition_by=("part",)))
        traces.add(tuple(stage.act(operation)[1].trace for operation in OPERATIONS))
    assert len(traces) == 1
    (trace,) = traces
    assert sum("data#" in event for event in trace[0]) == 4


def test_files_that_threads_write_at_once_are_each_asked_about(stage):
    schema = struct(("id", LONG), ("part", LONG))
    many = Rows(schema, tuple((number, number) for number in range(64)))
    stage.next_table()
    stage.host.execute(Create(schema, partition_by=("part",)))
    outcome, record = stage.act(Append(many))
    assert outcome == Committed()
    assert sum(event.event.role == "data" for event in record.happened) == 64
    assert ids(stage.table) == list(range(64))
    # The failing write comes last: its other threads may still be at work when it has failed.
    outcome, record = stage.act(Append(many), FaultRule("data", Fail("EIO"), 40))
    assert outcome != Committed()
    assert record.followed
    assert commits(stage.table) == [0, 1]


def test_the_same_table_comes_out_with_the_turnstile_idle_or_asked(stage):
    stage.set()
    for operation in OPERATIONS:
        stage.act(operation)
    first = ids(stage.table)
    stage.set()
    for operation in OPERATIONS:
        stage.host.execute(operation)
    assert ids(stage.table) == first
    assert stage.host.execute(Delete(Compare("=", Column(("id",)), Literal(LONG, 77)))).outcome == NoChange()


def test_the_clock_of_an_engine_moves(stage):
    stage.set()
    stage.instrumented_process.advance(timedelta(hours=ops.AdvanceClock(48).hours))
    stage.host.execute(Append(rows(4)))
    times = stage.host.read(ops.History()).table.column("timestamp").to_pylist()
    newest, older = sorted(times, key=int, reverse=True)[:2]
    assert abs(_hours(newest) - _hours(older) - 48) < 1
    assert stage.host.read(ops.Read()).table.num_rows == 4


def _hours(moment):
    return int(moment) / 3_600_000
