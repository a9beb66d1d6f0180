"""Rules for what the metadata of columns says: which feature it needs, and what of it never changes."""

from __future__ import annotations

from collections.abc import Iterator

from delta_models.log.actions import Metadata
from delta_models.log.commits import Commit
from delta_models.log.errors import CorruptLog
from delta_models.log.parquet.data_files import physical_name
from delta_models.log.state import Snapshot
from delta_models.log.validity.protocol import fields_of, supports
from delta_models.requirements.base import Violation
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


def violations(before: Snapshot | None, commit: Commit) -> Iterator[Violation]:
    """Breaches by a commit that sets metadata or protocol."""
    protocol = commit.protocol or (before.protocol if before is not None else None)
    metadata = commit.metadata or (before.metadata if before is not None else None)
    if protocol is None or metadata is None or not (commit.metadatas or commit.protocols):
        return
    try:
        fields = list(columns(metadata))
    except CorruptLog:
        return  # reported as a schema that cannot be read
    for field in fields:
        for key, feature, requirement in _NEEDS:
            if key in field.metadata and not supports(protocol, feature):
                detail = f"column {field.name!r} has {key} without {feature}"
                yield Violation(requirement, detail, commit.name)
        if field.metadata.get(IDENTITY_STEP) == 0:
            yield Violation("schema.identity-step", f"the step of column {field.name!r} is 0", commit.name)
    if before is not None:
        yield from _identity(before, fields, commit)
        yield from _dropped(before, commit, metadata)


def rules_asked(before: Snapshot | None, metadata: Metadata) -> list[str]:
    """The rules of this module that a metadata action gives to judge, once for each column."""
    found = [rule for column in columns(metadata) for key, _, rule in _NEEDS if key in column.metadata]
    identity = [column for column in columns(metadata) if IDENTITY_STEP in column.metadata]
    found += ["schema.identity-step"] * len(identity)
    return found + ["schema.identity-definition-stays"] * (len(identity) if before is not None else 0)


def columns(metadata: Metadata) -> Iterator[Field]:
    """Every field of the schema that says something of itself."""
    return (each for _, each in fields_of(metadata.schema) if each.metadata_json != "{}")


def drops_widening(before: Snapshot | None, commit: Commit) -> bool:
    """Whether a commit takes the feature of type widening away."""
    if before is None or commit.protocol is None:
        return False
    had, has = (
        any(supports(each, name) for name in _WIDENING) for each in (before.protocol, commit.protocol)
    )
    return had and not has


def _identity(before: Snapshot, fields: list[Field], commit: Commit) -> Iterator[Violation]:
    known = {physical_name(column): column for column in columns(before.metadata)}
    for field in fields:
        then = known.get(physical_name(field))
        if then is None or IDENTITY_STEP not in then.metadata or IDENTITY_STEP not in field.metadata:
            continue
        changed = [key for key in _FIXED if then.metadata.get(key) != field.metadata.get(key)]
        if changed:
            detail = f"column {field.name!r} has another {', '.join(changed)} than before"
            yield Violation("schema.identity-definition-stays", detail, commit.name)


def _dropped(before: Snapshot, commit: Commit, metadata: Metadata) -> Iterator[Violation]:
    if drops_widening(before, commit) and "delta.enableTypeWidening" in metadata.configuration:
        detail = f"delta.enableTypeWidening is {metadata.configuration['delta.enableTypeWidening']}"
        yield Violation("schema.type-widening-dropped-whole", detail, commit.name)
