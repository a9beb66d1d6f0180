"""Histories of tables with structs append rows whose structs have their fields in another order."""

from __future__ import annotations

from conformance.generation.state_machine import draw
from conformance.generation.table_shapes import TableShape
from conformance.histories import Chunk, Step
from delta_models.operations import Append, Create
from delta_models.outcomes import Committed, NoChange
from delta_models.schema import Struct
from delta_models.table import ModelHistory


class TurnedAppends:
    """Plays each history on the model and keeps the appends whose structs are turned."""

    def __init__(self) -> None:
        self.model_history = ModelHistory()
        self.appends: list[Append] = []

    def begin(self, history: int, shape: TableShape) -> None:
        self.model_history = ModelHistory()

    def play(self, step: Step) -> None:
        operation, table = step.operation, self.model_history.table
        if isinstance(operation, Append) and _structs(operation.rows.schema) != _structs(table.schema):
            expected = self.model_history.expect(operation).ordinary.outcome
            if _sorted(operation.rows.schema) == _sorted(table.schema):
                assert isinstance(expected, Committed | NoChange), operation
                self.appends.append(operation)
        self.model_history = self.model_history.after(operation)

    def end(self) -> None:
        assert not self.model_history.states or isinstance(self.model_history.states[0].operation, Create)

    @staticmethod
    def is_over() -> bool:
        return False


def _structs(schema: Struct) -> list[tuple[str, ...]]:
    return [field.type.names for field in schema.fields if isinstance(field.type, Struct)]


def _sorted(schema: Struct) -> list[list[str]]:
    return [sorted(names) for names in _structs(schema)]


def test_appends_to_tables_with_structs_turn_their_fields_now_and_then():
    player = TurnedAppends()
    draw(Chunk("lockstep", "nightly", 0, 7, histories=12, steps=20, table="nested"), player, shared=False)
    assert len(player.appends) > 2
