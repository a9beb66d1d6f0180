"""Each cause of deltalake is live, its minimal history is matched by its own prediction, and it is told as its cause.

One replayer plays all of them, on hosts that stay. The causes that need a JVM, and those
that a released version shows and the installed one does not, are marked slow.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.findings import Finding, candidate_causes, key_of
from conformance.findings.candidates import needs_counterfactual
from conformance.histories import History
from conformance.triage.counterfactuals import counterfactual_of
from conformance.triage.explain import explain
from conformance.triage.liveness import PLAYS_OF_UNSTEADY, Liveness, setup_of, shown_by
from conformance.triage.replayer import Playthrough, Replayer
from delta_adapters.deviations import Cause, all_causes
from delta_adapters.engine_id import EngineId

ON_A_JVM = ("delta-spark", "pyspark")


def marked(cause: Cause):
    heavy = cause.shown_in or {cause.engine, *cause.slots.values()} & set(ON_A_JVM)
    return pytest.param(cause, id=cause.id, marks=[pytest.mark.slow] if heavy else [])


CAUSES = [marked(cause) for cause in all_causes()]


@pytest.fixture(scope="module")
def replayer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayer]:
    with Replayer(tmp_path_factory.mktemp("replayer")) as replayer:
        yield replayer


@pytest.fixture(scope="module")
def liveness(tmp_path_factory: pytest.TempPathFactory, replayer: Replayer) -> Liveness:
    return Liveness(tmp_path_factory.mktemp("liveness"), replayer)


def finding_of(cause: Cause, replayer: Replayer) -> Finding:
    """The finding of a cause's own requirement in its minimal history."""
    history = History.from_json(cause.history)
    setup = setup_of(cause, history, cause.spec)
    played = replayer.play(history, setup)
    for _ in range(PLAYS_OF_UNSTEADY):
        for result, violation in played.violations(cause.engine):
            observation = result.observation
            if violation.requirement == cause.requirement:
                names = candidate_causes(observation, violation, history, all_causes())
                assert cause.id in names
                return Finding(
                    key=key_of(observation, violation), strength="must", engine=observation.engine, role="writer",
                    step=observation.step, action="", detail=violation.detail, history=history, where=violation.where,
                    slots=dict(zip("ABC", map(identity, setup.engines, played_by(played)), strict=False)),
                    versions={engine: spec_of(cause, engine) for engine in played_by(played)},
                    look=violation.read, processes=setup.processes, candidates=names,
                )  # fmt: skip
        played = replayer.play(history, setup)
    raise AssertionError(shown_by(cause, history, played))


def played_by(played: Playthrough) -> list[str]:
    return list(dict.fromkeys(result.observation.engine for result in played.results))


def spec_of(cause: Cause, engine: str) -> str:
    name = EngineId.parse(engine).name
    return cause.spec if name == cause.engine else name


def identity(spec: str, engine: str) -> str:
    return engine


@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_is_live_and_explains_its_minimal_history(
    cause: Cause, replayer: Replayer, liveness: Liveness
):
    assert liveness.is_live(cause, cause.spec), liveness.look(cause, cause.spec)
    explanation = explain(finding_of(cause, replayer), [cause], replayer, liveness)
    assert explanation.cause == cause.id, explanation.why
    history = History.from_json(cause.history)
    assert needs_counterfactual(cause) is (counterfactual_of(cause, history) is not None)
