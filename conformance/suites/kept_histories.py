"""Kept histories: the minimal histories of a team's `regressions/` folder, which every run plays first.

An entry is the folder of a finding, as a run leaves it, or the JSON file of a history. What cannot be played raises
BadRegression before anything starts, with the file and the fault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from conformance.generation import SLOTS
from conformance.histories import History
from delta_adapters.engine_id import EngineId
from delta_models.codec import CodecError
from delta_models.operations import (
    STORAGE_FAULTS,
    AdvanceClock,
    Create,
    Interleave,
    Operation,
    Replace,
)

HISTORIES = ("minimal.json", "history.json")  # of a finding's folder; the first that is there counts
EXPECTED = "the folder of a finding, or the JSON file of a history, was expected"
WITHOUT_CLAIM = (AdvanceClock, *STORAGE_FAULTS)  # the harness performs them, so no engine claims them


class BadRegression(ValueError):
    """A folder of kept histories, or an entry of it, can't be played. The message names it and the fault."""


@dataclass(frozen=True, slots=True)
class KeptHistory:
    """A history that a team keeps, by the name of its entry.

    `writers` are the engines that its finding had, in the order of the slots, without versions.
    """

    name: str
    history: History
    writers: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The suite by whose rules it is played, which follows from its steps."""
        operations = [step.operation for step in self.history.steps]
        if any(isinstance(operation, Interleave) for operation in operations):
            return "races"
        if any(isinstance(operation, WITHOUT_CLAIM) for operation in operations):
            return "crashes"
        return "shared" if any(step.slot for step in self.history.steps) else "lockstep"

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that an engine must claim to take part, those of races one by one."""
        return tuple(self._claimed())

    @property
    def create(self) -> Create | Replace | None:
        """The step that says of which shape the table is; None if the table comes about in another way."""
        first = self.history.steps[0].operation
        return first if isinstance(first, Create | Replace) else None

    def to_json(self) -> dict[str, Any]:
        """The JSON form, as the coordinator sends it to a worker."""
        return {"name": self.name, "history": self.history.to_json(), "writers": list(self.writers)}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        """Read a kept history from its JSON form."""
        return cls(form["name"], History.from_json(form["history"]), tuple(form["writers"]))

    def _claimed(self) -> Iterator[Operation]:
        for step in self.history.steps:
            if isinstance(step.operation, Interleave):
                yield from step.operation.operations
            elif not isinstance(step.operation, WITHOUT_CLAIM):
                yield step.operation


def read_kept(folder: Path) -> tuple[KeptHistory, ...]:
    """Read all histories that a folder keeps, by name. Raises BadRegression.

    Files whose names begin with a dot, and Markdown, are notes of the team.
    """
    if not folder.is_dir():
        message = f"{folder}: no such folder. A folder of kept findings was expected."
        raise BadRegression(message)
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        message = f"{folder}: can't be read: {error.strerror}"
        raise BadRegression(message) from error
    return tuple(
        _entry(entry) for entry in entries if not entry.name.startswith(".") and entry.suffix != ".md"
    )


def _entry(entry: Path) -> KeptHistory:
    if entry.is_dir():
        path = next((entry / name for name in HISTORIES if (entry / name).exists()), None)
        if path is None:
            message = f"{entry}: it holds neither {' nor '.join(HISTORIES)}; {EXPECTED}"
            raise BadRegression(message)
        return KeptHistory(entry.name, _history(path), _writers(entry / "finding.json"))
    if entry.suffix != ".json":
        message = f"{entry}: {EXPECTED}"
        raise BadRegression(message)
    return KeptHistory(entry.stem, _history(entry))


def _history(path: Path) -> History:
    try:
        history = History.from_json(_read_json(path))
    except CodecError as error:
        message = f"{path}: {error}"
        raise BadRegression(message) from error
    if not history.steps:
        message = f"{path}: the history has no steps"
        raise BadRegression(message)
    decoded: list[object] = [step.operation for step in history.steps]
    foreign = [operation for operation in decoded if not isinstance(operation, Operation)]
    if foreign:
        message = f"{path}: a step is no operation: {foreign[0]!r}"
        raise BadRegression(message)
    unknown = [slot for step in history.steps for slot in (step.slot, step.by) if slot and slot not in SLOTS]
    if unknown:
        message = f"{path}: a step names the slot {unknown[0]!r}; there are {', '.join(SLOTS)}"
        raise BadRegression(message)
    return history


def _writers(path: Path) -> tuple[str, ...]:
    """The names of the engines that a finding binds its slots to, in their order."""
    if not path.exists():
        return ()
    form = _read_json(path)
    slots = form.get("slots", {}) if isinstance(form, dict) else None
    if not isinstance(slots, dict) or not all(isinstance(engine, str) for engine in slots.values()):
        message = f"{path}: its slots are not engines by slot, {slots!r}; copy the finding again"
        raise BadRegression(message)
    bound = (slots[slot] for slot in SLOTS if slot in slots)
    return tuple(dict.fromkeys(EngineId.parse(engine).name for engine in bound))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        message = f"{path}: can't be read: {error.strerror}"
        raise BadRegression(message) from error
    except (ValueError, RecursionError) as error:
        message = f"{path}: no JSON: {error}"
        raise BadRegression(message) from error
