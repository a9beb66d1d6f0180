"""Who answers for what after a race: for a commit who made it, for a refusal who was refused, not who came last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from conformance.checks import judge, log, statistics
from conformance.observation import Observation
from conformance.player import Judged
from conformance.seats import Seat
from conformance.turnstile import roles
from conformance.turnstile.events import Record
from delta_models.operations import Append
from delta_models.outcomes import Rejected
from delta_models.requirements import Breach

APPENDS = "race.appends-read-nothing"
REFUSALS = (APPENDS, "race.conflicts-as-documented", "race.told-truly")


def authors(writers: Sequence[int], records: Sequence[Record]) -> dict[int, int]:
    """Which of the writers gave each new version its name."""
    return {
        int(PurePath(each.event.question.path).stem): writer
        for writer, record in zip(writers, records, strict=True)
        for each in record.happened
        if each.event.role == roles.COMMIT and each.errno == 0
    }


def charged(judged: Judged, seats: Mapping[int, Seat], asked: Sequence[Seat]) -> Iterator[Judged]:
    """A verdict on a race, what is wrong with others' commits and refusals charged to those.

    `seats` says whose each version is, `asked` who was asked for each of the operations.
    """
    left = list(judged.breaches)
    for breach in judged.breaches:
        seat = _refused(judged.seen, breach, asked)
        if seat is not None and seat.engine != judged.seat.engine:
            left.remove(breach)
            mine = replace(judged.seen, engine=seat.engine, looks=())
            yield Judged(seat, mine, (breach,), {breach.requirement: 1})
    for before, commit, after in log.chain(judged.seen):
        seat = seats.get(commit.version, judged.seat)
        if seat.engine != judged.seat.engine:
            alone = replace(
                judged.seen, engine=seat.engine, before=before, after=after, commits=(commit,), looks=(), log_error=None
            )  # fmt: skip
            theirs = [each for each in judge(alone, (log.CHECK, statistics.CHECK)).breaches if each in left]
            left = [each for each in left if each not in theirs]
            if theirs:
                yield Judged(seat, alone, tuple(theirs), {each.requirement: 1 for each in theirs})
    yield replace(judged, breaches=tuple(left))


def _refused(seen: Observation, breach: Breach, asked: Sequence[Seat]) -> Seat | None:
    """Whom a breach about a refusal is about."""
    race = seen.race
    if race is None or breach.requirement not in REFUSALS:
        return None
    only = Append if breach.requirement == APPENDS else object
    return next(
        (
            seat
            for seat, operation, outcome in zip(asked, race.operations, race.outcomes, strict=True)
            if isinstance(outcome, Rejected) and isinstance(operation, only)
        ),
        None,
    )
