"""Does the engine read what the log holds: the newest version, earlier ones, through a filter, and cold?"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks import log_oracle
from conformance.checks.formatting import difference, differing_columns
from conformance.checks.names import CheckName
from conformance.checks.outcomes import describe
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation, ReadObservation
from delta_models.log import MissingFile
from delta_models.operations import QUERIES, AtState, AtTime, AtVersion, Latest, Read, Reopen
from delta_models.requirements import Checked, checked
from delta_models.values import Rows

BY_KIND = {"latest": "read.latest", "state": "read.state", "filter": "read.filter", "reopen": "read.cold"}
JUDGES = judged_by(CheckName.READS)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge each read of the step."""
    if observation.log_error is not None:
        return
    for read_observation in observation.looks:
        if isinstance(read_observation.operation, Read) and not read_observation.again:
            yield from _check_read(observation, read_observation, read_observation.operation)
    if isinstance(observation.operation, (*QUERIES, Reopen)) and observation.looks:
        newest, known = (
            observation.reader.latest_version(),
            observation.after.version if observation.after else None,
        )
        problem = (
            None if newest == known else f"the newest version was {known} before and is {newest} after it"
        )
        yield checked("contents.look-changes-nothing", problem)


def _check_read(observation: Observation, read_observation: ReadObservation, read: Read) -> Iterator[Checked]:
    where = f"{read_observation.kind} read after step {observation.step}"
    if read_observation.malformed is not None:
        yield checked("read.columns", read_observation.malformed, where, read=read)
        return
    if read_observation.refused is not None:
        if read_observation.expected is not None and _can_be_answered(observation, read_observation, read):
            yield checked("read.succeeds", describe(read_observation.refused), where, read=read)
        elif _is_missing_table(observation, read):
            yield checked("read.refuses-what-is-not-there", None)
        return
    if read_observation.answer is None:
        return
    if _is_missing_table(observation, read):
        yield checked(
            "read.refuses-what-is-not-there",
            f"answered {len(read_observation.answer)} rows",
            where,
            read=read,
        )
        return
    try:
        expected = log_oracle.expected_answer(observation, read_observation)
    except log_oracle.NotKnown:
        return
    unfiltered = log_oracle.unfiltered_rows(observation, read_observation)
    rule = BY_KIND.get(read_observation.kind, "read.latest")
    if log_oracle.nan_matters([read.where], unfiltered):
        rule = "read.nan-order"
    elif log_oracle.is_beyond_core(read.where, unfiltered.schema):
        rule = "read.beyond-core"
    yield checked("read.succeeds", None)
    columns_problem = _columns_problem(expected, read_observation.answer)
    yield checked("read.columns", columns_problem, where, read=read)
    if columns_problem is None:
        problem = difference(expected, read_observation.answer)
        columns = differing_columns(expected, read_observation.answer) if problem else ()
        yield checked(rule, problem, where, columns, read)
    yield from _check_version(observation, read_observation, read, where)


def _can_be_answered(observation: Observation, read_observation: ReadObservation, read: Read) -> bool:
    """Return whether our own reader can answer. If not, the writer is to blame, and another check reports it."""
    try:
        log_oracle.require_files(observation, log_oracle.snapshot_for(observation, read))
        log_oracle.expected_answer(observation, read_observation)
    except (log_oracle.NotKnown, MissingFile):
        return False
    return True


def _is_missing_table(observation: Observation, read: Read) -> bool:
    return observation.after is None and isinstance(read.at, Latest)


def _columns_problem(expected: Rows, answer: Rows) -> str | None:
    expected_columns = [(field.name, str(field.type)) for field in expected.schema]
    answer_columns = [(field.name, str(field.type)) for field in answer.schema]
    if expected_columns == answer_columns:
        return None
    return f"columns {_column_list(answer_columns)} instead of {_column_list(expected_columns)}"


def _check_version(
    observation: Observation,
    read_observation: ReadObservation,
    read: Read,
    where: str,
) -> Iterator[Checked]:
    if read_observation.version is None or observation.after is None:
        return
    match read.at:
        case AtState(step=step) | AtTime(step=step) if step in observation.versions:
            expected = observation.versions[step]
        case AtVersion(version=version):
            expected = version
        case Latest():
            expected = observation.after.version
        case _:
            return
    problem = (
        None
        if expected == read_observation.version
        else f"answered from version {read_observation.version} instead of {expected}"
    )
    yield checked("read.version", problem, where)


def _column_list(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {data_type}" for name, data_type in columns) or "none"


CHECK = Check(CheckName.READS, JUDGES, check)
