"""Are the values that an engine generates for identity columns valid, and does it keep the high-water mark?

The rules fix no value: they fix which values are possible and how the mark moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.log import CorruptLog
from delta_models.operations import ConvertFromParquet, CreateAs, Overwrite, Replace
from delta_models.requirements import Checked, checked
from delta_models.table.identity import UNKNOWN, Identity, generated_values, identities

JUDGES = judged_by(CheckName.IDENTITY_COLUMNS)
REDEFINES = (Replace, CreateAs, ConvertFromParquet)


def check(observation: Observation, _recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the values that the step generated, and the high-water marks before and after it."""
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
    redefined = _is_redefined(observation)
    generated = (
        generated_values(observation.branch.table, observation.model)
        if observation.branch is not None and observation.model.exists
        else {}
    )
    where = f"version {observation.after.version}"
    for identity in after:
        previous = None if redefined else before.get(identity.name)
        if previous is not None:
            yield from _check_mark_stays(previous, identity, where)
        values = [value for value in generated.get(identity.name, ()) if value is not UNKNOWN]
        if values:
            yield from _check_values(identity, values, previous, where)
            yield from _check_unique(observation, identity, values, where)


def _is_redefined(observation: Observation) -> bool:
    return isinstance(observation.operation, REDEFINES) or (
        isinstance(observation.operation, Overwrite) and observation.operation.schema_mode == "overwrite"
    )


def _check_mark_stays(old: Identity, new: Identity, where: str) -> Iterator[Checked]:
    if old.mark is None:
        return
    back = new.mark is None or (new.mark != old.mark and not new.beyond(new.mark, old.mark))
    problem = f"{new.name}: {new.mark} after {old.mark}" if back else None
    yield checked("rules.identity-mark-stays", problem, where, (new.name,))


def _check_values(
    column: Identity, values: list[int], before: Identity | None, where: str
) -> Iterator[Checked]:
    name, names = column.name, (column.name,)
    rule = f"{column.start} plus steps of {column.step}"
    misplaced = [value for value in values if not column.on_the_lattice(value)]
    yield checked(
        "rules.identity-on-the-lattice",
        f"{name}: {misplaced[:3]}, not {rule}" if misplaced else None,
        where,
        names,
    )
    mark = before.mark if before is not None else None
    if mark is not None:
        short = [value for value in values if not column.beyond(value, mark)]
        problem = f"{name}: {short[:3]}, and the mark was {mark}" if short else None
        yield checked("rules.identity-beyond-the-mark", problem, where, names)
    furthest = max(values) if column.step > 0 else min(values)
    passed = column.mark is None or column.beyond(furthest, column.mark)
    problem = f"{name}: {furthest} was made up, and the mark is {column.mark}" if passed else None
    yield checked("rules.identity-mark-moves", problem, where, names)


def _check_unique(
    observation: Observation, column: Identity, values: list[int], where: str
) -> Iterator[Checked]:
    """Judge that no generated value repeats. Where writers may give values, only generated ones must differ."""
    index = observation.model.schema.index(column.name)
    column_values = values if column.explicit else [row[index] for row in observation.model.rows]
    counts = Counter(column_values)
    repeated = [value for value in values if counts[value] > 1]
    problem = f"{column.name}: {repeated[0]} stands {counts[repeated[0]]} times" if repeated else None
    yield checked("rules.identity-unique", problem, where, (column.name,))


CHECK = Check(CheckName.IDENTITY_COLUMNS, JUDGES, check)
