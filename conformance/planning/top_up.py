"""Tops a plan up: directed histories for what its broad part leaves below a threshold, and a reserve.

A directed history is drawn for a table profile that is a focus: few operations on a plain table, which surely give
certain evidence. The forecast of each directed chunk says how much it gives. The reserve holds further chunks of the
same kind. They are played only if the evidence that came is too little, since engines refused, died or ended histories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.events.types import EvidenceThreshold
from conformance.generation.table_profiles import FOCUSES as FOCUSED
from conformance.histories import Chunk, chunk_seed
from conformance.planning.claims import PlannedEngine
from conformance.planning.narrowed import within
from conformance.planning.suites import EXAMPLES, FORESEEN_SUITES, LOCKSTEP, SHARED
from conformance.planning.tally import EvidenceTally, with_margin

HISTORIES = 3  # in a directed chunk; one in a chunk that an engine on a JVM plays
MOST_CHUNKS = 200  # in a top-up; far more than the committed profiles need
LEAST_STEPS = 12  # in a directed history, where the suite's committed ones are shorter
RESERVED = 6  # chunks for each focus
USELESS = 4  # chunks of a focus without the evidence that they are for, after which no more are drawn
SAMPLE = 8  # chunks of a suite that are foreseen where it has many; where it has fewer, the first one is
CAUTION = 2  # of what a sample promises for the rest of its suite, one in so many is counted on

# The focus for a requirement, by the beginning of its name; the first that fits counts.
FOCUSES: tuple[tuple[str, str], ...] = (
    ("outcome.classified", "refusals"),
    ("outcome.refused", "refusals"),
    ("outcome.misfit", "refusals"),
    ("write.data-change-false", "compactions"),
    ("contents.optimize", "compactions"),
    ("contents.delete", "rewrites"),
    ("contents.update", "rewrites"),
    ("contents.merge", "rewrites"),
    ("contents.overwrite-partitions", "writes"),
    ("contents.overwrite", "rewrites"),
    ("log.remove-names", "rewrites"),
    ("log.no-add-and-remove", "rewrites"),
    ("read.filter", "rewrites"),
    ("metamorphic.filter", "rewrites"),
    ("metamorphic.delete", "rewrites"),
    ("contents.append", "appends"),
    ("contents.vacuum", "vacuums"),
    ("contents.restore", "restores"),
    ("contents.checkpoint", "checkpoints"),
    ("checkpoint.", "checkpoints"),
    ("metamorphic.upkeep", "compactions"),
    # The rest of the alphabet: table profiles that are broad themselves, so that only the reserve is drawn for them.
    ("contents.replace", "writes"),
    ("contents.create-as", "writes"),
    ("contents.set-properties", "rules"),
    ("contents.unset-properties", "rules"),
    ("contents.add-constraint", "rules"),
    ("contents.widen", "widening"),
    ("contents.set-default", "growing"),
    ("contents.enable-feature", "protocol"),
    ("contents.cluster", "clustered"),
    ("contents.", "evolving"),
    ("schema.", "evolving"),
    ("rules.generated", "computed"),
    ("rules.", "rules"),
    ("changes.", "changes"),
    ("cdc.", "changes"),
    ("stream.", "followed"),
    ("dv.", "vectors"),
    ("log.row-", "tracked"),
    ("log.in-commit", "tracked"),
    ("protocol.", "protocol"),
    ("history.", "upkeep"),
    ("detail.", "upkeep"),
    ("", "appends"),
)
DIRECTED = frozenset(table.name for table in FOCUSED)
# What is drawn in reserve in the suites whose histories are mostly committed ones.
RESERVE_TABLES = {"crashes": "", "races": "drawn"}


@dataclass(frozen=True, slots=True)
class ReservedChunk:
    """A chunk of the reserve: its suite and focus say what it is for, `chunk.heavy` for which engines.

    `engine` is set if it is drawn within the claims of one engine.
    """

    focus: str
    chunk: Chunk
    engine: str = ""


@dataclass(slots=True)
class _Numbers:
    """The numbers that are free for further chunks, by suite."""

    following: dict[str, int]

    def take(self, suite: str) -> int:
        """The next number of a suite."""
        number = self.following.get(suite, 0)
        self.following[suite] = number + 1
        return number


def within_reach(
    core: Sequence[EvidenceThreshold], broad: Sequence[Chunk], engines: Sequence[PlannedEngine]
) -> tuple[EvidenceThreshold, ...]:
    """Return a core whose thresholds on the worked examples ask no more than those examples give that an engine claims.

    There are no further examples, so an engine that claims few of them could never reach the threshold of one that
    claims all.
    """
    wanted = [threshold for threshold in core if threshold.suite == EXAMPLES]
    tally = EvidenceTally()
    for chunk in broad if wanted else ():
        if chunk.suite == EXAMPLES:
            _foresee(tally, chunk, engines)
    by_name = {engine.name: engine.key for engine in engines}
    reach = {threshold: tally.best(threshold, by_name[threshold.engine]) for threshold in wanted}
    return tuple(
        threshold
        if threshold not in reach
        else replace(
            threshold,
            checks=min(threshold.checks, reach[threshold][0]),
            histories=min(threshold.histories, reach[threshold][1]),
        )
        for threshold in core
        if threshold not in reach or all(reach[threshold])
    )


def focus_of(threshold: EvidenceThreshold) -> tuple[str, str]:
    """The suite and the table profile of histories that give the evidence that a threshold wants."""
    suite = threshold.suite or LOCKSTEP
    if suite in RESERVE_TABLES:
        return suite, RESERVE_TABLES[suite]
    return suite, next(focus for beginning, focus in FOCUSES if threshold.requirement.startswith(beginning))


@dataclass(frozen=True, slots=True)
class TopUp:
    """Draws directed chunks for one run. `steps` are those of a history, by suite."""

    profile: str
    seed: int
    engines: Sequence[PlannedEngine]
    steps: dict[str, int]
    draws: str = ""

    def complete(
        self, broad: Sequence[Chunk], core: Sequence[EvidenceThreshold]
    ) -> tuple[tuple[Chunk, ...], tuple[ReservedChunk, ...]]:
        """Return the chunks that fill a plan up to its core, and the reserve."""
        wanted = [
            (threshold, engine)
            for threshold in core
            if focus_of(threshold)[0] in self.steps.keys() - {EXAMPLES}  # committed, so there are no others
            for engine in self.engines
            if engine.name == threshold.engine
        ]
        following = {suite: 1 + max(_numbers(suite, broad), default=-1) for suite in self.steps}
        numbers = _Numbers(following)
        chunks = tuple(self._directed(broad, wanted, numbers))
        return chunks, tuple(self._reserve(wanted, numbers))

    def reserve_beside(
        self, written: Sequence[Chunk], core: Sequence[EvidenceThreshold]
    ) -> Iterator[ReservedChunk]:
        """Yield the reserve of a plan that is written out, in suites of one engine, for each engine its own.

        Written histories end early where an engine deviates, also by a known cause, and no draw avoids that.
        """
        numbers = _Numbers({suite: 1 + max(_numbers(suite, written), default=-1) for suite in self.steps})
        for engine in self.engines:
            wanted = [
                (threshold, engine)
                for threshold in core
                if threshold.engine == engine.name and focus_of(threshold)[0] in self.steps
            ]
            for reserved in self._reserve(wanted, numbers):
                chunk = replace(reserved.chunk, engines=(engine.key,))
                yield replace(reserved, chunk=chunk, engine=engine.name)

    def _directed(
        self,
        broad: Sequence[Chunk],
        wanted: Sequence[tuple[EvidenceThreshold, PlannedEngine]],
        numbers: _Numbers,
    ) -> Iterator[Chunk]:
        open_ones = [
            (with_margin(threshold), engine) for threshold, engine in wanted if _may_be_directed(threshold)
        ]
        tally = EvidenceTally()
        for chunks in _plain_chunks(broad).values():
            sample = chunks[:SAMPLE] if len(chunks) > 2 * SAMPLE else chunks[:1]
            for chunk in sample:
                self._count(tally, chunk)
            if len(sample) == SAMPLE:
                tally.extrapolate(sample[0].suite, (len(chunks) / len(sample) - 1) / CAUTION)
        open_ones = [pair for pair in open_ones if not tally.reaches(pair[0], pair[1].key)]
        drawn: dict[tuple[str, str, bool, str], int] = {}
        # What is for engines on a JVM comes first, because the others play those histories as well.
        for threshold, engine in sorted(open_ones, key=lambda pair: not pair[1].on_jvm):
            suite, focus = focus_of(threshold)
            useless = 0
            while not tally.reaches(threshold, engine.key) and useless < USELESS:
                kind = (suite, focus, engine.on_jvm, _only(engine))
                index = drawn[kind] = drawn.get(kind, -1) + 1
                before = tally.best(threshold, engine.key)
                chunk = self._chunk(suite, focus, index, numbers, engine)
                self._count(tally, chunk)
                useless += tally.best(threshold, engine.key) == before
                yield chunk
                if sum(drawn.values()) > MOST_CHUNKS:
                    return

    def _reserve(
        self, wanted: Sequence[tuple[EvidenceThreshold, PlannedEngine]], numbers: _Numbers
    ) -> Iterator[ReservedChunk]:
        kinds: dict[tuple[str, str, bool, str], PlannedEngine] = {}
        for threshold, engine in wanted:
            kinds.setdefault((*focus_of(threshold), engine.on_jvm, _only(engine)), engine)
        for (suite, focus, _, only), engine in kinds.items():
            for index in range(RESERVED):
                chunk = self._chunk(suite, focus, index, numbers, engine, reserved=True)
                yield ReservedChunk(focus, chunk, only)

    def _chunk(
        self,
        suite: str,
        focus: str,
        index: int,
        numbers: _Numbers,
        engine: PlannedEngine,
        *,
        reserved: bool = False,
    ) -> Chunk:
        on_jvm = engine.on_jvm
        purpose = "reserve" if reserved else "top-up"
        kind = f"{self.profile}/{purpose}/{focus}/{'jvm' if on_jvm else 'light'}"
        kind += f"/{only}" if (only := _only(engine)) else ""
        return Chunk(
            suite,
            self.profile,
            numbers.take(suite),
            chunk_seed(self.seed, suite, kind, index),
            histories=1 if on_jvm else HISTORIES,
            steps=max(self.steps[suite], LEAST_STEPS),
            heavy=(0,) if on_jvm else (),
            table=focus,
            within=within([engine]),
            draws=self.draws,
        )

    def _count(self, tally: EvidenceTally, chunk: Chunk) -> None:
        _foresee(tally, chunk, self.engines)


def _foresee(tally: EvidenceTally, chunk: Chunk, engines: Sequence[PlannedEngine]) -> None:
    from conformance.planning.forecast import foresee  # noqa: PLC0415 - loads what draws histories: not for every plan

    for event in foresee(chunk, engines):
        tally.add(event)


def _only(engine: PlannedEngine) -> str:
    """The name of an engine whose histories are drawn within its own claims; empty for any other."""
    return engine.name if within([engine]) else ""


def _may_be_directed(threshold: EvidenceThreshold) -> bool:
    from conformance.planning.forecast import is_foreseen  # noqa: PLC0415 - as above

    focus = focus_of(threshold)[1]
    return (
        threshold.suite in {"", LOCKSTEP, SHARED} and focus in DIRECTED and is_foreseen(threshold.requirement)
    )


def _plain_chunks(broad: Sequence[Chunk]) -> dict[str, list[Chunk]]:
    """The chunks of plain tables by suite. In the first of them engines on a JVM take part."""
    plain: dict[str, list[Chunk]] = {}
    for chunk in broad:
        if not chunk.table and chunk.suite in FORESEEN_SUITES:
            plain.setdefault(chunk.suite, []).append(chunk)
    return plain


def _numbers(suite: str, chunks: Iterable[Chunk]) -> Iterator[int]:
    return (chunk.number for chunk in chunks if chunk.suite == suite)
