"""Upkeep and looks beyond the plain ones: layouts, vacuums of every kind, time travel, and what the table tells of
itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.generation.draw_context import DrawContext
from conformance.generation.drawn_predicates import draw_where
from conformance.generation.values.complex import is_comparable
from delta_models.expressions import Expression
from delta_models.operations import (
    AtState,
    AtTime,
    CleanLog,
    Cluster,
    CompactLog,
    Detail,
    History,
    Operation,
    Purge,
    Read,
    ReadChanges,
    ReadStream,
    Restore,
    SetZone,
    Vacuum,
    ZOrder,
)
from delta_models.schema import BOOLEAN
from delta_models.table.change_feed import is_recorded

VACUUMS = (
    (Vacuum(0.0), 3),
    (Vacuum(), 1),
    (Vacuum(0.0, dry_run=True), 2),
    (Vacuum(dry_run=True), 1),
    (Vacuum(0.0, lite=True), 3),
    (Vacuum(lite=True), 1),
    (Vacuum(200.0), 1),
)

# Far from UTC on either side, off the full hour, and with odd seconds before there was a standard time.
ZONES = ("America/Los_Angeles", "Asia/Kathmandu", "Pacific/Kiritimati", "Australia/Lord_Howe", "UTC")


def z_order(place: DrawContext) -> Operation:
    """Files in the Z-order of a column or two."""
    columns = _layout_columns(place)
    if not columns:
        return Purge()
    where: Expression | None = None
    if place.shape.partition_by and place.dice.one_in(2):
        where = draw_where(place.dice, place.shape, place.table, place.partitions())
    return ZOrder(tuple(place.dice.some(columns, 1 + place.dice.below(2))), where)


def purge(_: DrawContext) -> Operation:
    """No deletion vectors and dropped columns any more."""
    return Purge()


def cluster(place: DrawContext) -> Operation:
    """Other clustering columns, or none."""
    columns = _layout_columns(place)
    if not columns or place.dice.one_in(4):
        return Cluster(())
    return Cluster(tuple(place.dice.some(columns, 1 + place.dice.below(2))))


def vacuum(place: DrawContext) -> Operation:
    """A vacuum of any kind."""
    return place.dice.weighted(VACUUMS)


def read_at_time(place: DrawContext) -> Operation:
    """The table as of a moment."""
    return Read(AtTime(place.earlier()))


def restore_to_time(place: DrawContext) -> Operation:
    """Back to a moment."""
    return Restore(AtTime(place.earlier()))


def read_changes(place: DrawContext) -> Operation:
    """The change feed of some steps, mostly of such as were recorded."""
    dice, model_history = place.dice, place.model_history
    steps = model_history.readable_steps()
    recorded = [at for at in steps if is_recorded(model_history.state(at))]
    first = dice.pick((recorded if recorded and dice.below(8) else steps)[::-1])
    if dice.one_in(2):
        return ReadChanges(AtState(first))
    return ReadChanges(AtState(first), AtState(dice.pick([at for at in steps if at >= first])))


def history(_: DrawContext) -> Operation:
    """What the engine tells of the table's past."""
    return History()


def detail(_: DrawContext) -> Operation:
    """What the engine tells of the table."""
    return Detail()


def tail(place: DrawContext) -> Operation:
    """What readers that follow the table have got: of changes mostly, where these are recorded."""
    changes = 4 if is_recorded(place.table) else 0
    follows = place.dice.weighted((("rows", 3), ("inserts", 2), ("changes", changes)))
    return ReadStream(follows, follows)


def compact_log(place: DrawContext) -> Operation:
    """One file in place of the last few commits."""
    return CompactLog(2 + place.dice.below(3))


def set_zone(place: DrawContext) -> Operation:
    """The session is somewhere else from now on."""
    return SetZone(place.dice.pick(ZONES))


def clean_log(_: DrawContext) -> Operation:
    """No commits older than the log's retention any more."""
    return CleanLog()


def _layout_columns(place: DrawContext) -> list[str]:
    shape = place.shape
    return [
        field.name
        for field in shape.schema
        if field.name not in shape.partition_by and is_comparable(field.type) and field.type != BOOLEAN
    ]


UPKEEP: Mapping[str, Callable[[DrawContext], Operation]] = {
    "ZOrder": z_order,
    "Purge": purge,
    "Cluster": cluster,
    "VacuumInMore": vacuum,
    "ReadAtTime": read_at_time,
    "RestoreToTime": restore_to_time,
    "ReadChanges": read_changes,
    "History": history,
    "Detail": detail,
    "Tail": tail,
    "CompactLog": compact_log,
    "CleanLog": clean_log,
    "SetZone": set_zone,
}
