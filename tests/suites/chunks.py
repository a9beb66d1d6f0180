"""Play chunks of the crash and race suites as a worker does, and collect their events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from conformance.engine_pool import EnginePool
from conformance.events.types import Event, HarnessFault
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.histories import Chunk
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from conformance.suites.kept_histories import KeptHistory
from delta_adapters.registry import EngineSpec


def play_chunks(
    specs: Sequence[EngineSpec],
    chunks: Iterable[Chunk],
    folder: Path,
    instrumented_engines: InstrumentedEngines | None = None,
    *,
    arena: Path | None = None,
    work: Path | None = None,
    is_over: Callable[[list[Event]], bool] = lambda _: False,
    kept: tuple[KeptHistory, ...] = (),
) -> list[Event]:
    """Play chunks and return their events, after asserting that the harness had no fault.

    Findings are written into `folder`, tables into `work`, by default below `folder`. If there are no
    `instrumented_engines`, the engines are instrumented in `arena` and ended afterwards. Once `is_over` holds of the
    events, playing stops. `kept` are the histories of the chunks of the suite `regressions`.
    """
    events: list[Event] = []
    with ExitStack() as stack:
        if instrumented_engines is None:
            instrumented_engines = InstrumentedEngines(
                {str(spec): spec for spec in specs}, arena or folder / "arena", events.append
            )
            stack.callback(instrumented_engines.close)
        context = SuiteContext(
            stack.enter_context(EnginePool(specs, folder / "hosts", events.append)),
            FindingRecorder(folder),
            events.append,
            lambda: is_over(events),
            instrumented_engines,
            kept,
        )
        for chunk in chunks:
            if not is_over(events):
                play_chunk(context, chunk, work or folder / "work")
    assert [event.detail for event in events if isinstance(event, HarnessFault)] == []
    return events
