"""Are the new commits valid by the protocol, alone and after the state before? `delta_models.log.validity` judges."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.error_names import error_name
from conformance.observations.observation import Observation
from delta_models.log import (
    Commit,
    CorruptFile,
    CorruptLog,
    MissingFile,
    MissingVersion,
    NoTable,
    Snapshot,
    transitions,
    validity,
)
from delta_models.requirements import Checked, checked

JUDGES = judged_by(CheckName.LOG_VALIDITY)
ADDED_FILES = "added files"


def check(observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge each commit of the step against the state before it, and the files that it adds."""
    if not observation.wrote:
        return
    yield from _check_loads(observation)
    for before, commit, after in chain(observation):
        yield from validity.judge_commit(before, commit, "reference")
        if after is not None:
            yield from validity.judge_changes(observation.reader, before, after, commit, "reference")
    for judgement in judge_added_files(observation, recorder):
        if not judgement.requirement.startswith("stats."):
            yield judgement


def chain(observation: Observation) -> Iterator[tuple[Snapshot | None, Commit, Snapshot | None]]:
    """Return each commit of the step, between the states before and after it; None for a state that cannot be read."""
    return transitions(observation.before, observation.commits or _unreadable_commits(observation))


def _unreadable_commits(observation: Observation) -> list[Commit]:
    """Return the new commits of a log without a state. Their violations may explain why it has none."""
    if observation.log_error is None:
        return []
    first = observation.before.version + 1 if observation.before is not None else 0
    return [
        observation.reader.commit(version)
        for version in observation.reader.listing().commits
        if version >= first
    ]


def judge_added_files(observation: Observation, recorder: CheckRecorder) -> list[Checked]:
    """Return the judgements of the files that the step added. The checks that need some share them."""
    if ADDED_FILES not in recorder.shared:
        recorder.shared[ADDED_FILES] = [
            judgement
            for _, commit, after in chain(observation)
            if after is not None
            for judgement in validity.judge_files(observation.reader, after, commit, "reference")
        ]
    return recorder.shared[ADDED_FILES]


def _check_loads(observation: Observation) -> Iterator[Checked]:
    error = observation.log_error
    if isinstance(error, CorruptLog | CorruptFile | MissingFile | MissingVersion):
        yield checked("log.loads", f"{error_name(error)}: {error}")
    elif isinstance(error, NoTable) and observation.before is not None:
        yield checked("log.loads", str(error))
    elif error is None and observation.after is not None:
        yield checked("log.loads", _schema_error(observation.after))


def _schema_error(state: Snapshot) -> str | None:
    """Return why the schema of a state cannot be parsed; None if it can. A state without a schema has not loaded."""
    try:
        _ = state.schema
    except CorruptLog as corrupt:
        return str(corrupt)
    return None


CHECK = Check(CheckName.LOG_VALIDITY, JUDGES, check)
