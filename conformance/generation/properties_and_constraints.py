"""A table's rules: properties, constraints, and the features that its protocol names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.generation.draw_context import DrawContext
from conformance.generation.drawn_predicates import draw_where
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


def set_properties(place: DrawContext) -> Operation:
    """One property or two; now and then one that no user may set."""
    dice = place.dice
    if dice.one_in(INTERNAL_ONE_IN):
        return SetProperties((INTERNAL,))
    possible = PROPERTIES + tuple(
        SWITCHES[feature] for feature in place.shape.features if feature in SWITCHES
    )
    chosen = dice.some(possible, 2 if dice.one_in(4) else 1)
    return SetProperties(tuple(sorted((key, dice.pick(values)) for key, values in chosen)))


def switch_tracking(place: DrawContext) -> Operation:
    """Row tracking is switched on over the files that there are, and now and then off again."""
    on = place.table.property(TRACKING) == "true"
    return SetProperties(((TRACKING, "false" if on and place.dice.below(3) else "true"),))


def unset_properties(place: DrawContext) -> Operation:
    """A property loses its value, if it has one."""
    known = {key for key, _ in PROPERTIES}
    there = [key for key, _ in place.table.properties if key in known]
    return UnsetProperties((place.dice.pick(there or ["purpose"]),))


def add_constraint(place: DrawContext) -> Operation:
    """A constraint that the rows keep, if one is found; else one that they do not."""
    dice, shape, table = place.dice, place.shape, place.table
    taken = {name for name, _ in table.constraints}
    free = [candidate for candidate in NAMES if candidate not in taken]
    name = dice.pick(NAMES) if not free or dice.one_in(8) else free[0]
    check = draw_where(dice, shape, table)
    for _ in range(TRIES):
        picks = compiled(check, shape.schema)
        if all(picks(row) is True for row in table.rows):
            break
        check = draw_where(dice, shape, table)
    return AddConstraint(name, check)


def drop_constraint(place: DrawContext) -> Operation:
    """A constraint goes; now and then one that there is not."""
    there = [name for name, _ in place.table.constraints]
    if not there or place.dice.one_in(6):
        return DropConstraint("nobody", if_exists=place.dice.one_in(2))
    return DropConstraint(place.dice.pick(there), if_exists=place.dice.one_in(2))


def enable_feature(place: DrawContext) -> Operation:
    """A feature that the protocol is to name; now and then one that does not exist."""
    return EnableFeature("noSuchFeature" if place.dice.one_in(10) else place.dice.pick(ENABLED))


def drop_feature(place: DrawContext) -> Operation:
    """A feature that the protocol is not to name any more."""
    there = [feature for feature in place.table.features if feature in ENABLED]
    unknown = [each for each in ENABLED if not place.table.may_support(each)]
    return DropFeature(place.dice.pick(there or unknown))


RULES: Mapping[str, Callable[[DrawContext], Operation]] = {
    "SetProperties": set_properties,
    "SwitchTracking": switch_tracking,
    "UnsetProperties": unset_properties,
    "AddConstraint": add_constraint,
    "DropConstraint": drop_constraint,
    "EnableFeature": enable_feature,
    "DropFeature": drop_feature,
}
