"""How small findings get, and how fast: real ones of delta-rs, and a planted fault in a long history on a JVM.

The findings of delta-rs are those of lockstep, shared and crash histories, without any cause that explains them: the
longest of each suite, ten of each. The bars: a median of 3 steps, 8 at most, 30 seconds each. The planted fault is met
after 30 of 40 steps; the bars are 4 steps, within 5 minutes on delta-spark and 2 on the in-house engine.

    ./dev bench findings                                 all
    ./dev python -m benchmarks.findings delta-rs         one of them (delta-spark, pyspark)
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.planted import is_hit
from benchmarks.results import Result, Row, Works, in_parts
from conformance.engine_pool import EnginePool
from conformance.events.types import Event
from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings.recorder import FindingRecorder
from conformance.findings.storage import Finding, load_finding
from conformance.histories import Chunk, History
from conformance.runner.chunk import play_chunk
from conformance.suites.context import SuiteContext
from conformance.triage.model_play import play_on_model
from conformance.triage.references import without
from conformance.triage.replayer import Replayer, Setup
from conformance.triage.shrink import Shrunk, shrink
from delta_adapters.capabilities import Capabilities
from delta_adapters.registry import parse_engine, with_adapter
from delta_models.requirements import Violation
from tests.triage.drawn import drawn_history
from tests.triage.in_process import finding_of

PLANTED = Path(__file__).with_name("planted.py")
EACH = 10  # findings of a suite
CHUNKS = {"lockstep": 10, "shared": 4, "crashes": 5}
SEED = 7
LONG, EARLIEST = 40, 30
SECONDS = 30.0
DRAWS = 400
PLANTED_IN = {
    "delta-spark": ("SparkKeepsNulls", 300.0),
    "pyspark": ("PysparkKeepsNulls", 120.0),
}


def _rows_of_delta_rs() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="findings-") as folder:
        findings = list(_real_findings(Path(folder)))
        with Replayer() as replayer:
            replayer.play(findings[0].history, Setup.of(findings[0]))  # the hosts start
            shrunk = [_timed(finding, replayer, SECONDS) for finding in findings]
    shown = [(finding, result, seconds) for finding, (result, seconds) in zip(findings, shrunk, strict=True)]
    gone = [finding.fingerprint for finding, result, _ in shown if not result.reproduced]
    steps = [len(result.history.steps) for _, result, _ in shown if result.reproduced]
    before = [len(finding.history.steps) for finding, result, _ in shown if result.reproduced]
    seconds = [spent for _, result, spent in shown if result.reproduced]
    note = "; ".join(
        f"{finding.suite} {finding.key.requirement} {len(finding.history.steps)}->{len(result.history.steps)}"
        f" in {result.steps_tried} tries, {spent:.1f} s"
        for finding, result, spent in shown
    )
    many = len(steps)
    middle, worst = statistics.median(steps), max(steps)
    return [
        _row("steps of a finding, median", middle, 3, before=statistics.median(before), many=many),
        _row("steps of a finding, worst", worst, 8, before=max(before), many=many),
        _row("seconds of a finding, worst", max(seconds), SECONDS, many=many),
        _row("findings that did not show again", len(gone), 1, many=len(shown), note=note),
    ]


def _row(
    work: str, ours: float, bar: float, *, before: float | None = None, many: int = 1, note: str = ""
) -> Row:
    measure = "seconds" if "seconds" in work else "findings" if "findings" in work else "steps"
    return Row.at_most(work, measure, ours, bar, before=before, pairs=many, note=note)


def _timed(finding: Finding, replayer: Replayer, seconds: float) -> tuple[Shrunk, float]:
    began = time.monotonic()
    result = shrink(finding, replayer, deadline=began + seconds)
    return result, time.monotonic() - began


def _real_findings(folder: Path) -> Iterator[Finding]:
    """The longest findings of each suite, each of another key."""
    specs = [parse_engine("delta-rs")]
    events: list[Event] = []
    arena = InstrumentedEngines({str(spec): spec for spec in specs}, folder, events.append)
    with EnginePool(specs, folder / "hosts", events.append) as pool:
        context = SuiteContext(pool, FindingRecorder(folder, ()), events.append, lambda: False, arena)
        try:
            for suite, chunks in CHUNKS.items():
                for number in range(chunks):
                    play_chunk(context, Chunk(suite, "dev", number, SEED * 1000 + number), folder / "work")
        finally:
            arena.close()
    found = [load_finding(path) for path in sorted((folder / "sightings").iterdir())]
    for suite in CHUNKS:
        own = [finding for finding in found if finding.suite == suite]
        yield from sorted(own, key=lambda finding: -finding.step)[:EACH]


def _rows_of_planted(engine: str) -> list[Row]:
    _, result, seconds = shrink_planted(engine)
    end = "complete" if result.complete else "cut off"
    note = f"{result.steps_tried} tries, {end}: {result.detail[:200]}"
    many = len(result.history.steps)
    return [
        _row(f"a planted fault on {engine}, steps", many, 4, before=LONG, note=note),
        _row(f"a planted fault on {engine}, seconds", seconds, PLANTED_IN[engine][1]),
    ]


def shrink_planted(engine: str) -> tuple[Finding, Shrunk, float]:
    """Make a history smaller that meets the planted fault late; the finding, what became of it, and the seconds."""
    mutant, limit = PLANTED_IN[engine]
    spec = with_adapter(parse_engine(engine), f"{PLANTED}:{mutant}")
    with Replayer(specs=[spec]) as replayer:
        running = replayer.engine(str(spec))
        for history in _long_histories(running.capabilities):
            finding = _finding_in(history, replayer, running.name, str(spec))
            if finding is not None:
                return finding, *_timed(finding, replayer, limit)
    raise SystemExit(f"no history of {LONG} steps showed the planted fault on {engine}")


def _finding_in(history: History, replayer: Replayer, engine: str, spec: str) -> Finding | None:
    def hit(step_result: StepResult, violation: Violation) -> bool:
        return is_hit(step_result.observation.operation) and violation.requirement.startswith("outcome.")

    setup = Setup("lockstep", (engine,), {engine: spec})
    played = replayer.play(history, setup, until=hit)
    for result in played.results:
        for violation in result.violations:
            if hit(result, violation):
                finding = finding_of(history, result, violation, [engine])
                return replace(finding, versions={"harness": "0", engine: spec})
    return None


def _long_histories(capabilities: Capabilities) -> Iterator[History]:
    """Drawn histories of 40 steps that the engine claims, which meet the fault after many of them, and not before."""
    for seed in range(DRAWS):
        steps = drawn_history(seed, LONG + 20).steps
        kept = without(steps, [n for n, step in enumerate(steps) if capabilities.covers(step.operation)])
        played = play_on_model(kept) if kept else None
        if kept is None or played is None or played.refusals.total() > 3:
            continue
        hits = [
            number
            for number, step in enumerate(kept)
            if is_hit(step.operation)
            and len(played.tables[number].rows) != len(played.tables[number + 1].rows)
        ]
        if hits and EARLIEST <= hits[0] < LONG:
            yield History("lockstep", "dev", 0, seed, kept[:LONG])


WORKS: Works = {
    "delta-rs": _rows_of_delta_rs,
    **{engine: partial(_rows_of_planted, engine) for engine in PLANTED_IN},
}


def main(names: Sequence[str] = ()) -> Result:
    """Make findings smaller; rows for each engine."""
    notes = ("ours: after shrinking; before: the history as it was found",)
    return in_parts("findings", WORKS, names, notes)


if __name__ == "__main__":
    main(sys.argv[1:])
