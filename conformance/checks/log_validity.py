"""Are the new commits valid by the protocol, in themselves and on top of the state before? See `validity`."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.error_names import error_name
from conformance.observations.observation import Observation
from delta_models.log import (
    Commit,
    CorruptFile,
    CorruptLog,
    LogError,
    MissingFile,
    MissingVersion,
    NoTable,
    Snapshot,
    apply,
    start,
    validity,
)
from delta_models.requirements import Checked

JUDGES = judged_by("log")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge each commit of the step against the state before it, and the files that it adds."""
    if not observation.wrote:
        return
    _loads(observation, recorder)
    for before, commit, after in chain(observation):
        recorder.take(validity.judge_commit(before, commit, "reference"))
        if after is not None:
            recorder.take(validity.judge_changes(observation.reader, before, after, commit, "reference"))
    recorder.take(
        judgement
        for judgement in added_files(observation, recorder)
        if not judgement.requirement.startswith("stats.")
    )


def chain(observation: Observation) -> Iterator[tuple[Snapshot | None, Commit, Snapshot | None]]:
    """Each commit of the step between the states before and after it (None: cannot be told)."""
    before = observation.before
    for commit in observation.commits or _unread(observation):
        if before is None and commit.version > 0:
            return
        try:
            after: Snapshot | None = start(commit) if before is None else apply(before, commit)
        except LogError:
            after = None
        yield before, commit, after
        if after is None:
            return
        before = after


def _unread(observation: Observation) -> list[Commit]:
    """The new commits of a log that gives no state: they are what may say why."""
    if observation.log_error is None:
        return []
    first = observation.before.version + 1 if observation.before is not None else 0
    return [
        observation.reader.commit(version)
        for version in observation.reader.listing().commits
        if version >= first
    ]


def added_files(observation: Observation, recorder: CheckRecorder) -> list[Checked]:
    """Judgements of the files that the step added; made once for all checks that take some."""

    def judge() -> list[Checked]:
        return [
            judgement
            for _, commit, after in chain(observation)
            if after is not None
            for judgement in validity.judge_files(observation.reader, after, commit, "reference")
        ]

    return recorder.once("added_files", judge)


def _loads(observation: Observation, recorder: CheckRecorder) -> None:
    error = observation.log_error
    if isinstance(error, CorruptLog | CorruptFile | MissingFile | MissingVersion):
        recorder.judge("log.loads", f"{error_name(error)}: {error}")
    elif isinstance(error, NoTable) and observation.before is not None:
        recorder.judge("log.loads", str(error))
    elif error is None and observation.after is not None:
        recorder.judge("log.loads", _schema_error(observation.after))


def _schema_error(state: Snapshot) -> str | None:
    """Why the schema of a state says nothing: such a state has not loaded."""
    try:
        _ = state.schema
    except CorruptLog as corrupt:
        return str(corrupt)
    return None


CHECK = Check("log", JUDGES, check)
