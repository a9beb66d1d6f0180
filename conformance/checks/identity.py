"""Are the values that a table makes up for an identity column what they must be, whatever they are?"""

from __future__ import annotations

from collections import Counter

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.observation import Observation
from delta_models.log import CorruptLog
from delta_models.operations import ConvertFromParquet, CreateAs, Overwrite, Replace
from delta_models.table.identity import UNKNOWN, Identity, identities, made_up

JUDGES = judged_by("identity")
REDEFINES = (Replace, CreateAs, ConvertFromParquet)


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the values that the step made up, and the high-water marks around it."""
    if not seen.wrote or seen.log_error is not None or seen.after is None:
        return
    try:
        before = {each.name: each for each in identities(seen.before.schema)} if seen.before else {}
        after = identities(seen.after.schema)
    except (CorruptLog, ValueError, KeyError):
        return
    redefined = _redefined(seen)
    made = made_up(seen.branch.table, seen.model) if seen.branch is not None and seen.model.exists else {}
    where = f"version {seen.after.version}"
    for each in after:
        known = None if redefined else before.get(each.name)
        if known is not None:
            _mark_stays(known, each, ledger, where)
        values = [value for value in made.get(each.name, ()) if value is not UNKNOWN]
        if values:
            _values(each, values, known, ledger, where)
            _unique(seen, each, values, ledger, where)


def _redefined(seen: Observation) -> bool:
    return isinstance(seen.operation, REDEFINES) or (
        isinstance(seen.operation, Overwrite) and seen.operation.schema_mode == "overwrite"
    )


def _mark_stays(old: Identity, new: Identity, ledger: Ledger, where: str) -> None:
    if old.mark is None:
        return
    back = new.mark is None or (new.mark != old.mark and not new.beyond(new.mark, old.mark))
    wrong = f"{new.name}: {new.mark} after {old.mark}" if back else None
    ledger.judge("rules.identity-mark-stays", wrong, where, (new.name,))


def _values(column: Identity, values: list[int], before: Identity | None, ledger: Ledger, where: str) -> None:
    name, names = column.name, (column.name,)
    rule = f"{column.start} plus steps of {column.step}"
    off = [each for each in values if not column.on_the_lattice(each)]
    ledger.judge(
        "rules.identity-on-the-lattice", f"{name}: {off[:3]}, not {rule}" if off else None, where, names
    )
    mark = before.mark if before is not None else None
    if mark is not None:
        short = [each for each in values if not column.beyond(each, mark)]
        wrong = f"{name}: {short[:3]}, and the mark was {mark}" if short else None
        ledger.judge("rules.identity-beyond-the-mark", wrong, where, names)
    furthest = max(values) if column.step > 0 else min(values)
    passed = column.mark is None or column.beyond(furthest, column.mark)
    wrong = f"{name}: {furthest} was made up, and the mark is {column.mark}" if passed else None
    ledger.judge("rules.identity-mark-moves", wrong, where, names)


def _unique(seen: Observation, column: Identity, values: list[int], ledger: Ledger, where: str) -> None:
    """Where writers may give values, those that they gave may stand there as well."""
    at = seen.model.schema.index(column.name)
    stand = values if column.explicit else [row[at] for row in seen.model.rows]
    counted = Counter(stand)
    twice = [each for each in values if counted[each] > 1]
    wrong = f"{column.name}: {twice[0]} stands {counted[twice[0]]} times" if twice else None
    ledger.judge("rules.identity-unique", wrong, where, (column.name,))


CHECK = Check("identity", JUDGES, look)
