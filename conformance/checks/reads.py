"""Does the engine read what the log holds: the newest version, earlier ones, through a filter, and cold?"""

from __future__ import annotations

from conformance.checks import log_oracle
from conformance.checks.formatting import difference, differing_columns
from conformance.checks.names import CheckName
from conformance.checks.outcomes import describe
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation, ReadObservation
from delta_models.log import MissingFile
from delta_models.operations import QUERIES, AtState, AtTime, AtVersion, Latest, Read, Reopen
from delta_models.values import Rows

BY_KIND = {"latest": "read.latest", "state": "read.state", "filter": "read.filter", "reopen": "read.cold"}
JUDGES = judged_by(CheckName.READS)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge each read of the step."""
    if observation.log_error is not None:
        return
    for read_observation in observation.looks:
        if isinstance(read_observation.operation, Read) and not read_observation.again:
            _judge(observation, read_observation, read_observation.operation, recorder)
    if isinstance(observation.operation, (*QUERIES, Reopen)) and observation.looks:
        newest, known = (
            observation.reader.latest_version(),
            observation.after.version if observation.after else None,
        )
        problem = (
            None if newest == known else f"the newest version was {known} before and is {newest} after it"
        )
        recorder.record("contents.look-changes-nothing", problem)


def _judge(observation: Observation, each: ReadObservation, read: Read, recorder: CheckRecorder) -> None:
    where = f"{each.kind} read after step {observation.step}"
    if each.malformed is not None:
        recorder.record("read.columns", each.malformed, where, read=read)
        return
    if each.refused is not None:
        if each.expected is not None and _can_be_answered(observation, each, read):
            recorder.record("read.succeeds", describe(each.refused), where, read=read)
        elif _nothing_to_read(observation, read):
            recorder.record("read.refuses-what-is-not-there", None)
        return
    if each.answer is None:
        return
    if _nothing_to_read(observation, read):
        recorder.record(
            "read.refuses-what-is-not-there", f"answered {len(each.answer)} rows", where, read=read
        )
        return
    try:
        right = log_oracle.expected_answer(observation, each)
    except log_oracle.NotKnown:
        return
    recorder.record("read.succeeds", None)
    if recorder.record("read.columns", _columns(right, each.answer), where, read=read):
        problem = difference(right, each.answer)
        columns = differing_columns(right, each.answer) if problem else ()
        rule = BY_KIND.get(each.kind, "read.latest")
        if log_oracle.nan_matters([read.where], log_oracle.unfiltered_rows(observation, each)):
            rule = "read.nan-order"
        elif log_oracle.is_beyond_core(read.where, log_oracle.unfiltered_rows(observation, each).schema):
            rule = "read.beyond-core"
        recorder.record(rule, problem, where, columns, read)
    _version(observation, each, read, recorder, where)


def _can_be_answered(observation: Observation, each: ReadObservation, read: Read) -> bool:
    """Whether we can read it ourselves: if not, the writer is to blame, and another check says so."""
    try:
        log_oracle.require_files(observation, log_oracle.snapshot_for(observation, read))
        log_oracle.expected_answer(observation, each)
    except (log_oracle.NotKnown, MissingFile):
        return False
    return True


def _nothing_to_read(observation: Observation, read: Read) -> bool:
    return observation.after is None and isinstance(read.at, Latest)


def _columns(right: Rows, answer: Rows) -> str | None:
    wanted = [(field.name, str(field.type)) for field in right.schema]
    got = [(field.name, str(field.type)) for field in answer.schema]
    if wanted == got:
        return None
    return f"columns {_listed(got)} instead of {_listed(wanted)}"


def _version(
    observation: Observation, each: ReadObservation, read: Read, recorder: CheckRecorder, where: str
) -> None:
    if each.version is None or observation.after is None:
        return
    match read.at:
        case AtState(step=step) | AtTime(step=step) if step in observation.versions:
            wanted = observation.versions[step]
        case AtVersion(version=version):
            wanted = version
        case Latest():
            wanted = observation.after.version
        case _:
            return
    problem = None if wanted == each.version else f"answered from version {each.version} instead of {wanted}"
    recorder.record("read.version", problem, where)


def _listed(columns: list[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {of}" for name, of in columns) or "none"


CHECK = Check(CheckName.READS, JUDGES, check)
