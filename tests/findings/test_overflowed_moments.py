"""What deltalake makes of far timestamps that Spark wrote as INT96 is recognised in reads and writes, and no more.

The other engine is the reference, whose files are stored as Spark stores them. Each table is real, and so is deltalake.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conformance.findings import candidate_causes
from conformance.findings.predictions import DIFFERENCES
from conformance.histories import History, Step
from conformance.observations.observation import ReadObservation
from conformance.triage.counterfactuals import counterfactual_of
from delta_adapters.contract import Answer
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import all_causes, cause_named
from delta_adapters.reference import Reference
from delta_adapters.reference.actions import CommitBuilder
from delta_models.expressions import Column, Compare, Expression, Literal
from delta_models.log import Snapshot
from delta_models.log.parquet.arrow_values import arrow_to_rows
from delta_models.operations import (
    Append,
    Create,
    Delete,
    Merge,
    MergeClause,
    Operation,
    Optimize,
    Overwrite,
    Read,
    Update,
    ZOrder,
)
from delta_models.outcomes import Outcome
from delta_models.requirements import Violation
from delta_models.schema import LONG, TIMESTAMP, struct
from delta_models.values import Row, Rows
from tests.findings import second_faults
from tests.mutants.stage import ALWAYS, Played, play

REFUSED, OVERFLOWS = ("delta-rs-far-timestamps",), ("delta-rs-overflows-int96",)
WHEN = struct(("id", LONG), ("w", TIMESTAMP))
ID, W = Column(("id",)), Column(("w",))
YEAR_1, YEAR_1582 = -62_135_596_799_999_999, -12_219_292_800_000_000
YEAR_9999, YEAR_1970 = 253_402_300_799_999_999, 86_400_000_000
READ_AS = {
    YEAR_1: -6_795_364_578_871_344,
    YEAR_1582: 6_227_451_273_709_551,
    YEAR_9999: -4_852_116_231_933_723,
}
ROWS: tuple[Row, ...] = ((0, YEAR_1), (1, YEAR_1582), (2, YEAR_9999), (3, YEAR_1970))
VECTORS = (("delta.enableDeletionVectors", "true"),)
RECORDED = (("delta.enableChangeDataFeed", "true"),)
DELETE, UPDATE, INSERT = (
    MergeClause("matched", "delete"),
    MergeClause("matched", "update"),
    MergeClause("not-matched", "insert"),
)

Steps = list[tuple[Operation, str]]


class WritesInt96(Reference):
    """The reference, whose data files hold timestamps as INT96, and no schema of Arrow's, as Spark's do."""

    def commit(self, draft: CommitBuilder, snapshot: Snapshot | None, operation: str, tag: str) -> Outcome:
        for form in draft.adds:
            file = self.folder / form["add"]["path"]
            rows = pq.ParquetFile(file).read()
            pq.write_table(rows, file, use_deprecated_int96_timestamps=True, store_schema=False)
            form["add"]["size"] = file.stat().st_size
        return super().commit(draft, snapshot, operation, tag)


def with_id(number: int) -> Expression:
    return Compare("=", ID, Literal(LONG, number))


def when(op: str, micros: int) -> Expression:
    return Compare(op, W, Literal(TIMESTAMP, micros))


def merged(source: tuple[Row, ...], column: str, *clauses: MergeClause) -> Merge:
    on = Compare("=", Column(("source", column)), Column(("target", column)))
    return Merge(Rows(WHEN, source), on, clauses)


def written(*operations: Operation, rows: tuple[Row, ...] = ROWS, properties=()) -> Steps:
    """A table that the other engine wrote, and operations of deltalake."""
    made: Steps = [(Create(WHEN, (), properties), "B"), (Append(Rows(WHEN, rows)), "B")]
    return [*made, *((operation, "A") for operation in operations)]


def played(folder: Path, steps: Steps, engine=DeltaRs, *, reads: bool = False) -> Played:
    result = play(engine(), folder / "table", steps, WritesInt96(), extra_reads=False, reads=reads)
    assert result.faults == []
    return result


def candidates_of(found: Played, steps: Steps) -> dict[str, tuple[str, ...]]:
    """The candidates of each violation of deltalake's."""
    history = History("shared", "dev", 0, 1, tuple(Step(operation, slot=slot) for operation, slot in steps))
    return {
        violation.requirement: candidate_causes(result.observation, violation, history, all_causes())
        for result in found.result
        for violation in result.violations
        if violation.requirement not in ALWAYS
    }


# Reads


@pytest.mark.parametrize(
    ("properties", "requirement", "cause"),
    (((), "read.succeeds", REFUSED), (VECTORS, "read.latest", OVERFLOWS)),
    ids=("by-pyarrow", "beside-vectors"),
)
@pytest.mark.parametrize("moment", (YEAR_1, YEAR_1582, YEAR_9999))
def test_a_read_of_a_far_moment_is_refused_or_wrong_as_described(
    moment: int, properties, requirement: str, cause: tuple[str, ...], tmp_path: Path
):
    steps = written(rows=((0, moment), (1, YEAR_1970)), properties=properties)
    found = played(tmp_path, steps, reads=True)
    assert candidates_of(found, steps) == {requirement: cause}, found.describe()


def test_the_minimal_history_shows_the_cause_and_its_counterfactual_does_not(tmp_path: Path):
    cause = cause_named("delta-rs-overflows-int96")
    assert cause is not None
    history = History.from_json(cause.history)
    without = counterfactual_of(cause, history)
    assert without is not None
    for name, steps, expected in (
        ("shown", history.steps, {cause.requirement: OVERFLOWS}),
        ("gone", without.steps, {}),
    ):
        slotted: Steps = [(step.operation, "B") for step in steps]  # deltalake only reads
        found = played(tmp_path / name, slotted, reads=True)
        assert candidates_of(found, slotted) == expected, found.describe()


def test_far_moments_in_files_of_deltalake_itself_are_read_rightly(tmp_path: Path):
    steps: Steps = [
        (Create(WHEN, (), VECTORS), "B"),
        (Append(Rows(WHEN, ROWS)), "A"),
        (Append(Rows(WHEN, ((4, YEAR_1),))), "B"),
    ]
    found = played(tmp_path, steps, reads=True)
    assert candidates_of(found, steps) == {"read.latest": OVERFLOWS}, found.describe()
    (detail,) = (
        violation.detail
        for result in found.result
        for violation in result.violations
        if violation.requirement == "read.latest"
    )
    assert detail.count("TIMESTAMP") == 2  # the one that is missing and the one in its place


@pytest.mark.parametrize(
    ("fault", "properties", "requirement"),
    (
        ("AnswersALaterMoment", VECTORS, "read.latest"),
        ("RefusesForAnotherMoment", (), "read.succeeds"),
    ),
)
def test_a_second_fault_in_a_read_of_far_moments_is_new(
    fault: str, properties, requirement: str, tmp_path: Path
):
    steps = written(properties=properties)
    found = played(tmp_path, steps, getattr(second_faults, fault), reads=True)
    assert candidates_of(found, steps) == {requirement: ()}, found.describe()


FILTERED: tuple[tuple[Read, set[int]], ...] = (
    (Read(where=when("<", -6_000_000_000_000_000)), {0}),  # of the moments as they are read
    (Read(where=when(">", 0)), {1, 3}),
    (Read(where=when("=", YEAR_1)), set()),
    (Read(where=when("<", -6_000_000_000_000_000), columns=("id",)), {0}),
)


def recognised(
    folder: Path, rows: tuple[Row, ...], read: Read, answered: set[int] | None = None, *, files: int = 1
) -> bool:
    """Whether an answer of deltalake is the described one, or, in its place, the one with the ids of `answered`."""
    steps: Steps = [(Create(WHEN), "B")]
    steps += ((Append(Rows(WHEN, rows[part::files])), "B") for part in range(files))
    (*_, last) = played(folder, steps).result
    engine = DeltaRs()
    engine.open(str(folder / "table"))
    answer = engine.read(read)
    assert isinstance(answer, Answer)
    schema = WHEN if read.columns is None else struct(*((name, WHEN[name].type) for name in read.columns))
    found = arrow_to_rows(answer.table, schema)
    if answered is not None:
        whole = [(number, READ_AS.get(moment, moment)) for number, moment in rows if number in answered]
        found = Rows(schema, tuple(row[: len(schema)] for row in whole))
    look = ReadObservation("filter", read, None, found)
    violation = Violation("read.filter", "", read=read)
    return DIFFERENCES["moment-wraps-around"](replace(last.observation, looks=(look,)), violation)


@pytest.mark.parametrize(("read", "ids"), FILTERED, ids=range(len(FILTERED)))
def test_a_filter_picks_by_the_moments_as_they_are_read(read: Read, ids: set[int], tmp_path: Path):
    assert recognised(tmp_path / "deltalake", ROWS, read)
    assert recognised(tmp_path / "same", ROWS, read, ids)
    assert not recognised(tmp_path / "other", ROWS, read, ids ^ {2})


def test_a_filter_passes_over_a_file_by_its_right_statistics(tmp_path: Path):
    """All moments of the first file lie before 1970, and one of them is read as one of 2167."""
    rows = ((0, YEAR_1), (2, YEAR_9999), (1, YEAR_1582), (3, YEAR_1970))
    assert recognised(tmp_path / "deltalake", rows, Read(where=when(">", 0)), files=2)
    assert recognised(tmp_path / "passed-over", rows, Read(where=when(">", 0)), {3}, files=2)
    assert not recognised(tmp_path / "one-file", rows, Read(where=when(">", 0)), {3})
    assert not recognised(tmp_path / "more", rows, Read(where=when(">", 0)), set(), files=2)
    assert not recognised(tmp_path / "right", ROWS[:2], Read(where=when(">", 0)))  # nothing is wrong


# Writes


WRITES: tuple[tuple[str, Operation, tuple[tuple[str, str], ...], set[str]], ...] = (
    ("another row deleted", Delete(with_id(3)), (),
     {"contents.delete", "metamorphic.delete-takes-what-filter-picks"}),
    ("deleted by the moment read", Delete(when("<", -6_000_000_000_000_000)), (),
     {"contents.delete", "metamorphic.delete-takes-what-filter-picks"}),
    ("not found", Delete(when("=", YEAR_1)), (), {"outcome.allowed"}),
    ("deleted and recorded", Delete(with_id(0)), RECORDED,
     {"contents.delete", "metamorphic.delete-takes-what-filter-picks", "cdc.equals-difference"}),
    ("another row updated", Update((("id", Literal(LONG, 9)),), with_id(3)), (), {"contents.update"}),
    ("updated and recorded", Update((("id", Literal(LONG, 9)),), with_id(0)), RECORDED,
     {"contents.update", "cdc.equals-difference"}),
    ("merged", merged(((3, 5), (8, 6)), "id", UPDATE, INSERT), (), {"contents.merge"}),
    ("not matched", merged(((3, YEAR_1582),), "w", DELETE), (), {"outcome.allowed"}),
    ("inserted again", merged(((1, YEAR_1582),), "w", UPDATE, INSERT), (), {"contents.merge"}),
    ("replaced", Overwrite(Rows(WHEN, ((3, 5),)), where=with_id(3)), (), {"contents.replace-where"}),
    ("ordered", ZOrder(("id",)), (), {"contents.optimize", "write.data-change-false-keeps-rows"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "properties", "requirements"),
    [case[1:] for case in WRITES],
    ids=[case[0].replace(" ", "-") for case in WRITES],
)
def test_a_write_leaves_the_moments_as_they_were_read(
    operation: Operation, properties, requirements: set[str], tmp_path: Path
):
    steps = written(operation, properties=properties)
    found = played(tmp_path, steps)
    assert candidates_of(found, steps) == dict.fromkeys(requirements, OVERFLOWS), found.describe()


def test_a_compaction_leaves_the_moments_as_they_were_read(tmp_path: Path):
    steps = written(Append(Rows(WHEN, ((5, YEAR_1),))), Optimize())
    found = played(tmp_path, steps)
    assert candidates_of(found, steps) == dict.fromkeys(
        ("contents.optimize", "write.data-change-false-keeps-rows"), OVERFLOWS
    ), found.describe()


@pytest.mark.parametrize(
    ("fault", "operation", "properties", "requirement"),
    (
        ("WritesALaterMoment", Delete(with_id(3)), (), "contents.delete"),
        ("WritesALaterMoment", merged(((3, 5),), "id", UPDATE), (), "contents.merge"),
        ("WritesALaterMoment", ZOrder(("id",)), (), "contents.optimize"),
        ("DoesNothing", Delete(with_id(0)), (), "outcome.allowed"),
        ("RecordsAnotherDelete", Delete(with_id(0)), RECORDED, "cdc.equals-difference"),
    ),
)
def test_a_second_fault_in_a_write_beside_far_moments_is_new(
    fault: str, operation: Operation, properties, requirement: str, tmp_path: Path
):
    steps = written(operation, properties=properties)
    found = played(tmp_path, steps, getattr(second_faults, fault))
    assert candidates_of(found, steps)[requirement] == (), found.describe()
