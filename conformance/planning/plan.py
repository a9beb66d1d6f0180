"""What a run is going to do: chunks of histories for each suite, in what order, and the core by which it is
judged.

A profile is data, committed next to this module in `profiles/NAME.toml`: counts of chunks for each suite, how
often an engine on a JVM plays in them, and the core, pairs of requirement and engine with the evidence that
each needs. A plan is a profile applied to a run's engines, suites and options.

The chunk is the unit of jobs, shards and diffs. Its seed comes from the run's seed, the suite, the profile
and its number by hashing, so it is the same in every process and on every machine, whatever else the run
does.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import zip_longest
from typing import Any

from conformance.events.types import EvidenceThreshold, PlannedSuite

HISTORIES = 12
STEPS = 25
DRAWN_FOR = {"crashes": "faults"}  # where it is not the run's profile
DRAWN = ("lockstep", "shared", "crashes", "races")
PLAIN = "plain"  # the name of a suite's histories that are of no table profile


class PlanError(ValueError):
    """The options or a profile can't be planned: the message says which and why."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """So many histories of a table profile of its own (`conformance.strategies.profiles`), beside the suite's plain
    ones; an engine on a JVM plays `heavy` of each chunk's."""

    histories: int
    heavy: int = 0


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """How much of one suite a profile wants.

    Of a chunk's histories an engine on a JVM plays `heavy_histories`, in the first `heavy_chunks` chunks. `tables` are
    further histories by their table profile; their chunks are numbered behind the plain ones.
    """

    name: str
    chunks: int
    histories: int = HISTORIES
    steps: int = STEPS
    heavy_histories: int = HISTORIES // 2
    heavy_chunks: int | None = None
    tables: Mapping[str, TablePlan] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """How much of each suite, and the core."""

    name: str
    suites: tuple[SuitePlan, ...]
    core: tuple[EvidenceThreshold, ...]
    budget: float | None = None

    def suite(self, name: str) -> SuitePlan | None:
        """The plan of one suite, if the profile has it."""
        return next((suite for suite in self.suites if suite.name == name), None)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A job: so many histories of so many steps of one suite, drawn from one seed.

    `heavy` are the numbers of the histories, counted from 0, in which engines on a JVM play. `table` names the table
    profile that they are drawn for; without one it is the run's.
    """

    suite: str
    profile: str
    number: int
    seed: int
    histories: int = HISTORIES
    steps: int = STEPS
    heavy: tuple[int, ...] = ()
    table: str = ""

    @property
    def name(self) -> str:
        """The chunk for people and for file names."""
        return f"{self.suite}-{self.number}"

    @property
    def drawn_for(self) -> str:
        """The table profile of its histories."""
        return self.table or DRAWN_FOR.get(self.suite, self.profile)

    def to_json(self) -> dict[str, Any]:
        """The form in which a worker is told."""
        return {
            "suite": self.suite, "profile": self.profile, "number": self.number, "seed": self.seed,
            "histories": self.histories, "steps": self.steps, "heavy": list(self.heavy), "table": self.table,
        }  # fmt: skip

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Chunk:
        """The inverse of `to_json`."""
        return cls(**{**form, "heavy": tuple(form["heavy"])})


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a run in the order in which they are handed out, and what the run's verdict is judged on."""

    profile: Profile
    seed: int
    suites: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    core: tuple[EvidenceThreshold, ...]

    @property
    def steps(self) -> int:
        """How many commands are to be drawn; the worked examples are not counted."""
        return sum(chunk.histories * chunk.steps for chunk in self.chunks if chunk.suite in DRAWN)

    def planned(self, *, light: bool = True, heavy: bool = True) -> tuple[PlannedSuite, ...]:
        """How much of each suite there is to do, if such engines play: `light` ones play all, `heavy` ones few."""
        return tuple(
            _planned(
                suite, [chunk for chunk in self.chunks if chunk.suite == suite], light=light, heavy=heavy
            )
            for suite in self.suites
        )


def _planned(suite: str, chunks: Sequence[Chunk], *, light: bool, heavy: bool) -> PlannedSuite:
    dear = [len(chunk.heavy) if heavy else 0 for chunk in chunks]
    played = [chunk.histories if light else few for chunk, few in zip(chunks, dear, strict=True)]
    numbers = tuple(chunk.number for chunk in chunks)
    return PlannedSuite(
        suite,
        len(chunks),
        sum(played),
        sum(chunk.steps * many for chunk, many in zip(chunks, played, strict=True)),
        dear=sum(chunk.steps * few for chunk, few in zip(chunks, dear, strict=True)),
        numbers=() if numbers == tuple(range(len(chunks))) else numbers,
    )


def profile_names() -> tuple[str, ...]:
    """The profiles that there are."""
    folder = resources.files("conformance.planning") / "profiles"
    return tuple(
        sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
    )


def load_profile(name: str) -> Profile:
    """A committed profile by its name."""
    if name not in profile_names():
        message = f"no profile {name!r}; there are {', '.join(profile_names())}"
        raise PlanError(message)
    text = (resources.files("conformance.planning") / "profiles" / f"{name}.toml").read_text("utf-8")
    return parse_profile(name, tomllib.loads(text))


def parse_profile(name: str, form: Mapping[str, Any]) -> Profile:
    """A profile from its TOML; what it does not know is refused, for a typo there would silently test less."""
    unknown = set(form) - {"suites", "core", "budget"}
    if unknown:
        message = f"profile {name}: unknown {', '.join(sorted(unknown))}"
        raise PlanError(message)
    try:
        suites = tuple(_suite(suite, parts) for suite, parts in form["suites"].items())
        core = tuple(floor for group in form.get("core", ()) for floor in _floors(group))
    except (KeyError, TypeError) as error:
        message = f"profile {name}: {error}"
        raise PlanError(message) from error
    planned = {each.name for each in suites}
    strangers = {each.suite for each in core if each.suite} - planned
    if strangers:
        message = (
            f"profile {name}: its core names suites that it does not plan: {', '.join(sorted(strangers))}"
        )
        raise PlanError(message)
    return Profile(name, suites, core, form.get("budget"))


def make_plan(
    profile: Profile,
    seed: int,
    *,
    engines: Sequence[str],
    suites: Sequence[str] = (),
    tables: Sequence[str] = (),
    examples: int | None = None,
    steps: int | None = None,
) -> Plan:
    """The chunks and the core of a run.

    Args:
        profile: what is wanted by default.
        seed: the run's.
        engines: names without versions; the core is restricted to them.
        suites: those asked for; none means all of the profile.
        tables: the kinds of histories asked for, which every engine plays whole: table profiles, groups of committed
            stories, or `PLAIN`; none means all, as the profile says. A part of a profile has no core.
        examples: histories a drawn suite, or of each kind asked for, in place of the profile's counts.
        steps: steps a history.
    """
    asked = tuple(suites) or tuple(suite.name for suite in profile.suites)
    unknown = [each for each in asked if profile.suite(each) is None]
    if unknown:
        known = ", ".join(suite.name for suite in profile.suites)
        message = f"no suite {', '.join(map(repr, unknown))} in profile {profile.name}; it has {known}"
        raise PlanError(message)
    planned = [suite for suite in profile.suites if suite.name in asked]
    if tables:
        lists = [
            list(_only(tables, _chunks(each, profile.name, seed, None, steps), examples)) for each in planned
        ]
        _refuse_unplanned(tables, planned)
        return Plan(profile, seed, asked, tuple(_take_turns(lists)), ())
    lists = [list(_chunks(each, profile.name, seed, examples, steps)) for each in planned]
    core = tuple(each for each in profile.core if each.suite in {"", *asked} and each.engine in engines)
    return Plan(profile, seed, asked, tuple(_take_turns(lists)), core)


def chunk_seed(run_seed: int, suite: str, profile: str, number: int) -> int:
    """The seed of a chunk: from the run's by hashing, alike in all processes."""
    digest = hashlib.sha256(f"{run_seed}/{suite}/{profile}/{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _suite(name: str, parts: Mapping[str, Any]) -> SuitePlan:
    tables = {table: TablePlan(**each) for table, each in parts.get("tables", {}).items()}
    return SuitePlan(name=name, **{**parts, "tables": tables})


def _floors(group: Mapping[str, Any]) -> Iterator[EvidenceThreshold]:
    counts = {key: value for key, value in group.items() if key in {"checks", "histories"}}
    unknown = set(group) - {"requirements", "engines", "suite", "checks", "histories"}
    if unknown:
        message = f"its core has unknown {', '.join(sorted(unknown))}"
        raise TypeError(message)
    for requirement in group["requirements"]:
        for engine in group["engines"]:
            yield EvidenceThreshold(requirement, engine, group.get("suite", ""), **counts)


def _chunks(
    suite: SuitePlan, profile: str, seed: int, examples: int | None, steps: int | None
) -> Iterator[Chunk]:
    drawn = suite.name in DRAWN
    wanted = examples if drawn and examples is not None else suite.chunks * suite.histories
    length = steps if drawn and steps is not None else suite.steps
    sizes = list(_sizes(wanted, suite.histories))
    for number, histories in enumerate(sizes):
        playing = suite.heavy_chunks is None or number < suite.heavy_chunks
        heavy = _spread(suite.heavy_histories, histories) if playing else ()
        derived = chunk_seed(seed, suite.name, profile, number)
        yield Chunk(suite.name, profile, number, derived, histories, length, heavy)
    if drawn and examples is not None:
        return
    number = len(sizes)
    for table, planned in suite.tables.items():
        for at, histories in enumerate(_sizes(planned.histories, HISTORIES)):
            heavy = _spread(planned.heavy, histories)
            derived = chunk_seed(seed, suite.name, f"{profile}/{table}", at)
            yield Chunk(suite.name, profile, number, derived, histories, length, heavy, table)
            number += 1


def _only(tables: Sequence[str], chunks: Iterable[Chunk], examples: int | None) -> Iterator[Chunk]:
    """Those of some kinds of histories, with the numbers and seeds that they have in the whole plan."""
    played: Counter[str] = Counter()
    for chunk in chunks:
        kind = chunk.table or PLAIN
        left = chunk.histories if examples is None else min(chunk.histories, examples - played[kind])
        if kind in tables and left > 0:
            played[kind] += left
            yield replace(chunk, histories=left, heavy=tuple(range(left)))


def _refuse_unplanned(tables: Sequence[str], suites: Sequence[SuitePlan]) -> None:
    known = {PLAIN, *(table for suite in suites for table in suite.tables)}
    if unknown := [each for each in tables if each not in known]:
        message = (
            f"no histories {', '.join(map(repr, unknown))} in {', '.join(suite.name for suite in suites)} of this"
            f" profile; there are {', '.join(sorted(known))}"
        )
        raise PlanError(message)


def _sizes(histories: int, most: int) -> Iterator[int]:
    """So many histories in chunks of at most `most`."""
    for start in range(0, histories, most):
        yield min(most, histories - start)


def _spread(wanted: int, histories: int) -> tuple[int, ...]:
    """Which histories engines on a JVM play: evenly spread, the later ones, since a JVM needs its time to start."""
    wanted = min(wanted, histories)
    return tuple(histories - 1 - position * histories // wanted for position in reversed(range(wanted)))


def _take_turns(lists: Sequence[Sequence[Chunk]]) -> Iterator[Chunk]:
    """A chunk of each suite in turn, so that a budget cuts all alike."""
    for row in zip_longest(*lists):
        yield from (each for each in row if each is not None)
