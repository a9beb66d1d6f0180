"""Rules for what the metadata of columns says: which feature it needs, and what of it never changes."""

from __future__ import annotations

from collections.abc import Iterator

from delta_models.log.actions import Metadata
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.state import Snapshot
from delta_models.log.validity.protocol import fields_of, supports
from delta_models.requirements.base import Verdict
from delta_models.schema import Field

IDENTITY_STEP = "delta.identity.step"
_NEEDS = (
    ("CURRENT_DEFAULT", "allowColumnDefaults", "schema.default-needs-feature"),
    ("delta.generationExpression", "generatedColumns", "schema.generated-needs-feature"),
    ("delta.identity.start", "identityColumns", "schema.identity-needs-feature"),
    ("delta.invariants", "invariants", "schema.invariant-needs-feature"),
)
_FIXED = ("delta.identity.start", IDENTITY_STEP, "delta.identity.allowExplicitInsert")
_WIDENING = ("typeWidening", "typeWidening-preview")


def judge(before: Snapshot | None, commit: Commit) -> Iterator[Verdict]:
    """A commit that sets metadata or protocol."""
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    if protocol is None or metadata is None or not (commit.metadatas or commit.protocols):
        return
    try:
        fields = list(_columns(metadata))
    except CorruptLog:
        return  # reported as a schema that cannot be read
    for field in fields:
        for key, feature, requirement in _NEEDS:
            if key in field.metadata:
                allowed = supports(protocol, feature)
                yield requirement, None if allowed else f"column {field.name!r} has {key} without {feature}"
        if IDENTITY_STEP in field.metadata:
            stands = field.metadata[IDENTITY_STEP] == 0
            yield "schema.identity-step", f"the step of column {field.name!r} is 0" if stands else None
    if before is not None:
        yield from _identity(before, fields)
        yield from _dropped(before, commit, metadata)


def _columns(metadata: Metadata) -> Iterator[Field]:
    """Every field of the schema that says something of itself."""
    return (field for _, field in fields_of(metadata.schema) if field.metadata_json != "{}")


def _identity(before: Snapshot, fields: list[Field]) -> Iterator[Verdict]:
    known = {physical_name(field): field for field in _columns(before.metadata)}
    for field in fields:
        then = known.get(physical_name(field))
        if then is None or IDENTITY_STEP not in then.metadata or IDENTITY_STEP not in field.metadata:
            continue
        changed = [key for key in _FIXED if then.metadata.get(key) != field.metadata.get(key)]
        wrong = f"column {field.name!r} has another {', '.join(changed)} than before" if changed else None
        yield "schema.identity-definition-stays", wrong


def _dropped(before: Snapshot, commit: Commit, metadata: Metadata) -> Iterator[Verdict]:
    """The commit that takes the feature of type widening away."""
    protocol = commit.protocol
    if protocol is None:
        return
    had, has = (any(supports(version, name) for name in _WIDENING) for version in (before.protocol, protocol))
    if had and not has:
        said = metadata.configuration.get("delta.enableTypeWidening")
        wrong = None if said is None else f"delta.enableTypeWidening is {said}"
        yield "schema.type-widening-dropped-whole", wrong
