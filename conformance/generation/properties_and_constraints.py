"""Draws changes of properties, of constraints, and of the features that a table's protocol names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.generation.draw_context import DrawContext
from conformance.generation.predicates import draw_predicate
from delta_models.expressions import compile_expression
from delta_models.operations import (
    AddConstraint,
    DropConstraint,
    DropFeature,
    EnableFeature,
    Operation,
    SetProperties,
    UnsetProperties,
)

PROPERTIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("delta.appendOnly", ("true", "false")),
    ("delta.checkpointInterval", ("2", "5")),
    ("delta.deletedFileRetentionDuration", ("interval 2 weeks", "interval 1 days")),
    ("delta.logRetentionDuration", ("interval 40 days",)),
    ("purpose", ("tests", "", 'it\'s "quoted"')),
    ("owner.team", ("a", "b")),
)
SWITCHES = {
    "change-feed": ("delta.enableChangeDataFeed", ("false", "true")),
    "deletion-vectors": ("delta.enableDeletionVectors", ("false", "true")),
    "type-widening": ("delta.enableTypeWidening", ("false", "true")),
}
INTERNAL, INTERNAL_ONE_IN = ("delta.columnMapping.maxColumnId", "77"), 16
TRACKING = "delta.enableRowTracking"
NAMES = ("known", "small", "Odd one")
TRIES = 4  # to draw a predicate that holds for all rows of the table
ENABLED = (
    "deletionVectors", "changeDataFeed", "checkConstraints", "domainMetadata", "v2Checkpoint", "vacuumProtocolCheck",
    "timestampNtz", "allowColumnDefaults", "inCommitTimestamp", "appendOnly", "rowTracking", "typeWidening",
)  # fmt: skip


def set_properties(context: DrawContext) -> Operation:
    """Set a property or two; now and then one that no user may set."""
    choices = context.choices
    if choices.one_in(INTERNAL_ONE_IN):
        return SetProperties((INTERNAL,))
    possible = PROPERTIES + tuple(
        SWITCHES[feature] for feature in context.shape.features if feature in SWITCHES
    )
    chosen = choices.some(possible, 2 if choices.one_in(4) else 1)
    return SetProperties(tuple(sorted((key, choices.pick(values)) for key, values in chosen)))


def switch_tracking(context: DrawContext) -> Operation:
    """Switch row tracking on for a table that has files, and now and then off again."""
    on = context.table.property(TRACKING) == "true"
    return SetProperties(((TRACKING, "false" if on and context.choices.below(3) else "true"),))


def unset_properties(context: DrawContext) -> Operation:
    """Unset a property; one that is set, if any is."""
    known = {key for key, _ in PROPERTIES}
    present = [key for key, _ in context.table.properties if key in known]
    return UnsetProperties((context.choices.pick(present or ["purpose"]),))


def add_constraint(context: DrawContext) -> Operation:
    """Add a constraint that the rows satisfy, if one is drawn in time; else one that they violate."""
    choices, shape, table = context.choices, context.shape, context.table
    taken = {name for name, _ in table.constraints}
    free = [candidate for candidate in NAMES if candidate not in taken]
    name = choices.pick(NAMES) if not free or choices.one_in(8) else free[0]
    check = draw_predicate(choices, shape, table)
    for _ in range(TRIES):
        picks = compile_expression(check, shape.schema)
        if all(picks(row) is True for row in table.rows):
            break
        check = draw_predicate(choices, shape, table)
    return AddConstraint(name, check)


def drop_constraint(context: DrawContext) -> Operation:
    """Drop a constraint; now and then one that does not exist."""
    present = [name for name, _ in context.table.constraints]
    if not present or context.choices.one_in(6):
        return DropConstraint("nobody", if_exists=context.choices.one_in(2))
    return DropConstraint(context.choices.pick(present), if_exists=context.choices.one_in(2))


def enable_feature(context: DrawContext) -> Operation:
    """Enable a table feature; now and then one that does not exist."""
    return EnableFeature("noSuchFeature" if context.choices.one_in(10) else context.choices.pick(ENABLED))


def drop_feature(context: DrawContext) -> Operation:
    """Drop a table feature; one that the protocol names, if any."""
    present = [feature for feature in context.table.features if feature in ENABLED]
    unknown = [feature for feature in ENABLED if not context.table.may_support(feature)]
    return DropFeature(context.choices.pick(present or unknown))


PROPERTY_AND_CONSTRAINT_OPERATIONS: Mapping[str, Callable[[DrawContext], Operation]] = {
    "SetProperties": set_properties,
    "SwitchTracking": switch_tracking,
    "UnsetProperties": unset_properties,
    "AddConstraint": add_constraint,
    "DropConstraint": drop_constraint,
    "EnableFeature": enable_feature,
    "DropFeature": drop_feature,
}
