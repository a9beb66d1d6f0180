"""The bundles that a table profile is made of: operations, table properties and column types for each feature.

A profile has some features always and draws others for a history, so that combinations of features occur as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from delta_models.operations import Properties
from delta_models.schema import (
    BINARY,
    BOOLEAN,
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    DecimalType,
    Field,
    Map,
    Struct,
)  # fmt: skip

Weights = tuple[tuple[str, int], ...]
Types = tuple[tuple[DataType, int], ...]

POINT = Struct((Field("x", LONG), Field("y", STRING)))
NESTED: Types = (
    (POINT, 6),
    (Array(LONG), 4),
    (Array(STRING), 4),
    (Map(STRING, LONG), 5),
    (Map(LONG, Array(STRING)), 1),
    (Struct((Field("a", Array(POINT)), Field("b", DATE))), 2),
    (Array(Array(INTEGER)), 1),
    (Struct((Field("p", POINT), Field("m", Map(STRING, POINT)))), 1),
)
VARIANTS: Types = (
    (VARIANT, 10),
    (VOID, 3),
    (Struct((Field("v", VARIANT), Field("n", LONG))), 2),
    (Struct((Field("x", STRING), Field("nothing", VOID))), 2),
    (Array(VARIANT), 2),
    (Map(STRING, VARIANT), 1),
)
SMALL: Types = ((BYTE, 4), (SHORT, 4), (FLOAT, 4), (BINARY, 4), (INTEGER, 2))
CLOCKS: Types = ((TIMESTAMP_NTZ, 5), (TIMESTAMP, 2))
WIDENABLE: Types = (
    (BYTE, 5), (SHORT, 5), (INTEGER, 6), (FLOAT, 4), (DATE, 3), (DecimalType(5, 2), 4), (STRING, 3),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Feature:
    """What a feature adds to a profile. All `properties` are set; of `options` one group is, perhaps the empty one."""

    name: str
    operations: Weights = ()
    properties: Properties = ()
    options: tuple[tuple[Properties, int], ...] = ()
    types: Types = ()
    partition_types: Types = ()
    schema_changes: bool = False
    not_null: bool = False
    computed: bool = False
    identity: bool = False
    lengths: bool = False
    widths: bool = False
    far: bool = False


_ALL = (
    Feature("merges", (("Merge", 40),)),
    Feature(
        "writes",
        (
            ("Append", 16),
            ("Overwrite", 16),
            ("AppendOnce", 6),
            ("AppendByPosition", 4),
            ("OverwriteSome", 12),
        ),
    ),
    Feature("replaced", (("Replace", 3), ("CreateAs", 4))),
    Feature(
        "growing",
        (("AppendMore", 8), ("MergeMore", 4), ("AddLast", 5), ("OverwriteSchema", 3)),
        schema_changes=True,
    ),
    Feature("properties", (("SetProperties", 7), ("UnsetProperties", 4))),
    Feature("constraints", (("AddConstraint", 8), ("DropConstraint", 3)), not_null=True),
    Feature(
        "schema-changes",
        (("AddColumn", 9), ("ReorderColumn", 5), ("SetNullable", 3)),
        schema_changes=True,
        not_null=True,
    ),
    Feature(
        "column-mapping",
        (("DropColumn", 5), ("RenameColumn", 6)),
        options=(((("delta.columnMapping.mode", "name"),), 4), ((("delta.columnMapping.mode", "id"),), 1)),
        schema_changes=True,
    ),
    Feature(
        "type-widening",
        (("WidenColumn", 10),),
        (("delta.enableTypeWidening", "true"),),
        types=WIDENABLE,
        schema_changes=True,
    ),
    Feature(
        "defaults",
        (("SetDefault", 7), ("AppendLess", 6)),
        (("delta.feature.allowColumnDefaults", "supported"),),
    ),
    Feature("generated", (("AppendLess", 6),), computed=True),
    Feature(
        "change-feed",
        (("ReadChanges", 16), ("Update", 6), ("Delete", 4)),
        (("delta.enableChangeDataFeed", "true"),),
    ),
    Feature(
        "deletion-vectors",
        (("Delete", 14), ("Update", 6), ("Purge", 3), ("Checkpoint", 3)),
        (("delta.enableDeletionVectors", "true"),),
    ),
    Feature("row-tracking", (("Update", 6), ("Merge", 6)), (("delta.enableRowTracking", "true"),)),
    Feature("tracked-later", (("SwitchTracking", 8), ("Update", 4), ("Merge", 4), ("Optimize", 3))),
    Feature("commit-timestamps", properties=(("delta.enableInCommitTimestamps", "true"),)),
    Feature("v2-checkpoints", (("Checkpoint", 4),), (("delta.checkpointPolicy", "v2"),)),
    Feature("features", (("EnableFeature", 6), ("DropFeature", 4))),
    Feature("small-types", types=SMALL, partition_types=((BYTE, 3), (SHORT, 3), (FLOAT, 1))),
    Feature("clocks", types=CLOCKS, partition_types=((TIMESTAMP_NTZ, 6),)),
    Feature(
        "far-times",
        types=((DATE, 12), (TIMESTAMP, 10), (TIMESTAMP_NTZ, 6)),
        partition_types=((DATE, 12), (TIMESTAMP, 8), (TIMESTAMP_NTZ, 4)),
        far=True,
    ),
    Feature("nested-types", (("AppendTurned", 6),), types=NESTED),
    Feature("variants", types=VARIANTS),
    Feature(
        "upkeep",
        (("Optimize", 5), ("VacuumInMore", 8), ("Checkpoint", 3), ("Restore", 5)),
    ),
    Feature("z-order", (("ZOrder", 6),)),
    Feature("purges", (("Purge", 4),)),
    Feature("clustering", (("Cluster", 5), ("Optimize", 4))),
    Feature("time-travel", (("ReadAtTime", 8), ("RestoreToTime", 3))),
    Feature("introspection", (("History", 5), ("Detail", 4))),
    Feature(
        "followed",
        (("Tail", 16), ("Append", 8), ("Optimize", 4)),
        (("delta.enableChangeDataFeed", "true"),),
    ),
    Feature("zones", (("SetZone", 8),)),
    Feature("log-upkeep", (("CompactLog", 3), ("CleanLog", 3))),
    Feature("clones", (("CloneTo", 5),)),
    Feature("converted"),
    Feature("lengths", (("Append", 6), ("Update", 4)), types=((STRING, 20),), lengths=True),
    Feature("widths", widths=True),
    Feature("identity", (("Append", 12), ("AppendGiven", 3), ("UpdateGiven", 1)), identity=True),
    Feature("catalogue", (("Drop", 3), ("CreateNamed", 1))),
)

FEATURES = {feature.name: feature for feature in _ALL}
PLAIN_TYPES: Types = (
    (LONG, 5),
    (STRING, 8),
    (INTEGER, 4),
    (DOUBLE, 4),
    (DATE, 4),
    (BOOLEAN, 2),
    (DecimalType(10, 2), 3),
)
