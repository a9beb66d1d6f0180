"""Does some order explain what writers at once have left, was each told the truth, did readers see whole states?"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.outcomes import describe
from conformance.observation import Observation, Race
from delta_models.concurrency import (
    ANOMALIES,
    CANNOT,
    LOST_UPDATE,
    REWRITES,
    SERIALIZABLE,
    Anomaly,
    Done,
    anomaly,
    documented,
    explained,
    has_properties,
    in_words,
    is_serial,
    isolation_of,
)
from delta_models.log import LogError, paths
from delta_models.operations import Append, Read, SetProperties, Tail, Vacuum
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown
from delta_models.values import Rows
from delta_models.wire_names import name_of

JUDGES = judged_by("races")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge what several writers have done at once."""
    race = seen.race
    if race is None or not seen.wrote:
        return
    _conflicts(race, ledger)
    if seen.after is None or seen.log_error is not None:
        return  # told by the rules of the log
    writers = [
        (Done(operation, owner), outcome)
        for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True)
        if not isinstance(operation, Read | Tail)
    ]
    if any(isinstance(outcome, Unknown) for _, outcome in writers):
        return
    done = [each for each, outcome in writers if not isinstance(outcome, Rejected)]
    if not ledger.judge("race.all-acknowledged", _unacknowledged(seen, race, writers)):
        return
    if any(isinstance(each, Vacuum) for each in race.operations):
        missing = _missing(seen)
        if not ledger.judge(
            "race.vacuum-spares-new-files", f"gone: {', '.join(missing)}" if missing else None
        ):
            return
    try:
        versions = [seen.reader.rows(seen.reader.snapshot(each.version)) for each in seen.commits]
        rows = seen.reader.rows(seen.after)
    except LogError:
        return  # told by the rules of the log
    refused = [each for each, outcome in writers if isinstance(outcome, Rejected)]
    found = anomaly(race.world, done, rows)
    if refused:
        left = found is not None and anomaly(race.world, [*done, *refused], rows) is None
        if not ledger.judge(
            "race.told-truly", f"{in_words(refused)} was refused, and is there" if left else None
        ):
            return
    undone = _properties_undone(seen, race, done, rows) if found is None else None
    if undone is not None:
        found = Anomaly(LOST_UPDATE, undone)
    for name in ANOMALIES:
        ledger.judge(name, found.detail if found is not None and found.requirement == name else None)
    if found is None and race.isolation == SERIALIZABLE and len(done) > 1:
        start = Rows(race.world.table.schema, tuple(race.world.table.rows))
        serial = is_serial(race.world, done, [start, *versions])
        wrong = f"no order of {in_words(done)} goes through the {len(versions)} versions that they made"
        ledger.judge("race.serializable", None if serial else wrong)
    _readers(race, ledger)


def _conflicts(race: Race, ledger: Ledger) -> None:
    level = isolation_of(race.world.table)
    if len(race.operations) == 2 and documented(*race.operations, race.overlap, level) == CANNOT:
        refused = [
            f"{name_of(operation)} was {describe(outcome)}"
            for operation, outcome in zip(race.operations, race.outcomes, strict=True)
            if isinstance(outcome, Rejected)
        ]
        ledger.judge("race.conflicts-as-documented", "; ".join(refused) or None)
    _appends(race, ledger)


def _appends(race: Race, ledger: Ledger) -> None:
    """An append beside others that change rows, and nothing that it depends on."""
    if any(isinstance(each, SetProperties) for each in race.operations):
        return
    for operation, owner, outcome in zip(race.operations, race.owners, race.outcomes, strict=True):
        others = [
            each
            for each, other in zip(race.operations, race.owners, strict=True)
            if other != owner and isinstance(each, REWRITES)
        ]
        if isinstance(operation, Append) and others:
            names = " and ".join(name_of(each) for each in others)
            refused = isinstance(outcome, Rejected)
            ledger.judge(
                "race.appends-read-nothing",
                f"Append beside {names} was {describe(outcome)}" if refused else None,
            )


def _unacknowledged(seen: Observation, race: Race, writers: Sequence[tuple[Done, Outcome]]) -> str | None:
    """Whether there are fewer commits than were told of: each operation that needs one makes at least one.

    Which do may hang on those before them, so only appends count where there are more than two.
    """
    told = [
        each
        for each, outcome in writers
        if isinstance(outcome, Committed)
        and race.world.expect(each.operation).ordinary.commits[0] > 0
        and (len(writers) == 2 or isinstance(each.operation, Append))
    ]
    if len(seen.commits) >= len(told):
        return None
    return f"{in_words(told)} were told to have committed, and there are {len(seen.commits)} commits"


def _missing(seen: Observation) -> list[str]:
    live = seen.after.live.values() if seen.after is not None else ()
    return sorted(each.path for each in live if not paths.resolve(seen.folder, each.path).exists())


def _properties_undone(seen: Observation, race: Race, done: Sequence[Done], rows: Rows) -> str | None:
    """A property that was set, and is not there, in whatever order the writers came."""
    if seen.after is None or not any(isinstance(each.operation, SetProperties) for each in done):
        return None
    configured = seen.after.metadata.configuration
    end = explained(race.world, done, rows, configured)
    if end is None or has_properties(end, configured):
        return None
    return (
        f"after {in_words(done)} the table's properties are {dict(configured)}, which no order of them gives"
    )


def _readers(race: Race, ledger: Ledger) -> None:
    for place, rows in race.seen.items():
        before = [
            Done(operation, race.owners[at])
            for at, operation in enumerate(race.operations)
            if at in race.published[place] and not isinstance(race.outcomes[at], Rejected | NoChange)
        ]
        known = anomaly(race.world, before, rows) is None
        wrong = (
            f"{len(rows)} rows were read when {in_words(before)} had been committed, which are no such state"
        )
        ledger.judge("race.no-dirty-read", None if known else wrong)


CHECK = Check("races", JUDGES, look)
