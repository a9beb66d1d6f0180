"""The plan of a run: its chunks in their order, and the core by which it is judged.

A plan is a profile applied to a run's engines, suites and options. It depends on nothing else, so it is the same in
every process and on every machine. It is complete before the first operation and has three parts: a broad one, which
interleaves all kinds of histories; the top-up, for what the broad part leaves below a threshold of the core; and a
reserve, for what the engines' own answers take away. The seed of a chunk is a hash of the run's seed, the suite, the
profile and the chunk's number.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.engine_pool import runs_on_jvm
from conformance.events.types import CellsPlanned, EvidenceThreshold, PlannedSuite
from conformance.histories import HISTORIES, REGRESSIONS, Chunk, chunk_seed
from conformance.options import RunOptions
from conformance.planning.claims import PlannedEngine, known_engines, planned_engines
from conformance.planning.core import asked_of_nobody, core_of
from conformance.planning.kept import kept_chunks, kept_histories
from conformance.planning.narrowed import narrowed, within
from conformance.planning.parts import Part
from conformance.planning.profile import PlanError, Profile, SuitePlan, load_profile
from conformance.planning.top_up import ReservedChunk, TopUp, within_reach
from conformance.suites.examples import EXAMPLES
from conformance.suites.kept_histories import KeptHistory
from delta_adapters.registry import KNOWN, EngineSpec, engine_names, parse_engine

DRAWN = ("lockstep", "shared", "crashes", "races")
BRIEF = 200  # steps on a JVM: with fewer its second compiler costs more than it gives
# Histories of engines on a JVM in a suite that has none for them: there a drawn one of crashes takes a minute, a race
# some seconds.
SHARE_ON_JVM = {"crashes": 1, "races": 2}
PLAIN = "plain"  # the name of a suite's histories that are of no table profile


@dataclass(frozen=True, slots=True)
class Plan:
    """The chunks of a run in the order in which workers get them, and the core that decides the verdict.

    `reserve` are further chunks. They are played only if evidence for the core is missing at the end of the others.
    `cells` say what a covering profile brings together.
    `kept` are the histories of the folder `regressions`, which come first, each in a chunk of its own. `notes` say what
    of the core is asked of no engine. `not_asked` are the suites in which an engine claims nothing that the core asks
    for, each as `SUITE ENGINE`.
    """

    profile: Profile
    seed: int
    suites: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    core: tuple[EvidenceThreshold, ...]
    reserve: tuple[ReservedChunk, ...] = ()
    kept: tuple[KeptHistory, ...] = ()
    cells: tuple[CellsPlanned, ...] = ()
    notes: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """How many steps the run draws. The worked examples are not drawn, so they do not count."""
        return sum(chunk.histories * chunk.steps for chunk in self.chunks if chunk.suite in DRAWN)

    @property
    def is_brief(self) -> bool:
        """Whether engines on a JVM play so few steps that the JVM should be started for a short life."""
        return sum(suite.dear for suite in self.planned()) < BRIEF

    def planned(self, *, light: bool = True, heavy: bool = True) -> tuple[PlannedSuite, ...]:
        """How much of each suite the run plays, if `light` engines, engines on a JVM (`heavy`) or both take part."""
        return tuple(
            _planned(
                suite, [chunk for chunk in self.chunks if chunk.suite == suite], light=light, heavy=heavy
            )
            for suite in self.suites
        )


def _planned(suite: str, chunks: Sequence[Chunk], *, light: bool, heavy: bool) -> PlannedSuite:
    on_jvm = [len(chunk.heavy) if heavy else 0 for chunk in chunks]
    played = [chunk.histories if light else count for chunk, count in zip(chunks, on_jvm, strict=True)]
    numbers = tuple(sorted(chunk.number for chunk in chunks))
    return PlannedSuite(
        suite,
        len(chunks),
        sum(played),
        sum(chunk.steps * count for chunk, count in zip(chunks, played, strict=True)),
        dear=sum(chunk.steps * count for chunk, count in zip(chunks, on_jvm, strict=True)),
        numbers=() if numbers == tuple(range(len(chunks))) else numbers,
    )


def engine_specs(options: RunOptions) -> list[EngineSpec]:
    """The engines of a run: those of its options, or the default ones, and the partners of shared tables.

    Raises UnknownEngine, and PlanError for an unknown profile or part.
    """
    profile = load_profile(options.profile)
    partners = {part.partner for part in selected_parts(profile, options) if part.partner}
    named = [*(options.engines or default_engines()), *sorted(partners)]
    specs = [parse_engine(engine) for engine in dict.fromkeys(named)]
    heavy = {engine.key for engine in planned_engines(specs) if engine.on_jvm}
    return [replace(spec, heavy=str(spec) in heavy) for spec in specs]


def default_engines() -> tuple[str, ...]:
    """The project's own engines, whether they can run here or not, but for those whose agreement is no evidence."""
    return tuple(
        name for name in engine_names() if name in KNOWN and KNOWN[name].counts and KNOWN[name].by_default
    )


def seed_of_run(profile: str, given: int | None) -> int:
    """The seed of a run: the given one, else that of its profile, else a new one. Raises PlanError."""
    if given is not None:
        return given
    fixed = load_profile(profile).seed
    return secrets.randbits(32) if fixed is None else fixed


def plan_run(options: RunOptions) -> Plan:
    """Plan a run by its options, kept histories first. Raises PlanError and UnknownEngine."""
    kept = kept_histories(options.regressions)
    specs = engine_specs(options)
    claims = tuple(planned_engines(specs))
    profile = load_profile(options.profile)
    plan = (
        _covering_plan(profile, options, claims)
        if profile.parts
        else _counted_plan(profile, options, specs, claims)
    )
    if not kept:
        return plan
    chunks = tuple(kept_chunks(kept, plan.profile.name, len(specs)))
    return replace(plan, suites=(REGRESSIONS, *plan.suites), chunks=(*chunks, *plan.chunks), kept=kept)


def _counted_plan(
    profile: Profile, options: RunOptions, specs: Sequence[EngineSpec], claims: Sequence[PlannedEngine]
) -> Plan:
    """Plan a profile that counts its histories out. Raises PlanError."""
    plan = make_plan(
        profile,
        options.seed,
        engines=tuple(dict.fromkeys(spec.name for spec in specs)),
        claims=claims,
        suites=options.suites,
        tables=options.tables,
        examples=options.examples,
        steps=options.steps,
    )
    return replace(
        plan,
        chunks=with_asked_engines(plan.chunks, specs if options.engines else ()),
        notes=tuple(_notes(plan, claims)) if len(claims) == len(specs) else (),
        not_asked=tuple(_not_asked(plan, claims)) if plan.core else (),
    )


def _covering_plan(profile: Profile, options: RunOptions, claims: Sequence[PlannedEngine]) -> Plan:
    """Plan the parts of a covering profile for each engine. Raises PlanError."""
    replaced = {"--suite": options.suites, "--table": options.tables, "--examples": options.examples}
    if given := [name for name, value in (replaced | {"--steps": options.steps}).items() if value]:
        message = (
            f"{', '.join(given)}: the histories of profile {profile.name} are written out; --part plays some"
        )
        raise PlanError(message)
    from conformance.planning.gate import plan_parts  # noqa: PLC0415 - loads what draws and foresees histories

    parts = selected_parts(profile, options)
    partners = {part.partner for part in parts if part.partner}
    asked = [engine for engine in claims if engine.key not in partners or engine.key in options.engines]
    others = tuple(planned_engines(map(parse_engine, sorted(partners))))
    covering = plan_parts(profile.name, parts, options.seed, asked, others)
    suites = tuple(dict.fromkeys(part.suite for part in parts))
    chunks = tuple(interleave(covering.chunks))
    lengths = {part.suite: part.length for part in parts if not part.partner}
    top_up = TopUp(profile.name, options.seed, asked, lengths, profile.draws)
    reserve = tuple(top_up.reserve_beside(chunks, covering.core))
    return Plan(profile, options.seed, suites, chunks, covering.core, reserve, cells=covering.cells)


def selected_parts(profile: Profile, options: RunOptions) -> tuple[Part, ...]:
    """The parts of a covering profile that a run plays. Raises PlanError for an unknown one."""
    if options.parts and not profile.parts:
        message = f"profile {profile.name} has no parts; --part goes with a covering profile such as gate"
        raise PlanError(message)
    known = {part.name: part for part in profile.parts}
    if unknown := [name for name in options.parts if name not in known]:
        message = (
            f"no part {', '.join(map(repr, unknown))} in profile {profile.name}; it has {', '.join(known)}"
        )
        raise PlanError(message)
    return tuple(known[name] for name in options.parts or known)


def _notes(plan: Plan, claims: Sequence[PlannedEngine]) -> Iterator[str]:
    """Say what of the core no engine claims. Raises PlanError if that is all of it."""
    lacking = asked_of_nobody(plan.profile.core, claims)
    names = ", ".join(engine.name for engine in claims)
    asked = {rule.requirement for rule in plan.profile.core if any(map(rule.is_for, claims))}
    if lacking and lacking.keys() == asked:
        first = next(iter(lacking))
        message = (
            f"profile {plan.profile.name}: nothing of its core can be asked of {names}; {first} for example needs the"
            f" claim of {lacking[first]}. Claim what shall be tested, or take another profile"
        )
        raise PlanError(message)
    if lacking:
        yield (
            f"{names}: the core is asked as far as it is claimed; not asked for want of a claim:"
            f" {', '.join(sorted(lacking))}"
        )


def _not_asked(plan: Plan, claims: Sequence[PlannedEngine]) -> Iterator[str]:
    """Name the suites of which the core asks an engine nothing, since it claims less than plain tables need."""
    for engine in claims:
        if within([engine]):
            asked = {threshold.suite for threshold in plan.core if threshold.engine == engine.name}
            yield from (f"{suite} {engine.key}" for suite in plan.suites if suite not in asked)


def with_asked_engines(chunks: Sequence[Chunk], asked: Iterable[EngineSpec]) -> tuple[Chunk, ...]:
    """Return the chunks, with a few histories for engines on a JVM in each suite that has none for them.

    A profile leaves these out of suites that would take too long for the default engines. An engine that the user named
    plays in every suite that was asked for. The histories are the last ones of the suite's first chunk, since a JVM
    starts slowly. Without an engine on a JVM in `asked` nothing changes.
    """
    if not any(map(runs_on_jvm, asked)):
        return tuple(chunks)
    served = {chunk.suite for chunk in chunks if chunk.heavy}
    shared: list[Chunk] = []
    for chunk in chunks:
        if chunk.suite not in served:
            served.add(chunk.suite)
            share = SHARE_ON_JVM.get(chunk.suite, 1)
            heavy = tuple(range(max(0, chunk.histories - share), chunk.histories))
            shared.append(replace(chunk, heavy=heavy))
        else:
            shared.append(chunk)
    return tuple(shared)


def make_plan(
    profile: Profile,
    seed: int,
    *,
    engines: Sequence[str],
    claims: Sequence[PlannedEngine] = (),
    suites: Sequence[str] = (),
    tables: Sequence[str] = (),
    examples: int | None = None,
    steps: int | None = None,
) -> Plan:
    """Plan the chunks and the core of a run. Raises PlanError for an unknown suite or table.

    Args:
        profile: the counts that hold unless an option replaces them.
        seed: the run's seed.
        engines: names without versions; without `claims` they are held to the core by what their adapters claim.
        claims: the engines whose claims are known. For them the plan is topped up and has a reserve, unless `tables`,
            `examples` or `steps` say what to play.
        suites: the suites to play; empty means all suites of the profile.
        tables: the kinds of histories to play: table profiles, groups of committed scenarios, or `PLAIN`. Every engine
            plays all of them, and the plan has no core. Empty means all kinds, as the profile says.
        examples: histories in each drawn suite, or of each kind in `tables`, in place of the profile's counts.
        steps: steps in each history.
    """
    wanted = tuple(suites) or tuple(suite.name for suite in profile.suites)
    unknown = [name for name in wanted if profile.suite(name) is None]
    if unknown:
        known = ", ".join(suite.name for suite in profile.suites)
        message = f"no suite {', '.join(map(repr, unknown))} in profile {profile.name}; it has {known}"
        raise PlanError(message)
    planned = [suite for suite in profile.suites if suite.name in wanted]
    if tables:
        lists = [
            list(_select(tables, narrowed(_chunks(suite, profile, seed, None, steps), claims), examples))
            for suite in planned
        ]
        _refuse_unplanned(tables, planned)
        return Plan(
            profile, seed, wanted, tuple(interleave(chunk for chunks in lists for chunk in chunks)), ()
        )
    lists = [list(narrowed(_chunks(suite, profile, seed, examples, steps), claims)) for suite in planned]
    broad = tuple(interleave(chunk for chunks in lists for chunk in chunks))
    asked = tuple(claims or known_engines(engines))
    core = within_reach(core_of(profile.core, asked, wanted), broad, asked)
    if not claims or examples is not None or steps is not None:
        return Plan(profile, seed, wanted, broad, core)
    top_up = TopUp(profile.name, seed, claims, {suite.name: suite.steps for suite in planned}, profile.draws)
    directed, reserve = top_up.complete(broad, core)
    return Plan(profile, seed, wanted, (*broad, *directed), core, reserve)


def interleave(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks of all kinds in proportion, so that a budget cuts all suites and tables alike.

    The first chunk of every kind comes before the second of any. Chunks with the same share take turns by suite.
    """
    kinds: dict[tuple[str, str], list[Chunk]] = {}
    for chunk in chunks:
        kinds.setdefault((chunk.suite, chunk.table), []).append(chunk)
    turns: Counter[tuple[str, float]] = Counter()  # of each suite, for each share
    order: list[tuple[float, int, Chunk]] = []
    for (suite, _), of_kind in kinds.items():
        for position, chunk in enumerate(of_kind):
            share = position / len(of_kind)
            order.append((share, turns[suite, share], chunk))
            turns[suite, share] += 1
    yield from (chunk for *_, chunk in sorted(order, key=lambda entry: entry[:2]))


def _chunks(
    suite: SuitePlan, profile: Profile, seed: int, examples: int | None, steps: int | None
) -> Iterator[Chunk]:
    drawn = suite.name in DRAWN
    wanted = examples if drawn and examples is not None else suite.chunks * suite.histories
    length = steps if drawn and steps is not None else suite.steps
    sizes = list(_sizes(wanted, suite.histories))
    for number, histories in enumerate(sizes):
        on_jvm = suite.heavy_chunks is None or number < suite.heavy_chunks
        heavy = _heavy_of(suite, histories) if on_jvm else ()
        derived = chunk_seed(seed, suite.name, profile.name, number)
        yield Chunk(suite.name, profile.name, number, derived, histories, length, heavy, draws=profile.draws)
    if drawn and examples is not None:
        return
    number = len(sizes)
    for table, planned in suite.tables.items():
        for index, histories in enumerate(_sizes(planned.histories, HISTORIES)):
            heavy = _spread(planned.heavy, histories)
            derived = chunk_seed(seed, suite.name, f"{profile.name}/{table}", index)
            yield Chunk(suite.name, profile.name, number, derived, histories, length, heavy, table)
            number += 1


def _select(tables: Sequence[str], chunks: Iterable[Chunk], examples: int | None) -> Iterator[Chunk]:
    """The chunks of some kinds of histories, with the numbers and seeds that they have in the whole plan."""
    played: Counter[str] = Counter()
    for chunk in chunks:
        kind = chunk.table or PLAIN
        left = chunk.histories if examples is None else min(chunk.histories, examples - played[kind])
        if kind in tables and left > 0:
            played[kind] += left
            yield replace(chunk, histories=left, heavy=tuple(range(left)))


def _refuse_unplanned(tables: Sequence[str], suites: Sequence[SuitePlan]) -> None:
    known = {PLAIN, *(table for suite in suites for table in suite.tables)}
    if unknown := [table for table in tables if table not in known]:
        message = (
            f"no histories {', '.join(map(repr, unknown))} in {', '.join(suite.name for suite in suites)} of this"
            f" profile; there are {', '.join(sorted(known))}"
        )
        raise PlanError(message)


def _sizes(histories: int, most: int) -> Iterator[int]:
    """The sizes of chunks of at most `most` histories."""
    for start in range(0, histories, most):
        yield min(most, histories - start)


def _heavy_of(suite: SuitePlan, histories: int) -> tuple[int, ...]:
    """The histories of a plain chunk in which engines on a JVM take part."""
    if suite.heavy_examples is None:
        return _spread(suite.heavy_histories, histories)
    return tuple(number for number, name in enumerate(EXAMPLES) if name in suite.heavy_examples)


def _spread(wanted: int, histories: int) -> tuple[int, ...]:
    """The histories in which engines on a JVM take part: evenly spread, and late, since a JVM starts slowly."""
    wanted = min(wanted, histories)
    return tuple(histories - 1 - position * histories // wanted for position in reversed(range(wanted)))
