"""Plans a covering profile: for each engine what it claims, in pairs, in histories that are written out step by step.

The plan of a part depends on the profile, the seed, the model and the claims of one engine. It is complete before the
first operation. The core is what the plan surely judges: a requirement is in it if the forecast of the written
histories promises twice the evidence that a verdict needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.events.types import CellsPlanned, EvidenceThreshold
from conformance.generation.choices import RandomChoices
from conformance.generation.facets import offered_facets
from conformance.generation.faults import is_expected_to_prevent
from conformance.generation.table_features import features_of
from conformance.generation.table_shapes import shape_made_by
from conformance.histories import Chunk, History, Step, chunk_seed
from conformance.planning.cells import BESIDE, TYPE, Cell, words_of
from conformance.planning.claims import PlannedEngine
from conformance.planning.coverage import (
    Coverage,
    crash_cells,
    feature_cells,
    pair_cells,
    race_cells,
    type_cells,
)
from conformance.planning.directed import HistoryDirector
from conformance.planning.directed_races import RaceDirector
from conformance.planning.forecast import foresee_given
from conformance.planning.needs import missing_claims
from conformance.planning.out_of_reach import why_out_of_reach
from conformance.planning.parts import Part
from conformance.planning.tally import EvidenceTally
from delta_adapters.capabilities import Capabilities
from delta_models.operations import QUERIES, STORAGE_FAULTS, Interleave, Reopen
from delta_models.outcomes import Committed
from delta_models.requirements import CATALOGUE
from delta_models.table import ModelHistory

CAUTION = 2  # so many times the evidence of a threshold must be foreseen, for it to be in the core
TOP_UP = 1.0  # histories directed at single cells that the others leave, for each of the others at most
# What a verdict needs where it is not the usual: evidence on shared tables is split by the engines beside, and that of
# faults and races comes from few histories, which it is split by the features of.
FEWER = {"checks": 10, "histories": 2}
THRESHOLDS: Mapping[str, dict[str, int]] = {"shared": FEWER, "crashes": FEWER, "races": FEWER}
FEWEST_TOP_UPS = 12  # histories directed at single cells that a short part may have all the same
FAULT_RULES = ("crash.all-or-nothing", "crash.told-truly", "crash.keeps-committed")
NEXT_WRITER = "crash.next-writer"
RACE_RULES = ("race.all-acknowledged", "race.no-lost-update", "race.told-truly")
# Kinds of tables that begin in another way, and one in so many histories of the part `features` that do.
BEGINNINGS = ((("converted",), 6), (("replaced",), 3))
LIMITED = ((("lengths", "widths"), 4),)  # the same for columns of limited texts
DEFINES = frozenset({"Create", "CreateAs", "Replace", "ConvertFromParquet"})


@dataclass(frozen=True, slots=True)
class CoveringPlan:
    """The chunks of a covering profile, its core, and what they cover."""

    chunks: tuple[Chunk, ...]
    core: tuple[EvidenceThreshold, ...]
    cells: tuple[CellsPlanned, ...]


def plan_parts(
    profile: str,
    parts: Sequence[Part],
    seed: int,
    engines: Sequence[PlannedEngine],
    partners: Sequence[PlannedEngine],
) -> CoveringPlan:
    """Plan these parts for each of the engines; `partners` are the other engines of shared tables."""
    chunks: list[Chunk] = []
    core: dict[EvidenceThreshold, None] = {}
    cells: list[CellsPlanned] = []
    numbers: Counter[str] = Counter()
    for engine in engines:
        for part in parts:
            partner = next((other for other in partners if other.key == part.partner != engine.key), None)
            if part.partner and partner is None:
                continue  # beside itself alone an engine plays elsewhere
            histories, coverage = _draw(part, seed, engine, partner)
            cells.append(_report(part, engine, coverage))
            written = list(_chunks(part, profile, seed, engine, histories, numbers=numbers))
            chunks += written
            core |= dict.fromkeys(_core(part, written, engine, partner))
    return CoveringPlan(tuple(chunks), tuple(core), tuple(cells))


def _report(part: Part, engine: PlannedEngine, coverage: Coverage) -> CellsPlanned:
    excused: Counter[str] = Counter()
    missing: list[str] = []
    for cell in coverage.missing():
        reason = why_out_of_reach(cell)
        if reason is None:
            missing.append(words_of(cell))
        else:
            excused[reason] += 1
    wanted = len(coverage.wanted) - excused.total()
    return CellsPlanned(part.name, engine.key, wanted - len(missing), wanted, tuple(missing), dict(excused))


def wanted_cells(part: Part, engine: PlannedEngine, partner: PlannedEngine | None) -> Iterator[Cell]:
    """Yield the cells that a part must cover for an engine, by what it claims."""
    claims = engine.capabilities
    shared = offered_facets(claims)
    own = list(feature_cells(claims, part.operations))
    if partner is not None:
        shared = tuple(facet for facet in shared if facet in offered_facets(partner.capabilities))
        own = [cell for cell in feature_cells(claims, part.operations, shared) if "/" not in cell[1]]
    for kind in part.covers:
        match kind:
            case "feature":
                yield from own
            case "type":
                yield from type_cells(claims, part.operations)
            case "pair":
                yield from pair_cells(claims)
            case "crash":
                yield from crash_cells(claims, part.operations)
            case "race":
                yield from race_cells(claims, part.operations)
            case "beside" if partner is not None:
                for _, letter, facet in feature_cells(partner.capabilities, part.operations, shared):
                    if "/" not in letter:
                        yield (BESIDE, letter, facet)


def _draw(
    part: Part, seed: int, engine: PlannedEngine, partner: PlannedEngine | None
) -> tuple[list[tuple[Step, ...]], Coverage]:
    choices = RandomChoices(chunk_seed(seed, part.suite, f"gate/{part.name}/{engine.name}", 0))
    coverage = Coverage(frozenset(wanted_cells(part, engine, partner)))
    claims = engine.capabilities
    director: HistoryDirector | RaceDirector
    if part.suite == "races":
        director = RaceDirector(claims, part.operations, coverage, choices)
    else:
        director = HistoryDirector(
            claims,
            part.letters,
            coverage,
            choices,
            bundles=_bundles(part, claims),
            partner=None if partner is None else partner.capabilities,
            faults=part.suite == "crashes",
        )
    count = max(1, round(part.steps / part.length))
    histories = [director.draw_history(part.length) for _ in range(count)]
    tried: Counter[Cell] = Counter()
    turns: Counter[str] = Counter()  # of operations: those late in the alphabet have as many
    for _ in range(max(FEWEST_TOP_UPS, round(count * TOP_UP))):
        missing = [cell for cell in coverage.missing() if why_out_of_reach(cell) is None]
        if not missing:
            break
        missing.sort(key=lambda cell: (tried[cell], turns[cell[1]], cell))
        tried[missing[0]] += 1
        turns[missing[0][1]] += 1
        histories.append(director.draw_history(part.length, missing[0]))
    return histories, coverage


def _bundles(part: Part, claims: Capabilities) -> tuple[tuple[tuple[str, ...], int], ...]:
    """The bundles that some histories of a part have."""
    defines = DEFINES & set(part.operations) & claims.operations.keys()
    limited = TYPE in part.covers and "char" in claims.data_types
    return (*(BEGINNINGS if defines else ()), *(LIMITED if limited else ()))


def _chunks(
    part: Part,
    profile: str,
    seed: int,
    engine: PlannedEngine,
    histories: Sequence[tuple[Step, ...]],
    *,
    numbers: Counter[str],
) -> Iterator[Chunk]:
    """A chunk for each history, so that workers share them out evenly."""
    for index, steps in enumerate(histories):
        number = numbers[part.suite]
        numbers[part.suite] += 1
        own = chunk_seed(seed, part.suite, f"{profile}/{part.name}/{engine.name}", index)
        yield Chunk(
            part.suite,
            profile,
            number,
            own,
            histories=1,
            steps=len(steps),
            heavy=(0,) if engine.on_jvm else (),
            table=part.name,
            given=(History(part.suite, profile, number, own, steps),),
            engines=(engine.key, *([part.partner] if part.partner else [])),
        )


def _core(
    part: Part,
    chunks: Sequence[Chunk],
    engine: PlannedEngine,
    partner: PlannedEngine | None,
) -> Iterator[EvidenceThreshold]:
    """The thresholds that the histories of a part surely reach."""
    if part.suite == "crashes":
        rules: Sequence[str] = FAULT_RULES if _in_one_setting(chunks, _faults) else ()
        rules = (*rules, *((NEXT_WRITER,) if _in_one_setting(chunks, _next_writes) else ()))
    elif part.suite == "races":
        rules = RACE_RULES if _in_one_setting(chunks, _races) else ()
    else:
        tally = EvidenceTally()
        for chunk in chunks:
            for event in foresee_given(chunk, [engine, *([partner] if partner else [])]):
                tally.add(event)
        rules = [
            requirement.id
            for requirement in CATALOGUE
            if tally.reaches(_times(requirement.id, engine.name, part.suite), engine.key)
            and not any(missing_claims(requirement.id, engine.capabilities))
        ]
    for rule in rules:
        yield _threshold(rule, engine.name, part.suite)


def _faults(history: History) -> int:
    return sum(isinstance(step.operation, STORAGE_FAULTS) for step in history.steps)


def _races(history: History) -> int:
    return sum(isinstance(step.operation, Interleave) for step in history.steps)


def _next_writes(history: History) -> int:
    """How many operations that surely commit come next after one that a fault has met, without a fault of their own."""
    model_history, fault, awaits, count = ModelHistory(), None, False, 0
    for operation in (step.operation for step in history.steps):
        if isinstance(operation, STORAGE_FAULTS):
            fault = operation
            model_history = model_history.after(Reopen())
        elif fault is not None:
            prevented = is_expected_to_prevent(fault)
            model_history = model_history.after(Reopen() if prevented else operation)
            fault, awaits = None, True
        else:
            if awaits and not isinstance(operation, (Reopen, *QUERIES)):
                expectation = model_history.expect(operation)
                count += isinstance(expectation.ordinary.outcome, Committed)
                awaits = False
            model_history = model_history.after(operation)
    return count


def _in_one_setting(chunks: Sequence[Chunk], count_in: Callable[[History], int]) -> bool:
    """Whether tables of one set of features have twice the evidence that a verdict needs."""
    operations: Counter[tuple[str, ...]] = Counter()
    histories: Counter[tuple[str, ...]] = Counter()
    for history in (history for chunk in chunks for history in chunk.given):
        features = features_of(shape_made_by(history.steps[0].operation).properties)
        found = count_in(history)
        operations[features] += found
        histories[features] += bool(found)
    return any(
        count >= CAUTION * FEWER["checks"] and histories[features] >= CAUTION * FEWER["histories"]
        for features, count in operations.items()
    )


def _times(requirement: str, engine: str, suite: str) -> EvidenceThreshold:
    plain = _threshold(requirement, engine, suite)
    return replace(plain, checks=CAUTION * plain.checks, histories=CAUTION * plain.histories)


def _threshold(requirement: str, engine: str, suite: str) -> EvidenceThreshold:
    return EvidenceThreshold(requirement, engine, suite, **THRESHOLDS.get(suite, {}))
