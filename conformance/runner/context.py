"""What a suite plays with: the engines of one process, and where its events and findings go.

A worker process and the tests in pytest that write histories of their own both build it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from conformance.engine_pool import EnginePool
from conformance.events.types import Event
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.suites.context import SuiteContext
from conformance.suites.kept_histories import KeptHistory
from delta_adapters.registry import EngineSpec

Emit = Callable[[Event], None]


@contextmanager
def open_suite_context(
    specs: Sequence[EngineSpec],
    finding_recorder: FindingRecorder,
    emit: Emit,
    work: Path,
    *,
    is_over: Callable[[], bool],
    start_heavy: bool,
    kept: tuple[KeptHistory, ...] = (),
    asked: Sequence[str] = (),
) -> Iterator[SuiteContext]:
    """Start the engines and yield the context of the suites; stop the engines when the block ends.

    Args:
        specs: the engines.
        finding_recorder: writes the findings.
        emit: takes the events.
        work: a folder for the files of the engines.
        is_over: whether the suites shall stop.
        start_heavy: whether to start engines on a JVM at once. If not, they start when a history needs them.
        kept: the histories that a team keeps.
        asked: the engines to wait for: when the block begins, events have said of each whether it works.
    """
    with EnginePool(specs, work / "hosts", emit, smoke_test=True) as engine_pool:
        engine_pool.start(on_jvm=False)
        if start_heavy:
            engine_pool.start(on_jvm=True)
        for name in asked:
            if engine_pool.get(name) is None:
                break  # the run ends
        with closing(
            InstrumentedEngines({str(spec): spec for spec in specs}, work, emit)
        ) as instrumented_engines:
            yield SuiteContext(engine_pool, finding_recorder, emit, is_over, instrumented_engines, kept)
