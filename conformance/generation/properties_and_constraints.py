"""A table's rules: properties, constraints, and the features that its protocol names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.generation.draw_context import DrawContext
from conformance.generation.predicates import draw_predicate
from delta_models.expressions import compiled
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
TRIES = 4  # to find a predicate that the rows of the table keep
ENABLED = (
    "deletionVectors", "changeDataFeed", "checkConstraints", "domainMetadata", "v2Checkpoint", "vacuumProtocolCheck",
    "timestampNtz", "allowColumnDefaults", "inCommitTimestamp", "appendOnly", "rowTracking", "typeWidening",
)  # fmt: skip


def set_properties(context: DrawContext) -> Operation:
    """One property or two; now and then one that no user may set."""
    choices = context.choices
    if choices.one_in(INTERNAL_ONE_IN):
        return SetProperties((INTERNAL,))
    possible = PROPERTIES + tuple(
        SWITCHES[feature] for feature in context.shape.features if feature in SWITCHES
    )
    chosen = choices.some(possible, 2 if choices.one_in(4) else 1)
    return SetProperties(tuple(sorted((key, choices.pick(values)) for key, values in chosen)))


def switch_tracking(context: DrawContext) -> Operation:
    """Row tracking is switched on over the files that there are, and now and then off again."""
    on = context.table.property(TRACKING) == "true"
    return SetProperties(((TRACKING, "false" if on and context.choices.below(3) else "true"),))


def unset_properties(context: DrawContext) -> Operation:
    """A property loses its value, if it has one."""
    known = {key for key, _ in PROPERTIES}
    there = [key for key, _ in context.table.properties if key in known]
    return UnsetProperties((context.choices.pick(there or ["purpose"]),))


def add_constraint(context: DrawContext) -> Operation:
    """A constraint that the rows keep, if one is found; else one that they do not."""
    choices, shape, table = context.choices, context.shape, context.table
    taken = {name for name, _ in table.constraints}
    free = [candidate for candidate in NAMES if candidate not in taken]
    name = choices.pick(NAMES) if not free or choices.one_in(8) else free[0]
    check = draw_predicate(choices, shape, table)
    for _ in range(TRIES):
        picks = compiled(check, shape.schema)
        if all(picks(row) is True for row in table.rows):
            break
        check = draw_predicate(choices, shape, table)
    return AddConstraint(name, check)


def drop_constraint(context: DrawContext) -> Operation:
    """A constraint goes; now and then one that there is not."""
    there = [name for name, _ in context.table.constraints]
    if not there or context.choices.one_in(6):
        return DropConstraint("nobody", if_exists=context.choices.one_in(2))
    return DropConstraint(context.choices.pick(there), if_exists=context.choices.one_in(2))


def enable_feature(context: DrawContext) -> Operation:
    """A feature that the protocol is to name; now and then one that does not exist."""
    return EnableFeature("noSuchFeature" if context.choices.one_in(10) else context.choices.pick(ENABLED))


def drop_feature(context: DrawContext) -> Operation:
    """A feature that the protocol is not to name any more."""
    there = [feature for feature in context.table.features if feature in ENABLED]
    unknown = [each for each in ENABLED if not context.table.may_support(each)]
    return DropFeature(context.choices.pick(there or unknown))


PROPERTY_AND_CONSTRAINT_OPERATIONS: Mapping[str, Callable[[DrawContext], Operation]] = {
    "SetProperties": set_properties,
    "SwitchTracking": switch_tracking,
    "UnsetProperties": unset_properties,
    "AddConstraint": add_constraint,
    "DropConstraint": drop_constraint,
    "EnableFeature": enable_feature,
    "DropFeature": drop_feature,
}
