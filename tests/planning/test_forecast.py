"""A forecast is a lower bound: an engine that answers as the model allows gives that evidence, and mostly more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.events.types import Event, Evidence, FindingFound
from conformance.findings.recorder import FindingRecorder
from conformance.generation.table_profiles import FOCUSES
from conformance.histories import Chunk, chunk_seed
from conformance.planning.claims import planned_engines
from conformance.planning.forecast import LARGE, foresee
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.runner.chunk import play_chunk
from conformance.runner.context import open_suite_context
from conformance.suites.context import SuiteContext
from conformance.suites.examples import EXAMPLES
from delta_adapters.engine_id import EngineId
from delta_adapters.registry import parse_engine

Key = tuple[str, int, int, str, bool, tuple[str, ...]]


def by_history(events: Iterable[Event]) -> dict[Key, Counter[str]]:
    """The checks of each engine in each history."""
    checks: dict[Key, Counter[str]] = {}
    for event in events:
        if isinstance(event, Evidence):
            name = EngineId.parse(event.engine).name
            key = (event.suite, event.chunk, event.history, name, bool(event.with_engines), event.features)
            checks.setdefault(key, Counter()).update(event.checks)
    return checks


class Stage:
    """Engines that play chunks, started once for several of them."""

    def __init__(self, engines: tuple[str, ...], context: SuiteContext, folder: Path) -> None:
        self.engines = engines
        self.context = context
        self.folder = folder

    def play(self, chunks: list[Chunk]) -> list[Event]:
        """Play chunks, and return all events."""
        events: list[Event] = []
        self.context.emit = events.append
        for chunk in chunks:
            play_chunk(self.context, chunk, self.folder)
        return events

    def assert_lower_bound(self, chunks: list[Chunk]) -> Counter[str]:
        """Assert that histories without findings give what was foreseen; return the checks that were foreseen."""
        events = self.play(chunks)
        real = by_history(events)
        ended = {
            (event.suite, event.chunk, event.history) for event in events if isinstance(event, FindingFound)
        }
        planned = list(planned_engines(map(parse_engine, self.engines)))
        total: Counter[str] = Counter()
        foreseen = by_history(event for chunk in chunks for event in foresee(chunk, planned))
        assert foreseen
        for key, checks in foreseen.items():
            total.update(checks)
            if key[:3] not in ended:
                missing = {
                    name: count for name, count in checks.items() if real.get(key, Counter())[name] < count
                }
                assert not missing, key
        return total


@contextmanager
def stage(*engines: str, folder: Path) -> Iterator[Stage]:
    """Start engines; stop them when the block ends."""
    with open_suite_context(
        [parse_engine(engine) for engine in engines],
        FindingRecorder(folder / "run"),
        lambda _: None,
        folder,
        is_over=lambda: False,
        start_heavy=False,
    ) as context:
        yield Stage(engines, context, folder)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage("reference", folder=tmp_path_factory.mktemp("reference")) as alone:
        yield alone


@pytest.mark.parametrize("focus", [table.name for table in FOCUSES])
def test_the_reference_gives_what_is_foreseen_of_each_focus(focus, reference):
    chunk = Chunk("lockstep", "ci", 0, chunk_seed(11, "lockstep", focus, 0), 4, 22, (), focus)
    reference.assert_lower_bound([chunk])


def test_the_reference_gives_what_is_foreseen_of_the_broad_part(reference):
    chunks = make_plan(load_profile("ci"), 21, engines=("reference",)).chunks
    lockstep, examples = (
        next(chunk for chunk in chunks if chunk.suite == suite) for suite in ("lockstep", "examples")
    )
    short = tuple(
        number for number, name in enumerate(EXAMPLES) if name not in LARGE
    )  # of others nothing is foreseen
    total = reference.assert_lower_bound([lockstep, replace(examples, part=short)])
    assert total["example.as-written"] > 20
    assert total["contents.append"] > 20


@pytest.mark.slow
def test_delta_rs_gives_what_is_foreseen_on_a_shared_table(tmp_path):
    chunks = make_plan(load_profile("ci"), 22, engines=("delta-rs",), suites=("shared",)).chunks
    with stage("delta-rs", "reference", folder=tmp_path) as both:
        both.assert_lower_bound([chunks[0]])


@pytest.mark.slow
def test_a_focus_gives_several_times_what_it_is_for():
    engines = list(planned_engines([parse_engine("delta-rs")]))
    wanted = {
        "appends": "log.added-file-exists",
        "refusals": "outcome.misfit-refused",
        "compactions": "write.data-change-false-keeps-rows",
        "rewrites": "log.remove-names-live-file",
        "vacuums": "contents.vacuum",
        "restores": "contents.restore",
        "checkpoints": "contents.checkpoint",
    }
    assert set(wanted) == {table.name for table in FOCUSES}
    for focus, requirement in wanted.items():
        chunk = Chunk("lockstep", "ci", 0, chunk_seed(3, "lockstep", focus, 0), 6, 22, (), focus)
        checks = sum(event.checks.get(requirement, 0) for event in foresee(chunk, engines))
        assert checks >= 10, focus
