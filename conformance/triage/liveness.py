"""Whether a cause is live in a build: does its minimal history still violate its requirement there, as predicted?

The history is played once. What came of it is kept under the content of the build, of the cause and of the harness, so
that no version is ever taken for its content.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import conformance
import delta_models
from conformance.findings.candidates import candidate_causes
from conformance.generation import SLOTS
from conformance.histories import History
from conformance.triage.hosts import CannotRun
from conformance.triage.replayer import RACES, Playthrough, Replayer, Setup
from delta_adapters.builds import build_hash
from delta_adapters.deviations import Cause
from delta_adapters.environments import EnvironmentProblem, cache_folder
from delta_adapters.registry import UnknownEngine, parse_engine
from delta_models.operations import Interleave

PLAYS_OF_UNSTEADY = 5  # a clock or an order decides, so that one play says little
SEVERAL = "several"


class Player(Protocol):
    """What plays histories: a `Replayer`."""

    def play(self, history: History, setup: Setup, *, reads: bool = True) -> Playthrough:
        """What was observed when a history was played at a fresh table, with reads or without."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of playing a cause's minimal history. `seen` are the requirements that were violated."""

    live: bool
    seen: tuple[str, ...] = ()
    why: str = ""


class Liveness:
    """Says which causes are live in which builds. What was found out is kept in the folder `cache`."""

    def __init__(self, cache: Path | None = None, replayer: Player | None = None) -> None:
        """Make one that plays by `replayer`; what that can't play, and all without it, by one of its own."""
        self._cache = cache_folder() / "liveness" if cache is None else cache
        self._replayer = replayer
        self._known: dict[tuple[str, str], Shown] = {}
        self.plays = 0

    def is_live(self, cause: Cause, spec: str) -> bool:
        """Whether a build violates a cause's requirement in its minimal history, as predicted.

        `spec` is the text that starts the build. Raises CannotRun if it can't run here.
        """
        return self.look(cause, spec).live

    def look(self, cause: Cause, spec: str) -> Shown:
        """What came of a cause's minimal history on a build. Raises CannotRun."""
        key = cause.id, spec
        if key not in self._known:
            path = self._path(cause, spec)
            kept = _read(path)
            self._known[key] = self._play(cause, spec) if kept is None else kept
            if kept is None and path is not None:
                _write(path, self._known[key])
        return self._known[key]

    def _path(self, cause: Cause, spec: str) -> Path | None:
        """Where it is kept; None if nobody knows what is in the build."""
        try:
            build = build_hash(parse_engine(spec))
        except (UnknownEngine, EnvironmentProblem, OSError):
            return None
        return self._cache / f"{build}-{_digest_of(cause)}-{_digest_of_harness()}.json"

    def _play(self, cause: Cause, spec: str) -> Shown:
        history = History.from_json(cause.history)
        setup = setup_of(cause, history, spec)
        if self._replayer is not None:
            with contextlib.suppress(CannotRun):  # a worker has only the engines of its run
                return self._plays_of(cause, history, setup, self._replayer)
        with Replayer() as replayer:
            return self._plays_of(cause, history, setup, replayer)

    def _plays_of(self, cause: Cause, history: History, setup: Setup, player: Player) -> Shown:
        shown = Shown(live=False)
        for _ in range(PLAYS_OF_UNSTEADY if cause.unsteady else 1):
            self.plays += 1
            shown = shown_by(cause, history, player.play(history, setup))
            if shown.live:
                break
        return shown


def setup_of(cause: Cause, history: History, spec: str) -> Setup:
    """Who sits at the table of a cause's minimal history: the build under test, and the engines beside it."""
    used = {*cause.slots, *(step.slot for step in history.steps if step.slot)}
    engines = tuple(
        spec if (name := cause.slots.get(slot, cause.engine)) == cause.engine else name
        for slot in SLOTS[: 1 + max(map(SLOTS.index, used), default=0)]
    )
    if history.suite != RACES:
        return Setup(history.suite, engines, {})
    races = (step.operation for step in history.steps if isinstance(step.operation, Interleave))
    writers = 1 + max((owner for race in races for owner in race.owners), default=1)
    return Setup(history.suite, (spec,) * writers, {}, SEVERAL, "")


def shown_by(cause: Cause, history: History, played: Playthrough) -> Shown:
    """What a play of a cause's minimal history shows."""
    seen = list(played.violations(cause.engine))
    predicted = any(
        violation.requirement == cause.requirement
        and candidate_causes(result.observation, violation, history, (cause,))
        for result, violation in seen
    )
    requirements = tuple(dict.fromkeys(violation.requirement for _, violation in seen))
    return Shown(predicted, requirements, played.error or "; ".join(played.failures))


def _digest_of(cause: Cause) -> str:
    form = [
        cause.engine, cause.requirement, cause.trigger, dict(cause.slots), cause.history,
        [[list(prediction.requirements), prediction.difference] for prediction in cause.predictions],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()[:16]


@functools.cache
def _digest_of_harness() -> str:
    """A digest of the code that judges: other checks may find other violations."""
    total = hashlib.sha256()
    for package in (conformance, delta_models):
        for folder in package.__path__:
            for file in sorted(_sources(Path(folder))):
                total.update(file.read_bytes())
    return total.hexdigest()[:16]


def _sources(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix in {".py", ".c"} and path.is_file())


def _read(path: Path | None) -> Shown | None:
    """What was kept; None if nothing was, or nothing that can be read."""
    if path is None:
        return None
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
        return Shown(bool(form["live"]), tuple(form["seen"]), str(form["why"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, shown: Shown) -> None:
    """Keep what was found. A cache that can't be written costs time, and nothing else."""
    form = {"live": shown.live, "seen": list(shown.seen), "why": shown.why}
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as making:
            json.dump(form, making)
        os.replace(making.name, path)  # noqa: PTH105 - both are texts
