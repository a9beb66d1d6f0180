"""A finding belongs to a cause that is live and without whose trigger it is gone; played on deltalake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.findings import Finding, candidate_causes, key_of
from conformance.histories import History, Step
from conformance.triage.explain import explain
from conformance.triage.liveness import Liveness
from conformance.triage.replayer import Replayer, Setup
from delta_adapters.deviations import Cause, all_causes, cause_named
from delta_models.expressions import Column, Compare, IsNotNull, Literal
from delta_models.operations import Append, Create, Operation, Read
from delta_models.schema import DOUBLE, LONG, STRING, struct
from delta_models.values import Rows

RS = "delta-rs"
NAN, EMPTY = "delta-rs-nan-left-out-of-bounds", "delta-rs-empty-partition-text"
NUMBERS = struct(("id", LONG), ("v", DOUBLE), ("part", STRING))


def cause(name: str) -> Cause:
    found = cause_named(name)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def replayer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayer]:
    with Replayer(tmp_path_factory.mktemp("replayer")) as made:
        yield made


@pytest.fixture(scope="module")
def liveness(tmp_path_factory: pytest.TempPathFactory, replayer: Replayer) -> Liveness:
    return Liveness(tmp_path_factory.mktemp("cache"), replayer)


def finding_of(replayer: Replayer, requirement: str, *operations: Operation) -> Finding:
    """The finding that a history on deltalake gives."""
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, operations)))
    played = replayer.play(history, Setup("lockstep", (RS,)))
    for result, violation in played.violations(RS):
        observation = result.observation
        if violation.requirement == requirement:
            return Finding(
                key=key_of(observation, violation), strength="must", engine=observation.engine, role="reader",
                step=observation.step, action="", detail=violation.detail, history=history,
                versions={observation.engine: RS}, look=violation.read,
                candidates=candidate_causes(observation, violation, history, all_causes()),
            )  # fmt: skip
    raise AssertionError(played)


def rows(*values: tuple[object, ...]) -> list[Operation]:
    return [Create(NUMBERS, ("part",)), Append(Rows(NUMBERS, values))]


def test_a_finding_is_explained_if_it_is_gone_without_the_trigger(replayer: Replayer, liveness: Liveness):
    found = finding_of(
        replayer,
        "read.filter",
        *rows((1, 1.0, "a"), (2, float("nan"), "a")),
        Read(where=IsNotNull(Column(("v",)))),
    )
    assert found.candidates == (NAN,)
    explanation = explain(found, [cause(NAN)], replayer, liveness)
    assert (explanation.cause, explanation.why) == (NAN, "without nan it is gone")


def test_a_finding_that_stays_without_the_trigger_is_not_explained(replayer: Replayer, liveness: Liveness):
    found = finding_of(
        replayer,
        "read.filter",
        *rows((1, 1.0, "a"), (2, float("nan"), "a"), (3, 5.0, "")),
        Read(where=Compare("<", Column(("id",)), Literal(LONG, 3)), columns=("id", "v")),
        Read(where=IsNotNull(Column(("v",))), columns=("id", "v")),
    )
    explanation = explain(found, [cause(EMPTY)], replayer, liveness)
    assert explanation.cause is None
    assert explanation.why == f"{EMPTY}: without empty-partition-text it is still there"


def test_two_causes_at_work_in_one_answer_are_taken_out_together(replayer: Replayer, liveness: Liveness):
    found = finding_of(
        replayer,
        "read.filter",
        *rows((1, 1.0, ""), (2, float("nan"), "")),
        Read(where=IsNotNull(Column(("v",)))),
    )
    assert set(found.candidates) == {NAN, EMPTY}
    explanation = explain(found, [cause(EMPTY), cause(NAN)], replayer, liveness)
    assert explanation.cause == EMPTY
    assert explanation.why == "without empty-partition-text and nan it is gone"


def test_a_cause_that_is_not_live_explains_nothing(replayer: Replayer, liveness: Liveness):
    found = finding_of(
        replayer,
        "read.filter",
        *rows((1, 1.0, "a"), (2, float("nan"), "a")),
        Read(where=IsNotNull(Column(("v",)))),
    )
    history = History.from_json(cause(NAN).history)
    harmless = replace(cause(NAN), history=replace(history, steps=history.steps[:1]).to_json())
    explanation = explain(found, [harmless], replayer, Liveness(Path("/nowhere"), replayer))
    assert explanation.cause is None
    assert explanation.why == f"{NAN} is not live in {RS}"


def test_what_is_alike_is_asked_once(replayer: Replayer, liveness: Liveness):
    found = finding_of(
        replayer,
        "read.filter",
        *rows((5, 1.0, "a"), (6, float("nan"), "a")),
        Read(where=IsNotNull(Column(("v",)))),
    )
    alike = replace(found, key=replace(found.key, requirement="metamorphic.filter-picks"))
    assert explain(found, [cause(NAN)], replayer, liveness).cause == NAN
    plays = replayer.plays
    assert explain(alike, [cause(NAN)], replayer, liveness).cause == NAN
    assert replayer.plays == plays


class TestLiveness:
    def test_a_history_is_played_once_for_a_build(self, tmp_path: Path, replayer: Replayer):
        first = Liveness(tmp_path, replayer)
        assert first.is_live(cause(NAN), RS)
        assert first.is_live(cause(NAN), RS)
        second = Liveness(tmp_path, replayer)
        assert second.is_live(cause(NAN), RS)
        assert (first.plays, second.plays) == (1, 0)

    def test_another_history_is_played(self, tmp_path: Path, replayer: Replayer):
        assert Liveness(tmp_path, replayer).is_live(cause(NAN), RS)
        other = replace(cause(NAN), history=cause("delta-rs-no-checksums").history)
        again = Liveness(tmp_path, replayer)
        assert not again.is_live(other, RS)
        assert again.plays == 1

    def test_a_cache_that_is_broken_costs_time_and_nothing_else(self, tmp_path: Path, replayer: Replayer):
        assert Liveness(tmp_path, replayer).is_live(cause(NAN), RS)
        (kept,) = tmp_path.iterdir()
        kept.write_text("{")
        again = Liveness(tmp_path, replayer)
        assert again.is_live(cause(NAN), RS)
        assert again.plays == 1

    def test_a_cause_that_predicts_something_else_is_not_live(self, tmp_path: Path, replayer: Replayer):
        other = replace(cause(NAN), predictions=cause("delta-rs-null-in-filter").predictions)
        shown = Liveness(tmp_path, replayer).look(other, RS)
        assert not shown.live
        assert "read.filter" in shown.seen

    def test_the_engines_of_a_worker_need_not_have_all_that_a_history_needs(self, tmp_path: Path):
        assert Liveness(tmp_path).is_live(cause("delta-rs-respelt-paths"), RS)


def test_a_cause_whose_history_needs_another_engine_is_asked_last(replayer: Replayer):
    class Asked:
        def __init__(self) -> None:
            self.names: list[str] = []

        def is_live(self, cause: Cause, spec: str) -> bool:
            self.names.append(cause.id)
            return True

    finding = finding_of(replayer, "checksum.each-commit", *rows((1, 1.0)))
    dear, cheap = cause("delta-rs-stats-of-removes"), cause("delta-rs-no-checksums")
    asked = Asked()
    assert explain(finding, [dear, cheap], replayer, asked).cause == cheap.id
    assert asked.names == [cheap.id]
