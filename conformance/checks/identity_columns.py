"""Are the values that a table makes up for an identity column what they must be, whatever they are?"""

from __future__ import annotations

from collections import Counter

from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import CorruptLog
from delta_models.operations import ConvertFromParquet, CreateAs, Overwrite, Replace
from delta_models.table.identity import UNKNOWN, Identity, generated_values, identities

JUDGES = judged_by("identity")
REDEFINES = (Replace, CreateAs, ConvertFromParquet)


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the values that the step made up, and the high-water marks around it."""
    if not observation.wrote or observation.log_error is not None or observation.after is None:
        return
    try:
        before = (
            {identity.name: identity for identity in identities(observation.before.schema)}
            if observation.before
            else {}
        )
        after = identities(observation.after.schema)
    except (CorruptLog, ValueError, KeyError):
        return
    redefined = _redefined(observation)
    made = (
        generated_values(observation.branch.table, observation.model)
        if observation.branch is not None and observation.model.exists
        else {}
    )
    where = f"version {observation.after.version}"
    for each in after:
        known = None if redefined else before.get(each.name)
        if known is not None:
            _mark_stays(known, each, recorder, where)
        values = [value for value in made.get(each.name, ()) if value is not UNKNOWN]
        if values:
            _values(each, values, known, recorder, where)
            _unique(observation, each, values, recorder, where)


def _redefined(observation: Observation) -> bool:
    return isinstance(observation.operation, REDEFINES) or (
        isinstance(observation.operation, Overwrite) and observation.operation.schema_mode == "overwrite"
    )


def _mark_stays(old: Identity, new: Identity, recorder: CheckRecorder, where: str) -> None:
    if old.mark is None:
        return
    back = new.mark is None or (new.mark != old.mark and not new.beyond(new.mark, old.mark))
    wrong = f"{new.name}: {new.mark} after {old.mark}" if back else None
    recorder.judge("rules.identity-mark-stays", wrong, where, (new.name,))


def _values(
    column: Identity, values: list[int], before: Identity | None, recorder: CheckRecorder, where: str
) -> None:
    name, names = column.name, (column.name,)
    rule = f"{column.start} plus steps of {column.step}"
    off = [value for value in values if not column.on_the_lattice(value)]
    recorder.judge(
        "rules.identity-on-the-lattice", f"{name}: {off[:3]}, not {rule}" if off else None, where, names
    )
    mark = before.mark if before is not None else None
    if mark is not None:
        short = [value for value in values if not column.beyond(value, mark)]
        wrong = f"{name}: {short[:3]}, and the mark was {mark}" if short else None
        recorder.judge("rules.identity-beyond-the-mark", wrong, where, names)
    furthest = max(values) if column.step > 0 else min(values)
    passed = column.mark is None or column.beyond(furthest, column.mark)
    wrong = f"{name}: {furthest} was made up, and the mark is {column.mark}" if passed else None
    recorder.judge("rules.identity-mark-moves", wrong, where, names)


def _unique(
    observation: Observation, column: Identity, values: list[int], recorder: CheckRecorder, where: str
) -> None:
    """Where writers may give values, those that they gave may stand there as well."""
    at = observation.model.schema.index(column.name)
    stand = values if column.explicit else [row[at] for row in observation.model.rows]
    counted = Counter(stand)
    twice = [value for value in values if counted[value] > 1]
    wrong = f"{column.name}: {twice[0]} stands {counted[twice[0]]} times" if twice else None
    recorder.judge("rules.identity-unique", wrong, where, (column.name,))


CHECK = Check("identity", JUDGES, check)
