"""Whose commit is whose after a race: what is wrong with one is charged to who made it, not to who came last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from conformance.checks import judge, log, statistics
from conformance.player import Judged
from conformance.seats import Seat
from conformance.turnstile import roles
from conformance.turnstile.events import Record


def authors(writers: Sequence[int], records: Sequence[Record]) -> dict[int, int]:
    """Which of the writers gave each new version its name."""
    return {
        int(PurePath(each.event.question.path).stem): writer
        for writer, record in zip(writers, records, strict=True)
        for each in record.happened
        if each.event.role == roles.COMMIT and each.errno == 0
    }


def charged(judged: Judged, seats: Mapping[int, Seat]) -> Iterator[Judged]:
    """A verdict on a race, what is wrong with others' commits charged to those. `seats` says whose each version is."""
    left = list(judged.breaches)
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
