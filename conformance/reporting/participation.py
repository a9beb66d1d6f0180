"""Which engines of those that the user named took part in which suites, and which did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.events.types import EngineReady, HistoryEnded, Note, RunStarted
from delta_adapters.engine_id import EngineId


def not_played(
    runs: Sequence[RunStarted],
    ready: Iterable[EngineReady],
    histories: Mapping[str, Iterable[HistoryEnded]],
    notes: Iterable[Note] = (),
) -> Iterator[str]:
    """Yield a sentence for each engine and suite that a user asked for and that no run played.

    Args:
        runs: the headers of the runs, which name the engines that were asked for, the planned suites, and the suites
            in which an engine claims nothing that could be asked.
        ready: the engines that ran.
        histories: the histories that ended, by their suites.
        notes: what the runs noted. They may say why.
    """
    identities = {event.spec or EngineId.parse(event.engine).name: event.engine for event in ready}
    played = {
        (suite, engine)
        for suite, ended in histories.items()
        for history in ended
        for engine, operations in history.operations.items()
        if operations
    }
    asked = dict.fromkeys(
        (engine, suite)
        for run in runs
        for engine in run.asked
        for suite in run.suites
        if f"{suite} {engine}" not in run.not_asked
    )
    missing: dict[str, list[str]] = {}
    for engine, suite in asked:
        if (suite, identities.get(engine, engine)) not in played:
            missing.setdefault(engine, []).append(suite)
    messages = [note.message for note in notes]
    for engine, suites in missing.items():
        names = (engine, identities.get(engine, engine))
        why = next((message for message in messages if message.startswith(names)), "")
        yield f"{names[1]} was asked for and did not play in {', '.join(suites)}{f' ({why})' if why else ''}"
