"""Draws histories that are directed at cells: step by step, the operation that covers most of what is missing.

For each step several operations are drawn. The model says what each would cover, and the one that is worth most is
taken. So a history is complete before any engine performs its first operation, and depends on the seed, the model and
the claims alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.generation import SLOTS, TableShape
from conformance.generation.choices import RandomChoices
from conformance.generation.facets import (
    CONSTRAINED,
    NESTED,
    NOT_NULL,
    PARTITIONED,
    PLAIN,
    Facet,
    offered_facets,
)
from conformance.generation.faults import ROLES, draw_fault, is_expected_to_prevent
from conformance.generation.operations import draw_operation
from conformance.generation.state_machine import REOPEN_AFTER, REOPEN_ONE_IN
from conformance.generation.table_lifecycle import draw_first
from conformance.histories import Step
from conformance.planning.cells import (
    BESIDE,
    CRASH,
    FEATURE,
    MOMENTS,
    PAIR,
    PARTITION,
    Cell,
    cells_of,
    crash_cell,
    letters_of,
)
from conformance.planning.coverage import NEW, Coverage
from conformance.planning.directed_shapes import draw_directed_shape
from delta_adapters.capabilities import Capabilities
from delta_adapters.deviations import operation_trigger
from delta_models.expressions import compile_expression
from delta_models.operations import (
    QUERIES,
    Append,
    Checkpoint,
    ConvertFromParquet,
    Create,
    CreateAs,
    DeadTableAt,
    Delete,
    EnableFeature,
    Operation,
    Optimize,
    Purge,
    Reopen,
    Vacuum,
    ZOrder,
)
from delta_models.schema import Struct
from delta_models.sql.errors import SqlError
from delta_models.table import Expectation, ModelHistory, NotModelled, Table
from delta_models.table.generated_columns import generated_columns
from delta_models.wire_names import name_of

RARE, RANDOM = 5, 4  # how many of the operations to choose from are of letters that lag behind, and of any
SHAPES = 16  # how many sets of facets to choose from
MOST_FACETS = 4
SOUGHT = 1e9  # what the cell is worth which a history is for
FEWEST_STEPS = 8  # of such a history, which ends once it has covered its cell
FOCUSED = 3  # draws at each step of the letters that may cover the cell which a history is for
EMPTY = 0.3  # what an operation is worth on a table without rows
DEAD = 30  # draws in a row of a letter that give nothing that the engine claims; then it is drawn no more
MORE_SELDOM = (
    6  # fewer steps than elsewhere open the table anew, since checkpoints and vacuums do in any case
)
QUERY = 1.4  # what a query is worth more, since no read follows it
OTHER_FAULTS_ONE_IN = 3  # of the faults, where the operation is one that faults are drawn for
NEEDED_BY = {
    "DropConstraint": CONSTRAINED,
    "Purge": "deletionVectors",
    "SetNullable": NOT_NULL,
    "ReadChanges": "changeDataFeed",
    "AddColumn/parent": NESTED,
    "Optimize/where": PARTITIONED,
    "ZOrder/where": PARTITIONED,
    "Overwrite/dynamic": PARTITIONED,
}
"""The facet that a table needs for an operation to have anything to do."""

BEGUN_BY = {"CreateAs": "replaced", "Replace": "replaced", "ConvertFromParquet": "converted"}
"""The bundle of histories that begin with an operation."""

COMMIT_OF: dict[type[Operation], str] = {Checkpoint: "checkpoint", Vacuum: "clean-up"}
"""The file role of what an operation publishes, where it is no commit."""


@dataclass(slots=True)
class HistoryDirector:
    """Draws histories for one engine, each directed at what the coverage still lacks.

    With a `partner` the table is shared: the engine has slot A, the other one slot B. With `faults` operations are cut
    short before or after their commits.
    """

    capabilities: Capabilities
    letters: Sequence[tuple[str, int]]
    coverage: Coverage
    choices: RandomChoices
    bundles: Sequence[tuple[tuple[str, ...], int]] = ()
    partner: Capabilities | None = None
    faults: bool = False
    _focused: list[str] = field(default_factory=list)
    _focus: Cell | None = None
    _used: Counter[str] = field(default_factory=Counter)
    _barren: Counter[str] = field(default_factory=Counter)

    def draw_history(self, steps: int, focus: Cell | None = None) -> tuple[Step, ...]:
        """Draw a history of at most so many steps, and count the cells that it covers.

        With a `focus` the table has what that cell needs, and its operation is drawn at every step.
        """
        facets = self._draw_facets(focus)
        self._focused = (
            [] if focus is None else [letter for letter, _ in self.letters if _fits(letter, focus)]
        )
        self._focus = focus
        bundles = [
            name
            for names, one_in in self.bundles
            if self.choices.one_in(one_in) or (focus is not None and BEGUN_BY.get(_operation(focus)) in names)
            for name in names
        ]
        claims = (self.capabilities, *([self.partner] if self.partner else []))
        shape = draw_directed_shape(
            self.choices,
            facets=facets,
            bundles=bundles,
            claims=claims,
            coverage=self.coverage,
            focus=focus,
        )
        history = _DirectedHistory(self, shape)
        history.begin(facets)
        while len(history.steps) < steps and not self._is_reached(len(history.steps)):
            history.take_next()
        return tuple(history.steps)

    @property
    def focus(self) -> Cell | None:
        """The cell that the history is for, until it is covered."""
        return None if self._focus is None or self.coverage.counts[self._focus] else self._focus

    def _is_reached(self, steps: int) -> bool:
        return self._focus is not None and self.focus is None and steps >= FEWEST_STEPS

    def letters_to_try(self) -> list[str]:
        """The letters to choose from for the next step: those that lag most behind their weights, and any."""
        known = [(letter, weight) for letter, weight in self.letters if self._barren[letter] < DEAD]
        lagging = sorted(known, key=lambda entry: self._used[entry[0]] / entry[1])[: 2 * RARE]
        rare = [letter for letter, _ in self.choices.some(lagging, RARE)]
        return [
            *self._focused * FOCUSED,
            *rare,
            *rare,
            *(self.choices.weighted(known) for _ in range(RANDOM)),
        ]

    def balance(self, letter: str) -> float:
        """What a letter is worth because it was taken less often than its weight says, or more often."""
        weight = dict(self.letters)[letter] / sum(weight for _, weight in self.letters)
        share = (self._used[letter] + 1) / (self._used.total() + len(self.letters))
        return float(min(4.0, max(0.1, weight / share)))

    def note(self, letter: str, *, claimed: bool) -> None:
        """Remember that a letter was drawn, and whether it gave something that the engine claims."""
        self._barren[letter] = 0 if claimed else self._barren[letter] + 1

    def use(self, letter: str) -> None:
        """Remember that a letter was taken."""
        self._used[letter] += 1

    def _draw_facets(self, focus: Cell | None) -> tuple[Facet, ...]:
        offered = tuple(facet for facet in offered_facets(self.capabilities) if facet.name != PLAIN)
        if self.partner is not None:
            offered = tuple(facet for facet in offered if facet in offered_facets(self.partner))
        needs = self.coverage.needs(FEATURE) + self.coverage.needs(BESIDE)

        def worth(chosen: tuple[Facet, ...]) -> float:
            names = sorted(facet.name for facet in chosen)
            pairs = self.coverage.gain(
                (PAIR, one, other) for index, one in enumerate(names) for other in names[index + 1 :]
            )
            needed = sum(needs[name] for name in names or (PLAIN,))
            return 3 * pairs / NEW + needed / math.sqrt(max(1, len(names)))

        drawn = [
            tuple(self.choices.some(offered, self.choices.below(MOST_FACETS + 1))) for _ in range(SHAPES)
        ]
        best = max(drawn, key=worth)
        partitioned = [facet for facet in offered if facet.partitions and self.choices.one_in(2)]
        words = ("",) if focus is None else (*focus[1:], NEEDED_BY.get(focus[1], ""), focus[-1])
        needed = [
            facet for facet in offered if facet.name in words or (facet.partitions and PARTITION in words[-1])
        ]
        if PLAIN in words or not (needed or best):
            return ()
        return tuple(dict.fromkeys((*(needed or best), *partitioned)))


def _is_filled(schema: Struct) -> bool:
    """Whether a column is one that the table fills itself, which no query and no folder of files can say."""
    return any(field.metadata_json != "{}" for field in schema)


def _operation(cell: Cell) -> str:
    """The operation that a cell names, without its option."""
    return cell[1].partition("/")[0]


def _fits(letter: str, focus: Cell) -> bool:
    """Whether a letter may give the operation that a cell names."""
    operation = _operation(focus)
    return letter.startswith(operation) or (operation == "AddColumn" and letter == "AddLast")


class _DirectedHistory:
    """One history while it is drawn."""

    def __init__(self, director: HistoryDirector, shape: TableShape) -> None:
        self.steps: list[Step] = []
        self._director = director
        self._shape = shape
        self._model_history = ModelHistory()
        self._must_reopen = False
        self._was_cut = False  # whether the last operation was met by a fault
        self._slot: str | None = None
        self._appended = 0  # operations since the last one of upkeep that surely left something for it to do

    def begin(self, facets: Sequence[Facet]) -> None:
        """Make the table, with its facets and some rows."""
        director = self._director
        self._slot = None if director.partner is None else SLOTS[0]
        self._take(self._draw_first())
        for facet in facets:
            if facet.enabled:
                self._take_if_claimed(EnableFeature(facet.enabled))
        self._take_if_claimed(self._draw("Append"))
        if any(facet.name == CONSTRAINED for facet in facets):
            self._take_if_claimed(self._draw("AddConstraint"))

    def take_next(self) -> None:
        """Draw the next operation, and take it, if need be with a fault before it."""
        director = self._director
        if director.partner is not None:
            self._slot = director.choices.pick(SLOTS[:2])
        if self._must_reopen or director.choices.one_in(REOPEN_ONE_IN + MORE_SELDOM):
            self._take(Reopen())
            return
        best: tuple[float, str, Operation] | None = None
        for letter in director.letters_to_try():
            operation = self._draw(letter)
            if operation is None:
                continue
            director.note(letter, claimed=self._claims().covers(operation) is None)
            cells = self._cells(operation)
            if cells is not None:
                worth = self._worth(operation, cells) * director.balance(letter)
                if best is None or worth > best[0]:
                    best = (worth, letter, operation)
        if best is None:
            self._take(Reopen())
            return
        director.use(best[1])
        # What follows a cut operation is mostly left whole, since the next write must succeed.
        left_whole = self._was_cut and director.focus is None and director.choices.below(3) > 0
        fault = self._draw_fault(best[2]) if director.faults and not left_whole else None
        self._take(best[2], fault)

    def _draw_first(self) -> Operation:
        """The operation that makes the table, in another way than by a plain creation where the shape asks for it."""
        focus = self._director.focus
        for _ in range(DEAD):
            first = draw_first(self._director.choices, self._shape)
            sought = focus is None or focus[1] in letters_of(first) or _operation(focus) not in BEGUN_BY
            filled = isinstance(first, CreateAs | ConvertFromParquet) and _is_filled(first.rows.schema)
            claimed = self._director.capabilities.covers(first) is None
            if sought and claimed and not filled and not isinstance(first, Create):
                return first
            if not {"replaced", "converted", "catalogue"} & {*self._shape.features}:
                break
        return Create(self._shape.schema, self._shape.partition_by, self._shape.properties)

    def _worth(self, operation: Operation, cells: frozenset[Cell]) -> float:
        worth: float = self._director.coverage.gain(cells)
        if self._director.faults:
            cuts = (
                [crash_cell(operation, moment) for moment in MOMENTS] if self._may_be_cut(operation) else []
            )
            cells |= {*cuts}
            worth += 4 * self._director.coverage.gain(cuts)
        if self._director.focus in cells:
            return SOUGHT
        if not self._model_history.table.rows and not isinstance(operation, Append):
            worth *= EMPTY
        return worth * (QUERY if isinstance(operation, QUERIES) else 1.0)

    def _draw(self, letter: str) -> Operation | None:
        """Draw an operation; None if there is nothing to draw it from, such as a column that takes constants."""
        try:
            return draw_operation(self._director.choices, self._model_history, self._shape, letter)
        except (KeyError, IndexError, SqlError):
            return None

    def _draw_fault(self, operation: Operation) -> Operation | None:
        """The fault before an operation that changes the table: around its commit, or now and then any."""
        director, choices = self._director, self._director.choices
        if not self._may_be_cut(operation):
            return None
        if type(operation) in ROLES and director.focus is None and choices.one_in(OTHER_FAULTS_ONE_IN):
            return draw_fault(choices, self._model_history, operation)
        counts = director.coverage.counts
        if director.focus is not None and director.focus[:2] == (CRASH, name_of(operation)):
            return DeadTableAt(COMMIT_OF.get(type(operation), "commit"), director.focus[2])
        moments = sorted(MOMENTS, key=lambda moment: counts[crash_cell(operation, moment)])
        return DeadTableAt(COMMIT_OF.get(type(operation), "commit"), moments[0])

    def _may_be_cut(self, operation: Operation) -> bool:
        """Whether an operation surely publishes something, so that a fault can strike it."""
        least, most = self._model_history.expect(operation).ordinary.commits
        rewrites = isinstance(operation, Optimize | ZOrder | Purge) and most > 0 and self._appended > 1
        return bool(least or rewrites or type(operation) in COMMIT_OF)

    def _cells(self, operation: Operation) -> frozenset[Cell] | None:
        """What an operation covers; None if nobody claims it, or if the model does not know it."""
        director, table = self._director, self._model_history.table
        own = self._claims() is director.capabilities
        if self._claims().covers(operation) is not None:
            return None
        if self._shape.tame and operation_trigger(table, operation) is not None:
            return None
        expectation = self._expect(operation)
        if expectation is None or not self._is_for_all(expectation.ordinary.table):
            return None
        cells = cells_of(table, operation, expectation)
        return cells if own else frozenset((BESIDE, *cell[1:]) for cell in cells if cell[0] == FEATURE)

    def _is_for_all(self, table: Table) -> bool:
        """Whether the engines of a shared table claim it as an operation leaves it; an engine alone answers itself."""
        director = self._director
        return director.partner is None or all(
            claims.covers_table(table.schema, table.partition_by, dict(table.properties)) is None
            and claims.covers_features(set(table.features), writing=True) is None
            for claims in (director.capabilities, director.partner)
        )

    def _claims(self) -> Capabilities:
        """What the engine claims that performs the next step."""
        director = self._director
        own = director.partner is None or self._slot == SLOTS[0]
        return director.capabilities if own or director.partner is None else director.partner

    def _expect(self, operation: Operation) -> Expectation | None:
        """What the model expects; None if it does not know, as where a rule names a column that is taken away."""
        try:
            expectation = self._model_history.expect(operation)
            table = expectation.ordinary.table
            generated_columns(table.schema)
            for _, check in table.constraints:
                compile_expression(check, table.schema)
        except (NotModelled, KeyError, SqlError):
            return None
        return expectation

    def _take_if_claimed(self, operation: Operation | None) -> None:
        if operation is not None and self._cells(operation) is not None:
            self._take(operation)

    def _take(self, operation: Operation, fault: Operation | None = None) -> None:
        coverage = self._director.coverage
        if not isinstance(operation, Reopen):
            coverage.add(self._cells(operation) or ())
        if fault is not None:
            if isinstance(fault, DeadTableAt):
                coverage.add([crash_cell(operation, fault.moment)])
            self.steps.append(Step(fault))
            self._model_history = self._model_history.after(Reopen())
        self.steps.append(Step(operation, self._slot))
        prevented = is_expected_to_prevent(fault)
        if isinstance(operation, Append | Delete) and not prevented:
            self._appended += 1
        elif isinstance(operation, Optimize | ZOrder | Purge):
            self._appended = 0
        self._model_history = self._model_history.after(Reopen() if prevented else operation)
        self._must_reopen = isinstance(operation, REOPEN_AFTER)
        self._was_cut = fault is not None or (self._was_cut and isinstance(operation, Reopen))
