"""One command after another: what may be asked next of a table that is as the model says."""

from __future__ import annotations

from collections.abc import Callable

from conformance.generation.choices import Choices
from conformance.generation.draw_context import FILES, DrawContext
from conformance.generation.drawn_predicates import draw_where
from conformance.generation.maintenance import UPKEEP
from conformance.generation.merges import draw_merge
from conformance.generation.opaque_columns import OPAQUE, made_up, spelled_out, without_made_up
from conformance.generation.properties_and_constraints import RULES
from conformance.generation.rows import draw_rows, draw_value
from conformance.generation.schema_changes import ALTERATIONS
from conformance.generation.table_lifecycle import LIFECYCLE, first_of
from conformance.generation.table_shapes import TableShape, current, profile_of
from conformance.generation.writes import WRITES
from delta_models.expressions import Column, Expression, Literal
from delta_models.operations import (
    Append,
    AtState,
    Checkpoint,
    Create,
    Delete,
    Latest,
    Operation,
    Optimize,
    Overwrite,
    Read,
    Restore,
    Update,
    Vacuum,
)  # fmt: skip
from delta_models.schema import BINARY, DATE, LONG, STRING, Field, Struct
from delta_models.table import ModelHistory
from delta_models.values import Rows

SHORT_VACUUMS = ((0.0, 3), (None, 1))

Guard = Callable[[ModelHistory, Operation], bool]


def draw_command(dice: Choices, model_history: ModelHistory, shape: TableShape) -> Operation:
    """The next command of a history; the first is always Create."""
    if not model_history.table.exists:
        return first_of(dice, shape)
    hidden = made_up(model_history)
    known = without_made_up(model_history)
    table = known.table
    now = current(shape, table.schema, table.partition_by)
    place = _Next(dice, known, now, profile_of(shape), shape, hidden)
    command = MAKERS[dice.weighted(shape.operations)](place)
    return spelled_out(command, table.schema.names) if hidden else command


class _Next(DrawContext):
    """A place in a history, with a method for each operation that any table may meet."""

    def append(self) -> Operation:
        one_in = self.profile.misfits_one_in
        if one_in and self.dice.one_in(one_in):
            return self.misfit()
        return Append(draw_rows(self.dice, self.shape), files=self.dice.weighted(FILES))

    def misfit(self) -> Operation:
        """Rows that no table of this shape may accept: a column too many, or a text where no text fits."""
        schema = self.shape.schema
        rows = draw_rows(self.dice, self.shape).rows or ((None,) * len(schema),)
        wrong = [at for at, field in enumerate(schema.fields) if field.type not in {STRING, BINARY}]
        if wrong and self.dice.one_in(2):
            at = self.dice.pick(wrong)
            fields = list(schema.fields)
            fields[at] = Field(fields[at].name, STRING)
            return Append(
                Rows(Struct(tuple(fields)), tuple((*row[:at], "no such", *row[at + 1 :]) for row in rows))
            )
        extra = Field("extra", self.dice.pick((LONG, DATE)))
        return Append(Rows(Struct((*schema.fields, extra)), tuple((*row, 1) for row in rows)))

    def overwrite(self) -> Operation:
        rows = draw_rows(self.dice, self.shape)
        one_in = self.profile.partial_overwrites_one_in
        if not one_in or not self.dice.one_in(one_in):
            return Overwrite(rows)
        if self.shape.partition_by and self.dice.one_in(2):
            return Overwrite(rows, dynamic=True)
        return Overwrite(rows, where=draw_where(self.dice, self.shape, self.table, self.partitions() or None))

    def delete(self) -> Operation:
        return Delete(self.where())

    def update(self) -> Operation:
        where = self.where()
        schema = self.shape.schema
        assignments: list[tuple[str, Expression]] = []
        for at in sorted(self.dice.some(self.shape.literal(), 2 if self.dice.one_in(3) else 1)):
            each = schema.fields[at]
            alike = [schema.names[other] for other in self.alike(at)]
            if alike and self.dice.one_in(3):
                assignments.append((each.name, Column((self.dice.pick(alike),))))
            else:
                assignments.append((each.name, Literal(each.type, draw_value(self.dice, self.shape, at))))
        return Update(tuple(assignments), where)

    def alike(self, at: int) -> list[int]:
        """Other columns whose values may as well stand in the column at a position."""
        mine = self.shape.kinds[at]
        return [other for other, kind in enumerate(self.shape.kinds) if other != at and kind == mine]

    def merge(self) -> Operation:
        return draw_merge(self.dice, self.table, self.shape) or self.append()

    def optimize(self) -> Operation:
        if self.shape.partition_by and self.dice.one_in(3):
            return Optimize(draw_where(self.dice, self.shape, self.table, self.partitions()))
        return Optimize()

    def checkpoint(self) -> Operation:
        return Checkpoint()

    def vacuum(self) -> Operation:
        return Vacuum(self.dice.weighted(SHORT_VACUUMS))

    def restore(self) -> Operation:
        return Restore(AtState(self.earlier()))

    def read(self) -> Operation:
        at = AtState(self.earlier()) if self.dice.one_in(2) else Latest()
        table, shape = self.table, self.shape
        if isinstance(at, AtState) and self.model_history.state(at.step).schema != table.schema:
            table = self.model_history.state(at.step)
            shape = current(self.home, table.schema, table.partition_by)
        where = draw_where(self.dice, shape, table) if self.dice.below(4) else None
        columns = None
        if self.dice.one_in(2):
            names = shape.schema.names
            columns = tuple(self.dice.some(names, 1 + self.dice.below(len(names))))
        return Read(at, where, columns)

    def create(self) -> Operation:
        """A table where there is one."""
        shape = self.home
        return Create(shape.schema, shape.partition_by, shape.properties, if_not_exists=self.dice.one_in(2))


MAKERS: dict[str, Callable[[_Next], Operation]] = {
    "Append": _Next.append,
    "Overwrite": _Next.overwrite,
    "Delete": _Next.delete,
    "Update": _Next.update,
    "Merge": _Next.merge,
    "Optimize": _Next.optimize,
    "Checkpoint": _Next.checkpoint,
    "Vacuum": _Next.vacuum,
    "Restore": _Next.restore,
    "Read": _Next.read,
    "Create": _Next.create,
    **WRITES,
    **ALTERATIONS,
    **RULES,
    **UPKEEP,
    **LIFECYCLE,
    **OPAQUE,
}
