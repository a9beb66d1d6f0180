"""Between which released versions of an engine a finding's failure began, and between which it ended.

The search supposes that a failure begins once and ends once. It starts at a version that fails, verifies both ends, and
halves what is between a version that holds and one that fails. A version that can't be played is skipped and named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.triage.on_build import FAILS, HOLDS, OTHERWISE, Verdict

Plays = Callable[[str], Verdict]


@dataclass(frozen=True, slots=True)
class Bisection:
    """What a search found: what came of each version that was tried, and a sentence.

    `began` and `ended` are the two neighbours, the version before first; None where the range has no such border.
    """

    tried: dict[str, Verdict]
    began: tuple[str, str] | None = None
    ended: tuple[str, str] | None = None
    sentence: str = ""

    @property
    def fails_somewhere(self) -> bool:
        """Whether any version failed."""
        return any(verdict.outcome == FAILS for verdict in self.tried.values())


def bisect(versions: Sequence[str], plays: Plays, start: str | None = None) -> Bisection:
    """Find where a failure began and ended in these versions, the oldest first.

    `plays` says what came of the finding's history on a version. `start` is a version that is known to fail.
    """
    search = _Search(tuple(versions), plays)
    failing = search.find_failing(start)
    if failing is None:
        return Bisection(search.in_order(), sentence=search.never())
    first = search.border(failing, range(failing - 1, -1, -1))
    last = search.border(failing, range(failing + 1, len(versions)))
    began = None if first.holds is None else (versions[first.holds], versions[first.fails])
    ended = None if last.holds is None else (versions[last.fails], versions[last.holds])
    sentence = f"{search.began(first)}; {search.ended(last)}"
    return Bisection(search.in_order(), began, ended, f"{sentence[0].upper()}{sentence[1:]}.")


@dataclass(frozen=True, slots=True)
class _Border:
    """The outermost version that fails, and its neighbour that holds; `holds` is None if none does."""

    fails: int
    holds: int | None
    skipped: tuple[int, ...] = ()  # between the two, or beyond: they could not be played


@dataclass(slots=True)
class _Search:
    versions: tuple[str, ...]
    plays: Plays
    tried: dict[int, Verdict] = field(default_factory=dict)

    def outcome(self, number: int) -> str:
        if number not in self.tried:
            self.tried[number] = self.plays(self.versions[number])
        outcome = self.tried[number].outcome
        return HOLDS if outcome == OTHERWISE else outcome

    def in_order(self) -> dict[str, Verdict]:
        return {self.versions[number]: self.tried[number] for number in sorted(self.tried)}

    def find_failing(self, start: str | None) -> int | None:
        """A version that fails: the one where the finding was made, the newest, or one of some older ones."""
        last = len(self.versions) - 1
        numbers = [self.versions.index(start)] if start in self.versions else []
        numbers += [last * eighth // 8 for eighth in (8, 7, 6, 5, 4, 2, 0)] if self.versions else []
        return next((number for number in dict.fromkeys(numbers) if self.outcome(number) == FAILS), None)

    def border(self, fails: int, beyond: range) -> _Border:
        """Halve what lies between a version that fails and the end of the range, which is verified first."""
        holds: int | None = None
        candidates = list(beyond)  # from the one that fails outwards
        if candidates:
            end = self.outcome(candidates[-1])
            if end == FAILS:
                return _Border(candidates[-1], None)
            holds = candidates.pop() if end == HOLDS else None
            candidates = candidates if end == HOLDS else candidates[:-1]
        while candidates:
            middle = len(candidates) // 2
            number = candidates[middle]
            outcome = self.outcome(number)
            if outcome == FAILS:
                fails, candidates = number, candidates[middle + 1 :]
            elif outcome == HOLDS:
                holds, candidates = number, candidates[:middle]
            elif holds is None and middle:
                candidates = candidates[:middle]  # what is further out mostly can't be played either
            else:
                del candidates[middle]
        end_of_gap = beyond[-1] + beyond.step if holds is None and beyond else holds
        gap = range(fails + beyond.step, end_of_gap, beyond.step) if end_of_gap is not None else range(0)
        return _Border(fails, holds, tuple(number for number in gap if number in self.tried))

    def began(self, border: _Border) -> str:
        if border.holds is not None:
            return self._between("began", border.holds, border.fails, border)
        if border.skipped:
            return f"failed already in {self.versions[border.fails]}, the oldest tried that could be played"
        return f"failed already in {self.versions[border.fails]}, the oldest of the range"

    def ended(self, border: _Border) -> str:
        if border.holds is not None:
            return self._between("ended", border.fails, border.holds, border)
        if border.skipped:
            return f"still fails in {self.versions[border.fails]}, the newest tried that could be played"
        return f"still fails in {self.versions[border.fails]}, the newest of the range"

    def never(self) -> str:
        played = [number for number in self.tried if self.outcome(number) == HOLDS]
        if not played:
            return "No version that was tried could be played, so nothing can be said."
        names = ", ".join(self.versions[number] for number in sorted(played))
        return (
            f"It fails in none of the versions that could be played ({names}), so there is nothing to bisect."
        )

    def _between(self, verb: str, older: int, newer: int, border: _Border) -> str:
        names = ", ".join(self.versions[number] for number in sorted(border.skipped))
        skipped = f" ({names} could not be played)" if names else ""
        return f"{verb} between {self.versions[older]} and {self.versions[newer]}{skipped}"
