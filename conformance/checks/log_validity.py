"""Are the new commits valid by the protocol, in themselves and on top of the state before? See `validity`."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.checks.weights import commit_weights, file_weights, layout_weights, row_id_weights
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
from delta_models.requirements import Violation

JUDGES = judged_by("log")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge each commit of the step against the state before it, and the files that it adds."""
    if not observation.wrote:
        return
    _loads(observation, recorder)
    for before, commit, after in chain(observation):
        recorder.count(commit_weights(before, commit))
        recorder.add(validity.violations(before, commit, "reference"))
        if after is not None:
            recorder.count(file_weights(after, commit, prefixes=("log.", "dv.", "schema.")))
            recorder.count(row_id_weights(before, after, commit))
            recorder.count(layout_weights(before, after, commit))
            recorder.add(validity.change_breaches(observation.reader, before, after, commit, "reference"))
    recorder.add(
        data_breach
        for data_breach in data_breaches(observation, recorder)
        if not data_breach.requirement.startswith("stats.")
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
        observation.reader.commit(commit)
        for commit in observation.reader.listing().commits
        if commit >= first
    ]


def data_breaches(observation: Observation, recorder: CheckRecorder) -> list[Violation]:
    """What is wrong with the files that the step added; found once for all checks that tell of it."""

    def find() -> list[Violation]:
        return [
            data_breach
            for _, commit, after in chain(observation)
            if after is not None
            for data_breach in validity.data_breaches(observation.reader, after, commit, "reference")
        ]

    return recorder.once("data_breaches", find)


def _loads(observation: Observation, recorder: CheckRecorder) -> None:
    error = observation.log_error
    if isinstance(error, CorruptLog | CorruptFile | MissingFile | MissingVersion):
        recorder.record("log.loads", f"{error_name(error)}: {error}")
    elif isinstance(error, NoTable) and observation.before is not None:
        recorder.record("log.loads", str(error))
    elif error is None and observation.after is not None:
        recorder.record("log.loads", None)


CHECK = Check("log", JUDGES, check)
