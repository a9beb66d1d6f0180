"""Change feeds that are told although the table did not record its changes."""

from __future__ import annotations

from conformance.findings.predictions.tables import same_rows
from conformance.observations.observation import Observation, ReadObservation
from conformance.observations.version_resolution import resolve_states
from delta_models.log import Commit
from delta_models.log.changes import ENABLED, commit_changes
from delta_models.operations import AtVersion, ReadChanges
from delta_models.requirements import Violation
from delta_models.wire_names import text_of


def feed_where_not_recorded(observation: Observation, violation: Violation) -> bool:
    """Only new metadata in the versions of the feed is looked at, and the changes of each version are told as ever.

    In the first version metadata must switch the recording on, in a later one it must not switch it off.
    """
    return any(
        isinstance(look.operation, ReadChanges)
        and look.changes is not None
        and look.changes.steps is None
        and look.refused is None
        and _tells_all(observation, look, look.operation, violation)
        for look in observation.looks
    )


def _tells_all(
    observation: Observation, look: ReadObservation, read: ReadChanges, violation: Violation
) -> bool:
    asked = resolve_states(read, observation.versions, observation.reader)
    if not isinstance(asked, ReadChanges) or not isinstance(asked.first, AtVersion) or look.answer is None:
        return False
    end = observation.after  # its columns are told, of whatever versions
    if end is None or not violation.where.endswith(text_of(asked)):
        return False
    last = asked.last.version if isinstance(asked.last, AtVersion) else end.version
    commits = list(observation.reader.commits(asked.first.version, last))
    if any(_stops(commit, first=commit.version == asked.first.version) for commit in commits):
        return False
    told = [
        (*row, kind, commit.version)
        for commit in commits
        for row, kind in commit_changes(observation.reader, end, commit)
    ]
    names = (*end.schema.names, "_change_type", "_commit_version")
    return look.answer.schema.names == names and same_rows(look.answer.schema, told, look.answer.rows)


def _stops(commit: Commit, *, first: bool) -> bool:
    """Whether the metadata in a commit make deltalake refuse the feed."""
    if commit.metadata is None:
        return False
    said = commit.metadata.configuration.get(ENABLED, "").lower()
    return said != "true" if first else said == "false"
