"""What a script is made of: the steps until the violation, the requirement, and the model around the last step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.findings.storage import Finding
from conformance.histories import History, Step
from delta_adapters.deviations import Cause, all_causes
from delta_adapters.engine_id import EngineId
from delta_models import operations as ops
from delta_models.table import Expectation, ModelHistory, NotModelled, Table

PACKAGES = {"delta-rs": "deltalake", "pyspark": "pyspark_delta"}
LOOKS = ("read", "metamorphic", "changes", "history", "detail", "stream")


@dataclass(frozen=True, slots=True)
class Case:
    """One violation, and the history that leads to it.

    `engines` maps each slot to the engine there; the slot None is that of a history without slots. `look` is the query
    that was answered wrongly. Where the history is minimal, `detail` is that of the minimal history. `outcome` is the
    class of the step's outcome, as in the key of a finding, empty if it is not known.
    `summary` is that of the cause, if one is known.
    """

    fingerprint: str
    requirement: str
    engine: EngineId
    detail: str
    steps: tuple[Step, ...]
    suite: str
    engines: dict[str | None, EngineId]
    look: ops.Operation | None = None
    timeline: tuple[str, ...] = ()
    where: str = ""
    outcome: str = ""
    summary: str = ""

    def engine_of(self, step: Step) -> EngineId:
        """Who performs a step."""
        return self.engines.get(step.by or step.slot, self.engine)

    @property
    def kind(self) -> str:
        """The family of the requirement: the word before the dot."""
        return self.requirement.partition(".")[0]


@dataclass(slots=True)
class Moment:
    """The model before and after the last step. `expectation` is None for a step that the model does not execute."""

    operation: ops.Operation
    before: ModelHistory
    after: ModelHistory
    expectation: Expectation | None
    features: frozenset[str] = field(default_factory=frozenset)

    @property
    def table(self) -> Table:
        """The table after the last step."""
        return self.after.table


def package_of(engine: EngineId) -> str:
    """An engine by the name of its package, with its version."""
    name = PACKAGES.get(engine.name, engine.name)
    return f"{name} {engine.version}" if engine.version else name


def case_of(finding: Finding, causes: Sequence[Cause] | None = None) -> Case:
    """The case of a finding: of its cause, or of its minimal history, if there is one.

    Without `causes` the project's own count.
    """
    known = all_causes() if causes is None else causes
    cause = next((cause for cause in known if cause.id == finding.cause), None)
    if cause is not None:
        return _case_of_cause(finding, cause)
    history = finding.minimal or finding.history
    is_minimal = finding.minimal is not None
    step = finding.minimal_step if is_minimal and finding.minimal_step is not None else finding.step
    step = min(step, len(history.steps) - 1)
    steps = history.steps[: step + 1]
    engine = EngineId.parse(finding.engine)
    engines: dict[str | None, EngineId] = {slot: EngineId.parse(name) for slot, name in finding.slots.items()}
    return Case(
        fingerprint=finding.fingerprint,
        requirement=finding.key.requirement,
        engine=engine,
        detail=(finding.minimal_detail if is_minimal else "") or finding.detail,
        steps=steps,
        suite=finding.suite,
        engines=engines | {None: _writer(finding, engine)},
        look=_look(finding, steps, is_minimal=is_minimal),
        timeline=finding.timeline,
        where=finding.where,
        outcome=finding.key.outcome,
    )


def _case_of_cause(finding: Finding, cause: Cause) -> Case:
    """The case of the cause that explains a finding: its own minimal history, which violates its own requirement."""
    steps = History.from_json(cause.history).steps
    engine = EngineId.parse(finding.engine)
    engines: dict[str | None, EngineId] = {
        slot: engine if name == engine.name else EngineId.parse(name) for slot, name in cause.slots.items()
    }
    last = steps[-1].operation
    return Case(
        fingerprint=finding.fingerprint,
        requirement=cause.requirement,
        engine=engine,
        detail="",
        steps=steps,
        suite=str(cause.history["suite"]),
        engines=engines | {None: engine},
        look=last if isinstance(last, ops.QUERIES) else None,
        summary=cause.summary,
    )


def _writer(finding: Finding, engine: EngineId) -> EngineId:
    """Who performs steps without a slot: in crash histories the first engine at the table, else the one charged."""
    if finding.suite == "crashes" and finding.role == "reader":
        seated = [EngineId.parse(name) for name in finding.versions]
        return next((name for name in seated if name.version), engine)
    return engine


def _look(finding: Finding, steps: tuple[Step, ...], *, is_minimal: bool) -> ops.Operation | None:
    """The query that was answered wrongly. Of the original history's look a minimal one keeps only what still fits."""
    last = steps[-1].operation if steps else None
    if finding.key.requirement.partition(".")[0] in LOOKS and isinstance(last, ops.QUERIES):
        return last
    look = finding.look
    if look is None or not is_minimal:
        return look
    return look if look.at == ops.Latest() and _fits(look, steps) else None


def _fits(look: ops.Read, steps: tuple[Step, ...]) -> bool:
    """Whether the table of the minimal history still has what a read names."""
    model = ModelHistory()
    try:
        for step in steps:
            model = following(model, step.operation)
        return model.expect_read(look).rows is not None
    except NotModelled:
        return False


def following(model: ModelHistory, operation: ops.Operation) -> ModelHistory:
    """The model after one more step. What it does not execute leaves the table as it is."""
    try:
        return model.after(operation)
    except NotModelled:
        return model.after(ops.Reopen())
