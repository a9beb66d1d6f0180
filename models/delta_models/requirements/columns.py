"""Rules about the schema in the log and the mapping of columns, and how they may change."""

from __future__ import annotations

from delta_models.requirements.base import Requirement, rules_of

METADATA = "Change Metadata"
_rule = rules_of("log")

REQUIREMENTS: tuple[Requirement, ...] = (
    _rule(
        "schema.column-mapping-complete",
        "With column mapping every field has an id and a physical name.",
        "Column Mapping",
    ),
    _rule("schema.column-ids-unique", "Column ids are unique.", "Column Mapping"),
    _rule("schema.physical-names-unique", "Physical names are unique.", "Column Mapping"),
    _rule("schema.max-column-id", "maxColumnId is at least the highest id in the schema.", "Column Mapping"),
    _rule("schema.not-null-holds", "A column that is not nullable holds no null.", "Struct Field"),
    _rule(
        "schema.type-change-allowed",
        "Under files that stay a column changes its type only as type widening allows.",
        "Type Widening",
    ),
    _rule(
        "schema.type-change-recorded",
        "A widened type is recorded in delta.typeChanges of the nearest field.",
        "Type Change Metadata",
    ),
    _rule(
        "schema.partitioning-fits-files",
        "The partition columns change only if every file is rewritten.",
        METADATA,
    ),
    _rule("schema.max-column-id-never-falls", "maxColumnId never falls.", "Column Mapping"),
    _rule("schema.physical-names-stay", "A column keeps its physical name.", "Column Mapping"),
    _rule("schema.column-ids-stay", "A column keeps its id.", "Column Mapping"),
    _rule(
        "schema.mapping-mode-stays",
        "Under files that stay the mode of column mapping changes from none to name only.",
        "delta-spark 4.4.0: column mapping",
        "reference",
    ),
    _rule(
        "schema.files-have-field-ids",
        "A new data file of a table that maps its columns gives them their ids.",
        "Column Mapping",
    ),
    _rule(
        "schema.type-changes-need-feature",
        "delta.typeChanges are in a schema only with the feature typeWidening.",
        "Type Widening",
    ),
    _rule("log.void-not-in-files", "A column of type void is in no data file.", "Void Type"),
    _rule("schema.variant-partitions-nothing", "No variant is a partition column.", "Variant Data Type"),
    _rule("schema.variant-clusters-nothing", "No variant is a clustering column.", "Variant Data Type"),
    _rule("schema.variant-not-generated", "No generated column is a variant.", "Variant Data Type"),
    _rule("schema.variant-defaults-to-null", "A variant has no default but null.", "Default Columns"),
    _rule(
        "schema.column-ids-not-reused",
        "The id of a dropped column is given to no other column.",
        "Column Mapping",
    ),
    _rule(
        "schema.physical-names-not-reused",
        "The physical name of a dropped column is given to no other column.",
        "Column Mapping",
    ),
    _rule(
        "schema.default-needs-feature",
        "A column has a default only with the feature allowColumnDefaults.",
        "Default Columns",
    ),
    _rule(
        "schema.generated-needs-feature",
        "A column is generated only with the feature generatedColumns.",
        "Generated Columns",
    ),
    _rule(
        "schema.identity-needs-feature",
        "A column is an identity column only with the feature identityColumns.",
        "Identity Columns",
    ),
    _rule(
        "schema.invariant-needs-feature",
        "A column has an invariant only with the feature invariants.",
        "Column Invariants",
    ),
    _rule("schema.identity-step", "The step of an identity column is not 0.", "Identity Columns"),
    _rule(
        "schema.identity-definition-stays",
        "Start, step and explicit insertion of an identity column are not changed.",
        "Identity Columns",
        "should",
    ),
    _rule(
        "schema.type-changes-kept",
        "What delta.typeChanges says of a column stays while there are files of the old type.",
        "Type Widening",
    ),
    _rule(
        "schema.nested-not-null-holds",
        "Inside arrays, maps and structs there is no null where the schema lets none be.",
        "Schema Serialization Format",
    ),
    _rule(
        "schema.type-widening-dropped-whole",
        "The version that drops the feature typeWidening leaves its property unset.",
        "Type Widening",
    ),
)
