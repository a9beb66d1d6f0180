"""The values that make up a worked example: steps, and what must hold after every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from delta_models.operations import Operation, Read
from delta_models.outcomes import Committed, Outcome, Rejected
from delta_models.schema import Struct
from delta_models.table import ModelHistory
from delta_models.values import Row, bag
from delta_models.wire_names import text_of

COMMITTED = Committed()


@dataclass(frozen=True, slots=True)
class Orphan:
    """The harness places a Parquet file that no commit names: what a write leaves that failed before its commit."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Live:
    """Live files whose path a step added first, and how many of their rows deletion vectors hide."""

    step: int
    files: int = 1
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """How a read ends: with rows, or, where `may_refuse`, with a refusal."""

    rows: tuple[Row, ...]
    may_refuse: bool = False


@dataclass(frozen=True, slots=True)
class ExampleStep:
    """One step, and what is seen after it.

    `rows` are the table's (None: there is no table). `live` are the live files; None where an engine is free to arrange
    them. `rewritten` are other live files, of an engine that does not promise deletion vectors and writes files again;
    it may do so in some steps. `tombstones` are steps of which files were removed from the table and must still lie in
    the folder; `gone` are steps of which no file may be left there. `read` is the answer to a step that is a Read.
    `folder` says whether the table's folder is there.
    """

    says: str
    operation: Operation | Orphan
    rows: tuple[Row, ...] | None
    live: tuple[Live, ...] | None = None
    outcome: Outcome = COMMITTED
    tombstones: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    read: ExampleOutcome | None = None
    folder: bool = True
    rewritten: tuple[tuple[Live, ...], ...] = ()

    def layouts(self, *, promises_vectors: bool) -> tuple[tuple[Live, ...], ...]:
        """The live files that an engine may have, the one written down first; none where it is free."""
        first = () if self.live is None else (self.live,)
        return first if promises_vectors else (*first, *self.rewritten)


@dataclass(frozen=True, slots=True)
class Example:
    """A history with what must be seen.

    `features` are the table features that an engine must be able to write to take part. `checkpoints` maps an engine's
    name to the version at which its own checkpoint stands after the last step; it is read back and must hold that
    version's state. Of an engine that is not named no checkpoint is asked.
    """

    name: str
    sentence: str
    schema: Struct
    steps: tuple[ExampleStep, ...]
    features: tuple[str, ...] = ()
    checkpoints: Mapping[str, int] = field(default_factory=dict)


def check_example_on_model(example: Example) -> list[str]:
    """Where the model disagrees with what an example says, in words; nothing where it agrees."""
    problems: list[str] = []
    model_history = ModelHistory()
    for number, step in enumerate(example.steps):
        place = f"{example.name}, step {number} ({step.says})"
        if isinstance(step.operation, Orphan):
            model_history = model_history.after(Read())
        else:
            branch = next(
                (
                    branch
                    for branch in model_history.expect(step.operation).allowed_outcomes
                    if _agrees(branch.outcome, step)
                ),
                None,
            )
            if isinstance(step.operation, Read):
                problems += [
                    f"{place}: {words}" for words in _check_read(model_history, step.operation, step.read)
                ]
                model_history = model_history.after(step.operation)
            elif branch is None:
                problems.append(f"{place}: the model does not allow {text_of(step.outcome)}")
                model_history = model_history.after(step.operation)
            else:
                model_history = model_history.after(step.operation, branch)
        problems += [f"{place}: {words}" for words in _check_rows(model_history, step)]
    return problems


def _agrees(outcome: Outcome, step: ExampleStep) -> bool:
    if isinstance(outcome, Rejected) and isinstance(step.outcome, Rejected):
        return outcome.kind == step.outcome.kind
    return type(outcome) is type(step.outcome)


def _check_rows(model_history: ModelHistory, step: ExampleStep) -> list[str]:
    table = model_history.table
    if step.rows is None:
        return ["the model has a table"] if table.exists else []
    if not table.exists:
        return ["the model has no table"]
    if bag(table.schema, step.rows) != table.bag:
        return [f"the model has other rows: {len(table.rows)}, not {len(step.rows)}"]
    return []


def _check_read(model_history: ModelHistory, read: Read, expected: ExampleOutcome | None) -> list[str]:
    if expected is None:
        return ["a read without an answer"]
    look = model_history.expect_read(read)
    if look.rows is None:
        return ["the model has the read refused"]
    problems = []
    if bag(look.rows.schema, look.rows.rows) != bag(look.rows.schema, expected.rows):
        problems.append("the model reads other rows")
    if bool(look.refusals) != expected.may_refuse:
        problems.append(f"the model allows the refusals {look.refusals}")
    return problems
