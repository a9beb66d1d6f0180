"""Draws maintenance and queries beyond the plain ones: layouts, vacuums, time travel, streams, history and detail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.generation.draw_context import DrawContext
from conformance.generation.predicates import draw_predicate
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


def z_order(context: DrawContext) -> Operation:
    """Z-order the files by a column or two."""
    columns = _layout_columns(context)
    if not columns:
        return Purge()
    where: Expression | None = None
    if context.shape.partition_by and context.choices.one_in(2):
        where = draw_predicate(context.choices, context.shape, context.table, context.partition_positions())
    return ZOrder(tuple(context.choices.some(columns, 1 + context.choices.below(2))), where)


def purge(_: DrawContext) -> Operation:
    """Purge deletion vectors and dropped columns."""
    return Purge()


def cluster(context: DrawContext) -> Operation:
    """Set other clustering columns, or none."""
    columns = _layout_columns(context)
    if not columns or context.choices.one_in(4):
        return Cluster(())
    return Cluster(tuple(context.choices.some(columns, 1 + context.choices.below(2))))


def vacuum(context: DrawContext) -> Operation:
    """Vacuum in any way."""
    return context.choices.weighted(VACUUMS)


def read_at_time(context: DrawContext) -> Operation:
    """Read the table as of a time."""
    return Read(AtTime(context.draw_earlier_step()))


def restore_to_time(context: DrawContext) -> Operation:
    """Restore the table as of a time."""
    return Restore(AtTime(context.draw_earlier_step()))


def read_changes(context: DrawContext) -> Operation:
    """Read the change feed of some steps, mostly of such as have one."""
    choices, model_history = context.choices, context.model_history
    steps = model_history.readable_steps()
    recorded = [step for step in steps if is_recorded(model_history.state(step))]
    first = choices.pick((recorded if recorded and choices.below(8) else steps)[::-1])
    if choices.one_in(2):
        return ReadChanges(AtState(first))
    return ReadChanges(AtState(first), AtState(choices.pick([step for step in steps if step >= first])))


def history(_: DrawContext) -> Operation:
    """Query the history of the table."""
    return History()


def detail(_: DrawContext) -> Operation:
    """Query the detail of the table."""
    return Detail()


def detail_at(context: DrawContext) -> Operation:
    """Query the detail of an earlier state, by its version or by its time."""
    step = context.draw_earlier_step()
    return Detail(AtTime(step) if context.choices.one_in(2) else AtState(step))


def read_stream(context: DrawContext) -> Operation:
    """Read what is new in a stream, mostly one of changes if the table records them."""
    changes = 4 if is_recorded(context.table) else 0
    follows = context.choices.weighted((("rows", 3), ("inserts", 2), ("changes", changes)))
    return ReadStream(follows, follows)


def compact_log(context: DrawContext) -> Operation:
    """Compact the last few commits into one file."""
    return CompactLog(2 + context.choices.below(3))


def set_zone(context: DrawContext) -> Operation:
    """Set another time zone for the session."""
    return SetZone(context.choices.pick(ZONES))


def clean_log(_: DrawContext) -> Operation:
    """Remove commits older than the retention of the log."""
    return CleanLog()


def _layout_columns(context: DrawContext) -> list[str]:
    shape = context.shape
    return [
        field.name
        for field in shape.schema
        if field.name not in shape.partition_by and is_comparable(field.type) and field.type != BOOLEAN
    ]


MAINTENANCE_OPERATIONS: Mapping[str, Callable[[DrawContext], Operation]] = {
    "ZOrder": z_order,
    "Purge": purge,
    "Cluster": cluster,
    "VacuumInMore": vacuum,
    "ReadAtTime": read_at_time,
    "RestoreToTime": restore_to_time,
    "ReadChanges": read_changes,
    "History": history,
    "Detail": detail,
    "DetailAt": detail_at,
    "Tail": read_stream,
    "CompactLog": compact_log,
    "CleanLog": clean_log,
    "SetZone": set_zone,
}
