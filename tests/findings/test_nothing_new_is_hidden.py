"""A second fault with the trigger of a known cause is new: no cause takes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from conformance.execution.step_result import StepResult
from conformance.fault_injection.instrumented_engines import InstrumentedEngines
from conformance.findings import candidate_causes
from conformance.histories import History, Step
from conformance.suites.context import engine_session_of
from conformance.suites.crashes.session import CrashTableSession
from conformance.suites.races.session import RaceTableSession
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import all_causes, cause_named
from delta_adapters.reference import Reference
from delta_adapters.registry import parse_engine
from delta_models.expressions import And, Column, Compare, In, IsNotNull, Literal
from delta_models.operations import (
    AddColumn,
    AddConstraint,
    Append,
    AtState,
    CompactLog,
    Create,
    DeadTableAt,
    Delete,
    Interleave,
    LoseReplyAt,
    Merge,
    MergeClause,
    Operation,
    Overwrite,
    Read,
    ReadChanges,
    Reopen,
    Update,
    Vacuum,
)
from delta_models.requirements import Violation
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    LONG,
    STRING,
    Array,
    DecimalType,
    Field,
    struct,
)
from delta_models.values import Decimal, Rows
from tests.findings import second_faults
from tests.mutants.stage import ALWAYS, play

FAULTS = Path(second_faults.__file__)
ID, V, PART = Column(("id",)), Column(("v",)), Column(("part",))
NAN, MONEY = float("nan"), DecimalType(10, 2)
TENTH = 13421773 / 2**27  # the float nearest to 0.1


def written(schema, *rows, partition_by=(), properties=()) -> list[Operation]:
    return [Create(schema, partition_by, properties), Append(Rows(schema, rows))]


def minimal(cause: str) -> list[Operation]:
    found = cause_named(cause)
    assert found is not None
    return [step.operation for step in History.from_json(found.history).steps]


NUMBERS = struct(("id", LONG), ("v", DOUBLE))
TEXTS = struct(("id", LONG), ("part", STRING))
FLAGS = struct(("id", LONG), ("part", BOOLEAN), ("qart", BOOLEAN))
AMOUNTS = struct(("id", LONG), ("d", MONEY))
WITHOUT_POINT = Compare("<=", Column(("d",)), Literal(MONEY, Decimal(150, 2)))

WIDE = struct(("d", DecimalType(20, 0)))
ABOVE_4 = Compare(">", Column(("d",)), Literal(DecimalType(20, 0), Decimal(4, 0)))
SAME_ID = Compare("=", Column(("source", "id")), Column(("target", "id")))
ABOVE_5 = Compare(">", Column(("source", "v")), Literal(DOUBLE, 5.0))
DELETE_ABOVE_5 = MergeClause("matched", "delete", condition=ABOVE_5)
DELETE = MergeClause("matched", "delete")
RECORDED = (("delta.enableChangeDataFeed", "true"),)
COUNTED = [  # a delete of two rows of three, whose change data are recorded
    *written(NUMBERS, (1, 1.0), (2, 1.0), (3, 2.0), properties=(("delta.enableChangeDataFeed", "true"),)),
    Delete(Compare("=", V, Literal(DOUBLE, 1.0))),
]


def contradiction(v: float) -> list[Operation]:
    """A delete that picks no row, by an id that is to be 7 and 1 at once."""
    listed = In(ID, (Literal(LONG, 1), Literal(LONG, 1)))
    parts = (Compare("=", ID, Literal(LONG, 7)), listed, Compare("=", V, Literal(DOUBLE, v)))
    recorded = (("delta.enableChangeDataFeed", "true"),)
    return [*written(NUMBERS, (1, 1.0), (7, 2.0), (3, 10.0), properties=recorded), Delete(And(parts))]


# The fault, what is played, and the requirement that the second fault violates in place of the known one.
LOCKSTEP: Sequence[tuple[str, str, list[Operation], str]] = (
    ("delta-rs-nan-left-out-of-bounds", "LosesARowOfAFilter",
     [*written(NUMBERS, (1, 1.0), (2, NAN), (3, 1.0)), Read(where=IsNotNull(V))], "read.filter"),
    ("delta-rs-nan-left-out-of-maximum", "SaysALowerMaximum", written(NUMBERS, (1, 1.0), (2, NAN)),
     "stats.max-covers-nan"),
    ("delta-rs-nan-left-out-of-bounds", "DoesNothing",
     [*written(NUMBERS, (1, 1.0), (2, NAN), (3, 10.0)), Delete(Compare(">", V, Literal(DOUBLE, 5.0)))],
     "outcome.allowed"),
    ("delta-rs-empty-partition-text", "AnswersAnotherText",
     [*written(TEXTS, (1, ""), partition_by=("part",)), Read(where=Compare("=", ID, Literal(LONG, 1)))],
     "read.filter"),
    ("delta-rs-empty-partition-text", "LosesARowOfAFilter",
     [*written(TEXTS, (1, ""), (1, "a"), partition_by=("part",)), Read(where=Compare("=", ID, Literal(LONG, 1)))],
     "read.filter"),
    ("delta-rs-decimal-statistics", "RoundsDecimalsFurther", minimal("delta-rs-decimal-statistics"),
     "stats.min-values"),
    ("delta-rs-decimal-statistics", "LosesARowOfAFilter",
     [Create(WIDE), Delete(ABOVE_4), *[Reopen()] * 9,
      Append(Rows(WIDE, ((Decimal(10**16 + 1, 0),), (Decimal(5, 0),))))],
     "read.filter"),
    ("delta-rs-null-in-filter", "LosesARowOfAFilter",
     [*written(NUMBERS, (1, 1.0), (2, 2.0)),
      Read(where=And((Compare(">=", ID, Literal(LONG, 1)), Compare("=", V, Literal(DOUBLE, None)))))],
     "read.filter"),
    ("delta-rs-delete-by-null", "DeletesOneRow",
     [*written(NUMBERS, (1, 1.0), (2, 2.0)), Delete(Compare("=", ID, Literal(LONG, None)))],
     "contents.delete-nothing"),
    ("delta-rs-name-of-null", "WritesAnotherId", minimal("delta-rs-name-of-null"), "contents.append"),
    ("delta-rs-partition-columns-compared", "DoublesARowOfAFilter",
     [*written(FLAGS, (1, True, True), partition_by=("part", "qart")),
      Read(where=Compare("<", PART, Column(("qart",))))], "read.filter"),
    ("delta-rs-negative-decimal-partition", "WritesAnotherFraction",
     minimal("delta-rs-negative-decimal-partition"), "log.partition-value-readable"),
    ("delta-rs-binary-partition", "WritesBytesBackwards",
     written(struct(("id", LONG), ("part", BINARY)), (1, b"ab"), partition_by=("part",)), "contents.append"),
    ("delta-rs-counts-more-than-files", "CountsOneFileMore", minimal("delta-rs-counts-more-than-files"),
     "metrics.files"),
    ("delta-rs-compaction-forgets-nulls", "CompactsWithoutAFile",
     [*written(TEXTS, (1, None), (2, "a"), partition_by=("part",)), CompactLog(2)],
     "log.compaction-equals-replay"),
    ("delta-rs-variants-unasked", "NamesCheckpointsToo", minimal("delta-rs-variants-unasked"),
     "protocol.features-needed"),
    ("delta-rs-variants-with-any-property", "NamesCheckpointsToo", minimal("delta-rs-variants-with-any-property"),
     "protocol.features-needed"),
    ("delta-rs-upgrade-forgets-features", "NamesOneFeatureMore", minimal("delta-rs-upgrade-forgets-features"),
     "log.constraint-needs-feature"),
    ("delta-rs-restores-append-only-tables", "RestoresWithoutAFile",
     minimal("delta-rs-restores-append-only-tables"), "log.append-only"),
    ("delta-rs-schema-merge-forgets-not-null", "WritesAnotherType",
     minimal("delta-rs-schema-merge-forgets-not-null"), "write.schema"),
    ("delta-rs-capital-letters-beside-generated-columns", "RefusesForAnotherColumn",
     minimal("delta-rs-capital-letters-beside-generated-columns"), "outcome.allowed"),
    ("delta-rs-infinity-in-a-constraint", "RefusesForAnotherColumn",
     minimal("delta-rs-infinity-in-a-constraint"), "outcome.allowed"),
    ("delta-rs-floats-in-constraints-as-doubles", "ConstrainsTooMuch",
     [*written(struct(("f", FLOAT)), (TENTH,)),
      AddConstraint("least", Compare(">=", Column(("f",)), Literal(FLOAT, TENTH)))], "outcome.allowed"),
    ("delta-rs-merge-validates-rows-of-nulls", "RefusesOneRowMore",
     minimal("delta-rs-merge-validates-rows-of-nulls"), "outcome.allowed"),
    ("delta-rs-nested-column-asked-for-null", "RefusesAKnownColumn",
     [*written(struct(("id", LONG), ("list", Array(LONG))), (1, (2,))), Delete(IsNotNull(Column(("list",))))],
     "outcome.allowed"),
    ("delta-rs-tells-changes-not-recorded", "TellsAChangeTwice",
     [*written(NUMBERS, (1, 1.0)), ReadChanges(AtState(1))], "changes.refused-where-not-recorded"),
    ("delta-rs-text-becomes-a-list", "AppendsAnotherText", minimal("delta-rs-text-becomes-a-list"),
     "outcome.misfit-refused"),
    ("delta-rs-constraint-loses-the-point", "ConstrainsAlmostNothing",
     [*written(AMOUNTS, (1, Decimal(100, 2))), AddConstraint("small", WITHOUT_POINT),
      Append(Rows(AMOUNTS, ((1, Decimal(50_000, 2)),)))], "outcome.broken-rule-refused"),
    ("delta-rs-update-forgets-a-change", "RecordsAnotherImage", minimal("delta-rs-update-forgets-a-change"),
     "cdc.equals-difference"),
    ("delta-rs-rewrites-by-contradictions", "RecordsAnotherDelete", minimal("delta-rs-rewrites-by-contradictions"),
     "cdc.equals-difference"),
    ("delta-rs-rewrites-by-contradictions", "ForgetsTheLastPart", contradiction(1.0), "cdc.equals-difference"),
    ("delta-rs-rewrites-by-contradictions", "ForgetsTheLastPart", contradiction(9.0), "write.untouched-files-stay"),
    ("delta-rs-merge-deletes-twice", "DeletesMatchesAnyway",
     [*written(NUMBERS, (1, 1.0)), Merge(Rows(NUMBERS, ((1, 5.0), (1, 6.0))), SAME_ID, (DELETE_ABOVE_5, DELETE))],
     "outcome.merge-deletes-twice-refused"),
    ("delta-rs-repeats-transactions", "ForgetsTheId", minimal("delta-rs-repeats-transactions"),
     "outcome.repeated-transaction-skipped"),
    ("delta-rs-years-beyond-pythons", "RefusesFarYearsOtherwise", minimal("delta-rs-years-beyond-pythons"),
     "read.succeeds"),
    ("delta-rs-adds-existing-columns", "ForgetsPropertiesToo",
     [Create(NUMBERS, (), (("delta.checkpointInterval", "7"),)), AddColumn(Field("v", DOUBLE))],
     "outcome.existing-column-refused"),
    ("delta-rs-decimal-statistics", "AnswersAnotherDecimal",
     [Create(WIDE), Delete(ABOVE_4), *[Reopen()] * 9, Append(Rows(WIDE, ((Decimal(10**16 + 1, 0),),)))],
     "read.filter"),
    ("delta-rs-two-zeros", "LosesARowOfAFilter",
     [*written(NUMBERS, (1, -0.0), (2, 0.0), (3, 5.0)), Read(where=IsNotNull(V))], "read.filter"),
    ("delta-rs-two-zeros", "DeletesMatchesOfOne",
     [*written(NUMBERS, (1, -0.0), (2, 0.0), (3, 0.0)), Delete(Compare("=", V, Literal(DOUBLE, 0.0)))],
     "contents.delete"),
    ("delta-rs-passes-over-files", "LosesARowOfAFilter",
     [*written(TEXTS, (1, "a"), (2, "b"), (3, "c"), partition_by=("part",)),
      Read(where=IsNotNull(PART), columns=("part",))], "read.filter"),
    ("delta-rs-passes-over-files", "UpdatesOneRow",
     [*written(TEXTS, (1, "a"), (2, "a"), (3, "c"), partition_by=("part",)),
      Update((("id", Literal(LONG, 9)),))], "contents.update"),
    ("delta-rs-merged-files-stay", "MergeAddsTwice", minimal("delta-rs-merged-files-stay"), "contents.merge"),
    ("delta-rs-deleted-rows-not-counted", "CountsADeletedRowLess",
     [*written(TEXTS, (1, "a"), (2, "a")), Delete()], "metrics.rows-deleted"),
    ("delta-rs-counts-changes-as-copies", "CountsADeletedRowLess", COUNTED, "metrics.rows-deleted"),
    ("delta-rs-counts-changes-as-copies", "CountsACopiedRowMore", COUNTED, "metrics.rows-copied"),
    ("delta-rs-merges-every-match", "MergesTheFirstMatch", minimal("delta-rs-merges-every-match"),
     "outcome.ambiguous-match-refused"),
    ("delta-rs-merges-every-match", "CountsADeletedRowLess",
     [*written(NUMBERS, (1, 1.0)), Merge(Rows(NUMBERS, ((1, 5.0),)), SAME_ID, (DELETE,))], "metrics.rows-merged"),
    ("delta-rs-merges-every-match", "RecordsAnotherMerge",
     [*written(NUMBERS, (1, 1.0), properties=RECORDED),
      Merge(Rows(NUMBERS, ((1, 5.0), (1, 6.0))), SAME_ID, (DELETE,))], "cdc.equals-difference"),
    ("delta-rs-merged-files-stay", "RecordsAnotherMerge",
     [*written(TEXTS, (1, " "), partition_by=("part",), properties=RECORDED),
      Merge(Rows(TEXTS, ((1, " "),)), SAME_ID, (DELETE,))], "cdc.equals-difference"),
    ("delta-rs-passes-over-files", "LosesARow",
     [*written(TEXTS, (1, "a"), (2, "a"), (3, "b"), (4, "b"), partition_by=("part",)), Read(columns=("part",))],
     "read.latest"),
    ("delta-rs-counts-nulls-of-items", "CountsOneNullMore", minimal("delta-rs-counts-nulls-of-items"),
     "stats.null-count"),
    ("delta-rs-counts-nulls-of-items", "AnswersNoLists", minimal("delta-rs-counts-nulls-of-items"), "read.latest"),
    ("delta-rs-null-flags-kept", "DoublesARowOfAFilter",
     [*written(FLAGS, (1, True, True), (2, None, True), partition_by=("part",)),
      Read(where=Compare("=", PART, Literal(BOOLEAN, True)))], "read.filter"),
    ("delta-rs-passes-over-files", "DeletesMatchesOfOne",
     [*written(TEXTS, (1, "a"), (2, "a"), (3, "c"), partition_by=("part",)), Delete(IsNotNull(PART))],
     "contents.delete"),
    ("delta-rs-nulls-of-removes", "CutsItsCheckpoints", minimal("delta-rs-nulls-of-removes"),
     "checkpoint.readable"),
    ("delta-rs-decimal-bound-overflows", "RefusesInOtherWords", minimal("delta-rs-decimal-bound-overflows"),
     "outcome.allowed"),
    ("delta-rs-selectivity-of-all-longs", "RefusesTheFilterOtherwise", minimal("delta-rs-selectivity-of-all-longs"),
     "read.succeeds"),
    ("delta-rs-selectivity-of-all-longs", "RefusesTheFilterByNoNumber", minimal("delta-rs-selectivity-of-all-longs"),
     "read.succeeds"),
    ("delta-rs-creates-what-it-cannot-read", "RefusesInOtherWords",
     minimal("delta-rs-creates-what-it-cannot-read"), "outcome.allowed"),
    ("delta-rs-casts-of-moments", "RefusesTheUpdateOtherwise", minimal("delta-rs-casts-of-moments"),
     "outcome.allowed"),
    ("delta-rs-unknown-column-beside-null", "RefusesTheUpdateOtherwise",
     minimal("delta-rs-unknown-column-beside-null"), "outcome.allowed"),
    ("delta-rs-partition-columns-answered-last", "AnswersColumnsReversed",
     minimal("delta-rs-partition-columns-answered-last"), "read.columns"),
    ("delta-rs-vacuum-without-retention", "VacuumsLiveFilesToo",
     [*written(NUMBERS, (1, 1.0)), Overwrite(Rows(NUMBERS, ((2, 2.0),))), Vacuum()], "vacuum.keeps-data-files"),
    ("delta-rs-vacuum-without-retention", "VacuumsNoChangeData", [*COUNTED, Vacuum()], "vacuum.keeps-data-files"),
    ("delta-rs-partition-columns-moved", "MovesAllColumns", minimal("delta-rs-partition-columns-moved"),
     "write.column-order"),
)  # fmt: skip


def candidates_of(
    results: Sequence[StepResult], steps: Sequence[Operation], requirement: str
) -> list[tuple[str, ...]]:
    """The candidates of each violation of a requirement."""
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    return [
        candidate_causes(result.observation, violation, history, all_causes())
        for result in results
        for violation in result.violations
        if violation.requirement == requirement
    ]


@pytest.mark.parametrize(
    ("cause", "fault", "steps", "requirement"),
    LOCKSTEP,
    ids=[f"{cause}-{fault}-{requirement}" for cause, fault, _, requirement in LOCKSTEP],
)
def test_a_second_fault_with_the_same_trigger_is_new(
    cause: str, fault: str, steps: list[Operation], requirement: str, tmp_path: Path
):
    honest = play(DeltaRs(), tmp_path / "honest", steps)
    assert all(cause in found for found in candidates_of(honest.result, steps, requirement)), (
        honest.describe()
    )
    played = play(getattr(second_faults, fault)(), tmp_path / "table", steps)
    assert played.faults == []
    found = candidates_of(played.result, steps, requirement)
    assert found, played.describe()
    assert set(found) == {()}, played.describe()


@pytest.mark.parametrize(
    ("greatest", "causes"), ((2**63 - 1, ("delta-rs-selectivity-of-all-longs",)), (2**63 - 2, ()))
)
def test_columns_that_are_compared_are_refused_by_no_number(
    greatest: int, causes: tuple[str, ...], tmp_path: Path
):
    schema = struct(("id", LONG))
    steps: list[Operation] = [
        Create(schema),
        Append(Rows(schema, ((-(2**63),), (greatest,)))),
        Read(where=Compare(">=", Column(("id",)), Column(("id",)))),
    ]
    played = play(second_faults.RefusesTheFilterByNoNumber(), tmp_path / "table", steps, extra_reads=False)
    assert candidates_of(played.result, steps, "read.succeeds") == [causes], played.describe()


@pytest.mark.parametrize("requirement", ("vacuum.keeps-data-files", "vacuum.keeps-change-data"))
@pytest.mark.parametrize("column", ("v", "_v"))
def test_a_vacuum_that_leaves_the_live_files_alone_is_known(requirement: str, column: str, tmp_path: Path):
    """A partition column that begins with an underscore does not hide its folders from a vacuum."""
    schema, by = struct(("id", LONG), (column, DOUBLE)), (column,) if column == "_v" else ()
    rows = Rows(schema, ((1, 1.0), (2, 1.0), (3, 2.0)))
    steps: list[Operation] = [
        Create(schema, by, (("delta.enableChangeDataFeed", "true"),)),
        Append(rows), Delete(Compare("=", Column(("id",)), Literal(LONG, 1))), Vacuum(),
    ]  # fmt: skip
    played = play(second_faults.VacuumsAllButLiveFiles(), tmp_path / "table", steps)
    found = candidates_of(played.result, steps, requirement)
    assert found, played.describe()
    assert set(found) == {("delta-rs-vacuum-without-retention",)}, played.describe()


@pytest.mark.parametrize(
    ("fault", "requirement"),
    (("RecordsAnotherDelete", "cdc.equals-difference"), ("ForgetsTheLastPart", "write.untouched-files-stay")),
)
def test_a_second_fault_beside_a_null_that_rewrites_is_new(fault: str, requirement: str, tmp_path: Path):
    v = 1.0 if fault == "RecordsAnotherDelete" else 9.0
    null, last = Compare("=", ID, Literal(LONG, None)), Compare("=", V, Literal(DOUBLE, v))
    middle = Compare(">", ID, Literal(LONG, 0))
    recorded = (("delta.enableChangeDataFeed", "true"),)
    steps = [*written(NUMBERS, (1, 1.0), (2, 10.0), properties=recorded), Delete(And((null, middle, last)))]
    honest = play(DeltaRs(), tmp_path / "honest", steps, extra_reads=False)
    known = candidates_of(honest.result, steps, requirement)
    assert known == ([("delta-rs-null-in-filter",)] if v == 1.0 else [])
    played = play(getattr(second_faults, fault)(), tmp_path / "table", steps, extra_reads=False)
    assert candidates_of(played.result, steps, requirement) == [()]


def test_a_second_fault_beside_respelt_paths_is_new(tmp_path: Path):
    rows = Rows(TEXTS, ((1, "a*b"), (2, "plain")))
    steps: list[Operation] = [
        Create(TEXTS, ("part",)), Append(rows), Delete(Compare("=", PART, Literal(STRING, "a*b"))),
    ]  # fmt: skip
    slotted = list(zip(steps, "BBA", strict=True))
    honest = play(DeltaRs(), tmp_path / "honest", slotted, Reference())
    (known,) = candidates_of(honest.result, steps, "contents.delete")
    assert known == ("delta-rs-respelt-paths",)
    played = play(second_faults.RemovesAnotherFileToo(), tmp_path / "table", slotted, Reference())
    assert candidates_of(played.result, steps, "contents.delete") == [()]


# Races and crashes


@pytest.fixture(scope="module")
def instrumented_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstrumentedEngines]:
    names = (
        "OptimizeAddsTwice", "OverwriteAddsTwice", "AppendRefusedOtherwise", "CommitsAThirdTime",
        "RefusedOtherwise", "EndsAVacuumTwice", "UpdatesOneRow", "UpdatesOneRowOfItsOwn",
        "VacuumsAllButLiveFiles", "VacuumsLiveFilesToo",
    )  # fmt: skip
    made = InstrumentedEngines(
        {name: parse_engine(f"{FAULTS}:{name}") for name in names},
        tmp_path_factory.mktemp("arena"),
        lambda _: None,
    )
    yield made
    made.close()


RACES = (
    ("delta-rs-optimizes-double-rows", "OptimizeAddsTwice", "race.no-doubled-rows"),
    ("delta-rs-overwrite-keeps-optimized-rows", "OverwriteAddsTwice", "race."),
    ("delta-rs-overwrite-misses-new-files", "OverwriteAddsTwice", "race."),
    ("delta-rs-append-refused-after-removal", "AppendRefusedOtherwise", "race.appends-read-nothing"),
)


@pytest.mark.parametrize(("cause", "fault", "area"), RACES, ids=[cause for cause, *_ in RACES])
def test_a_second_fault_in_the_same_race_is_new(
    cause: str, fault: str, area: str, instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    found = in_a_race(fault, area, minimal(cause), instrumented_engines, tmp_path)
    assert found
    assert {candidates for _, candidates in found} == {()}, found


def test_an_update_that_passes_over_a_row_of_a_file_is_new_in_a_race_too(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    schema = struct(("id", LONG), ("part", LONG))
    one, two = Literal(LONG, 1), Literal(LONG, 2)
    steps: list[Operation] = [
        Create(schema, ("part",)),
        Append(Rows(schema, ((1, 2), (2, 2)))),
        Append(Rows(schema, ((3, 2),))),
        Interleave(
            (
                Update((("part", two),), Compare("=", PART, one)),
                Update((("part", one),), Compare("=", PART, two)),
            ),
            (),
        ),
    ]
    found = in_a_race("UpdatesOneRowOfItsOwn", "race.no-write-skew", steps, instrumented_engines, tmp_path)
    assert found
    assert {candidates for _, candidates in found} == {()}, found


@pytest.mark.parametrize(
    ("second", "causes"),
    ((((1, 2),), ("delta-rs-passes-over-files",)), (((1, 2), (4, 2)), ())),
    ids=("passes-over-a-file", "passes-over-a-row"),
)
def test_beside_a_refused_write_an_update_that_passes_over_a_row_is_new(
    second: tuple[tuple[int, int], ...],
    causes: tuple[str, ...],
    instrumented_engines: InstrumentedEngines,
    tmp_path: Path,
):
    schema = struct(("id", LONG), ("part", LONG))
    one, two = Literal(LONG, 1), Literal(LONG, 2)
    steps: list[Operation] = [
        Create(schema, ("part",)),
        Append(Rows(schema, ((3, 2), (5, 1)))),
        Append(Rows(schema, second)),
        Interleave(
            (Delete(Compare("=", PART, one)), Update((("part", one),), Compare("=", PART, two))),
            (1, 1, 0, 1, 1, 0, 0, 0),
        ),
    ]
    found = in_a_race("UpdatesOneRowOfItsOwn", "race.no-", steps, instrumented_engines, tmp_path)
    assert found
    assert {candidates for _, candidates in found} == {causes}, found


@pytest.mark.parametrize(
    ("second", "causes"),
    ((((2, 2),), ("delta-rs-passes-over-files",)), (((2, 2), (1, 2)), ())),
    ids=("passes-over-a-file", "passes-over-a-row"),
)
def test_after_the_commit_of_another_write_an_update_that_passes_over_a_row_is_new(
    second: tuple[tuple[int, int], ...],
    causes: tuple[str, ...],
    instrumented_engines: InstrumentedEngines,
    tmp_path: Path,
):
    """The second update begins when the first has committed, and finds its file too."""
    schema = struct(("id", LONG), ("part", LONG))
    one, two = Literal(LONG, 1), Literal(LONG, 2)
    steps: list[Operation] = [
        Create(schema, ("part",)),
        Append(Rows(schema, ((1, 1),))),
        Append(Rows(schema, second)),
        Interleave(
            (
                Update((("part", two),), Compare("=", PART, one)),
                Update((("part", one),), Compare("=", PART, two)),
            ),
            (0, 0, 0, 0, 1, 1, 1, 1),
        ),
    ]
    found = in_a_race("UpdatesOneRowOfItsOwn", "race.no-", steps, instrumented_engines, tmp_path)
    assert found
    assert {candidates for _, candidates in found} == {causes}, found


@pytest.mark.parametrize(
    ("fault", "causes"),
    (("VacuumsAllButLiveFiles", ("delta-rs-vacuum-without-retention",)), ("VacuumsLiveFilesToo", ())),
)
def test_a_vacuum_in_a_race_that_deletes_live_files_too_is_new(
    fault: str, causes: tuple[str, ...], instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    schema = struct(("id", LONG))
    steps: list[Operation] = [
        Create(schema),
        Append(Rows(schema, ((1,),))),
        Interleave((Vacuum(), Append(Rows(schema, ((2,),)))), (1, 1, 1, 0, 0, 0, 0, 1)),
    ]
    found = in_a_race(fault, "race.vacuum-spares-new-files", steps, instrumented_engines, tmp_path)
    assert found
    assert {candidates for _, candidates in found} == {causes}, found


def in_a_race(
    fault: str,
    area: str,
    steps: Sequence[Operation],
    instrumented_engines: InstrumentedEngines,
    folder: Path,
) -> list[tuple[str, tuple[str, ...]]]:
    """What violates requirements of an area in a race of engines with a fault, and the causes that predict it."""
    players = [player for place in "AB" if (player := instrumented_engines.get(fault, place)) is not None]
    table_session = RaceTableSession(
        folder / "table",
        [engine_session_of(player.engine) for player in players],
        [player.instrumented_process for player in players],
        instrumented_engines.turnstile,
        "t",
    )
    results = list(table_session.open_all())
    for operation in steps:
        results += table_session.execute(Step(operation))
    return [
        (violation.requirement, candidates)
        for violation, candidates in all_candidates(results, steps)
        if violation.requirement.startswith(area)
    ]


def all_candidates(results: Sequence[StepResult], steps: Sequence[Operation]):
    history = History("races", "dev", 0, 1, tuple(map(Step, steps)))
    return [
        (violation, candidate_causes(result.observation, violation, history, all_causes()))
        for result in results
        for violation in result.violations
        if violation.requirement not in ALWAYS
    ]


@pytest.mark.parametrize(
    ("fault", "operation"),
    (
        ("EndsAVacuumTwice", Vacuum(retention_hours=0.0)),
        ("CommitsAThirdTime", Append(Rows(struct(("id", LONG)), ((1,),)))),
        ("RefusedOtherwise", Overwrite(Rows(struct(("id", LONG)), ((1,),)))),
    ),
)
def test_a_second_fault_after_the_same_crash_is_new(
    fault: str, operation: Operation, instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    schema = struct(("id", LONG))
    steps: list[Operation] = [
        Create(schema), Append(Rows(schema, ((7,),))), Overwrite(Rows(schema, ((8,),))),
        LoseReplyAt("commit", errno="EEXIST"), operation,
    ]  # fmt: skip
    found = in_a_crash(fault, steps, instrumented_engines, tmp_path)
    assert found
    assert {candidates for _, candidates in found} == {()}, found


@pytest.mark.slow
def test_an_update_that_passes_over_a_row_of_a_file_is_new_in_a_crash_too(
    instrumented_engines: InstrumentedEngines, tmp_path: Path
):
    steps = [
        *written(TEXTS, (1, "a"), (2, "a"), (3, "c"), partition_by=("part",)),
        DeadTableAt("commit", "after"),
        Update((("id", Literal(LONG, 9)),)),
    ]
    found = in_a_crash("UpdatesOneRow", steps, instrumented_engines, tmp_path)
    assert {violation.requirement for violation, _ in found} == {"crash.all-or-nothing"}
    assert {candidates for _, candidates in found} == {()}, found


def in_a_crash(
    fault: str, steps: Sequence[Operation], instrumented_engines: InstrumentedEngines, folder: Path
) -> list[tuple[Violation, tuple[str, ...]]]:
    """What violates requirements of crashes with a faulty engine, and the causes that predict it."""
    player = instrumented_engines.get(fault, "A")
    assert player is not None
    table_session = CrashTableSession(
        folder / "table", [engine_session_of(player.engine)], player.instrumented_process, 1, "t"
    )
    results = list(table_session.open_all())
    for step in steps:
        results += table_session.execute(Step(step))
    return [
        (violation, candidates)
        for violation, candidates in all_candidates(results, steps)
        if violation.requirement.startswith("crash.")
    ]
