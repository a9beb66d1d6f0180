"""A forecast is a lower bound: an engine that answers as the model allows gives that evidence, and mostly more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from conformance.events.types import Event, Evidence, FindingFound
from conformance.findings.recorder import FindingRecorder
from conformance.generation.table_profiles import FOCUSES
from conformance.histories import Chunk, chunk_seed
from conformance.planning.claims import planned_engines
from conformance.planning.forecast import foresee
from conformance.planning.plan import make_plan
from conformance.planning.profile import load_profile
from conformance.runner.chunk import play_chunk
from conformance.runner.context import open_suite_context
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


def play(engines: list[str], chunks: list[Chunk], folder: Path) -> list[Event]:
    """Play chunks, and return all events."""
    events: list[Event] = []
    specs = [parse_engine(engine) for engine in engines]
    recorder = FindingRecorder(folder / "run")
    with open_suite_context(
        specs, recorder, events.append, folder, is_over=lambda: False, start_heavy=False
    ) as context:
        for chunk in chunks:
            play_chunk(context, chunk, folder)
    return events


def assert_lower_bound(engines: list[str], chunks: list[Chunk], folder: Path) -> Counter[str]:
    """Assert that histories without findings give what was foreseen; return the checks that were foreseen."""
    events = play(engines, chunks, folder)
    real = by_history(events)
    ended = {(event.suite, event.chunk, event.history) for event in events if isinstance(event, FindingFound)}
    planned = list(planned_engines(map(parse_engine, engines)))
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


@pytest.mark.parametrize("focus", [table.name for table in FOCUSES])
def test_the_reference_gives_what_is_foreseen_of_each_focus(focus, tmp_path):
    chunk = Chunk("lockstep", "ci", 0, chunk_seed(11, "lockstep", focus, 0), 4, 22, (), focus)
    assert_lower_bound(["reference"], [chunk], tmp_path)


def test_the_reference_gives_what_is_foreseen_of_the_broad_part(tmp_path):
    chunks = make_plan(load_profile("ci"), 21, engines=("reference",)).chunks
    first = [next(chunk for chunk in chunks if chunk.suite == suite) for suite in ("lockstep", "examples")]
    total = assert_lower_bound(["reference"], first, tmp_path)
    assert total["contents.append"] > 20


def test_delta_rs_gives_what_is_foreseen_on_a_shared_table(tmp_path):
    chunks = make_plan(load_profile("ci"), 22, engines=("delta-rs",), suites=("shared",)).chunks
    assert_lower_bound(["delta-rs", "reference"], [chunks[0]], tmp_path)


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
