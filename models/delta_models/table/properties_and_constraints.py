"""What operations on table properties, constraints and table features mean."""

from __future__ import annotations

from dataclasses import replace

from delta_models.expressions import columns_of
from delta_models.operations import (
    AddConstraint,
    DropConstraint,
    DropFeature,
    EnableFeature,
    SetProperties,
    UnsetProperties,
)  # fmt: skip
from delta_models.table.expectation import (
    ANY_NUMBER,
    Expectation,
    allow_refusal,
    expect_change,
    expect_no_change,
    expect_refusal,
    expect_rewrite,
)
from delta_models.table.row_conversion import BrokenRule, check_rules
from delta_models.table.state import Table

FEATURES = frozenset({
    "appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns", "allowColumnDefaults",
    "identityColumns", "columnMapping", "deletionVectors", "timestampNtz", "domainMetadata", "v2Checkpoint",
    "rowTracking", "clustering", "inCommitTimestamp", "vacuumProtocolCheck", "typeWidening", "variantType",
    "variantShredding", "icebergCompatV1", "icebergCompatV2",
})  # fmt: skip

LEGACY = frozenset({"appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"})
"""Features that an older protocol implies by its version, so that a table may already support them."""

OWN = frozenset({"delta.columnMapping.maxColumnId"})
"""Properties that only the protocol may set."""


def set_properties(table: Table, operation: SetProperties) -> Expectation:
    """Expect these properties beside the others. Properties that only the protocol may set are refused."""
    if not OWN.isdisjoint(key for key, _ in operation.properties):
        return expect_refusal(
            table, ("bad-argument", "unsupported-feature"), "outcome.internal-property-refused"
        )
    properties = tuple(sorted({**dict(table.properties), **dict(operation.properties)}.items()))
    after = replace(table, properties=properties)
    if _is_tracked(after) and not _is_tracked(table):
        return expect_change(
            after, "contents.set-properties", commits=(1, ANY_NUMBER)
        )  # files get row ids first
    return expect_rewrite(table, after, "contents.set-properties")


def unset_properties(table: Table, operation: UnsetProperties) -> Expectation:
    """Expect the table without these properties; missing ones are ignored."""
    properties = tuple(property_ for property_ in table.properties if property_[0] not in operation.keys)
    return expect_rewrite(table, replace(table, properties=properties), "contents.unset-properties")


def add_constraint(table: Table, operation: AddConstraint) -> Expectation:
    """Expect a constraint that every row must meet, existing rows included."""
    if any(name.casefold() == operation.name.casefold() for name, _ in table.constraints):
        return expect_refusal(table, ("bad-argument", "constraint", "schema"), "outcome.constraint-exists")
    try:
        for column in columns_of(operation.check):
            table.schema.index(column.path[0])
        after = replace(table, constraints=(*table.constraints, (operation.name, operation.check)))
        check_rules(after, after.rows)
    except KeyError:
        return expect_refusal(table, ("schema", "bad-argument"), "outcome.unknown-column-refused")
    except BrokenRule:
        return expect_refusal(table, "constraint", "outcome.broken-rule-refused")
    return expect_change(after, "contents.add-constraint")


def drop_constraint(table: Table, operation: DropConstraint) -> Expectation:
    """Expect the table without a constraint."""
    left = tuple(
        constraint
        for constraint in table.constraints
        if constraint[0].casefold() != operation.name.casefold()
    )
    if len(left) == len(table.constraints):
        if operation.if_exists:
            return expect_no_change(table, "contents.drop-constraint")
        return expect_refusal(
            table, ("bad-argument", "constraint", "schema"), "outcome.missing-constraint-refused"
        )
    return expect_change(replace(table, constraints=left), "contents.drop-constraint")


def enable_feature(table: Table, operation: EnableFeature, *, known: bool = False) -> Expectation:
    """Expect a protocol that names the feature; if it is `known`, the protocol may name it already."""
    if operation.feature not in FEATURES:
        return expect_refusal(
            table, ("unsupported-feature", "bad-argument"), "outcome.unknown-feature-refused"
        )
    if table.supports(operation.feature):
        return expect_no_change(table, "contents.enable-feature")
    after = replace(table, features=tuple(sorted((*table.features, operation.feature))))
    expectation = expect_change(after, "contents.enable-feature")
    if operation.feature in LEGACY or known:
        unchanged = expect_no_change(after, "contents.enable-feature")
        expectation = expectation.or_else(*unchanged.allowed_outcomes)
    return allow_refusal(expectation, table, ("unsupported-feature",), "outcome.feature-may-be-unknown")


def drop_feature(table: Table, operation: DropFeature) -> Expectation:
    """Expect a protocol without the feature, or a refusal. Removing its traces may take several versions."""
    if not table.supports(operation.feature):
        return allow_refusal(
            expect_no_change(table, "contents.drop-feature"),
            table,
            ("bad-argument", "unsupported-feature"),
            "outcome.feature-may-be-kept",
        )
    name = f"delta.feature.{operation.feature}"
    after = replace(
        table,
        features=tuple(feature for feature in table.features if feature != operation.feature),
        properties=tuple(property_ for property_ in table.properties if property_[0] != name),
    )
    return allow_refusal(
        expect_change(after, "contents.drop-feature", commits=(1, ANY_NUMBER)),
        table,
        ("bad-argument", "unsupported-feature"),
        "outcome.feature-may-be-kept",
    )


def _is_tracked(table: Table) -> bool:
    return table.property("delta.enableRowTracking").lower() == "true"
