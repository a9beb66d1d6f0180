"""Is what an operation reported, and the number of versions it added, allowed; and did a refusal change nothing?"""

from __future__ import annotations

from conformance.checks.ledger import Check, Ledger, judged_by
from conformance.checks.text import difference
from conformance.observation import Observation
from delta_models.operations import FAULTS, LOOKS
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.table import Branch
from delta_models.wire_names import name_of

JUDGES = judged_by("outcomes")


def look(seen: Observation, ledger: Ledger) -> None:
    """Judge the outcome of the step; looks and faults have none of their own."""
    if not seen.wrote or isinstance(seen.operation, (*LOOKS, *FAULTS)):
        return
    supported = ledger.judge(
        "outcome.supported",
        f"{_name(seen)} is claimed, but answered: {seen.outcome.reason}"
        if isinstance(seen.outcome, Unsupported)
        else None,
    )
    if not supported:
        return
    if isinstance(seen.outcome, Rejected):
        unclassified = seen.outcome.kind == "unclassified"
        ledger.judge("outcome.classified", f"{_name(seen)}: {seen.outcome.message}" if unclassified else None)
        _refusal_changed_nothing(seen, ledger)
    told = not isinstance(seen.outcome, Unknown)
    if told or not ledger.has("log.", "dv."):
        ledger.judge("outcome.told", None if told else f"{_name(seen)}: {describe(seen.outcome)}")
    if told:
        _allowed(seen, ledger)


def _allowed(seen: Observation, ledger: Ledger) -> None:
    allowed = [each for each in seen.expectation.branches if same_outcome(each.outcome, seen.outcome)]
    if not allowed and _only_the_kind_is_open(seen):
        return
    if not allowed:
        possible = " or ".join(sorted({describe(each.outcome) for each in seen.expectation.branches}))
        broken = _refusal_rule(seen.expectation.ordinary) or "outcome.allowed"
        ledger.judge(broken, f"{_name(seen)} must end in {possible}, but {describe(seen.outcome)}")
        return
    ledger.judge("outcome.allowed", None)
    rule = _refusal_rule(allowed[0])
    if rule is not None:
        ledger.judge(rule, None)
    _softer_rules(seen, ledger)
    if seen.log_error is not None:
        return
    count = len(seen.commits)
    if any(low <= count <= high for low, high in (each.commits for each in allowed)):
        ledger.judge("outcome.commits", None)
        return
    ranges = " or ".join(sorted({_range(*each.commits) for each in allowed}))
    ledger.judge(
        "outcome.commits",
        f"{_name(seen)} ({describe(seen.outcome)}) adds {ranges} versions, but added {count}",
    )


def _refusal_rule(branch: Branch) -> str | None:
    """The rule by which an operation must be refused; what it does when it succeeds is judged by `contents`."""
    return branch.requirement if isinstance(branch.outcome, Rejected) else None


def _softer_rules(seen: Observation, ledger: Ledger) -> None:
    """Rules of class should or reference that a legal end may still break."""
    broken = seen.branch.breaks if seen.branch is not None else None
    for rule in sorted({each.breaks for each in seen.expectation.branches if each.breaks is not None}):
        ledger.judge(rule, f"{_name(seen)} ended so: {describe(seen.outcome)}" if rule == broken else None)


def _only_the_kind_is_open(seen: Observation) -> bool:
    unclassified = isinstance(seen.outcome, Rejected) and seen.outcome.kind == "unclassified"
    return unclassified and any(isinstance(each.outcome, Rejected) for each in seen.expectation.branches)


def _refusal_changed_nothing(seen: Observation, ledger: Ledger) -> None:
    before, after = seen.before, seen.after
    if seen.log_error is not None:
        return
    if before is None or after is None:
        appeared = before is None and after is not None
        vanished = before is not None and after is None
        wrong = (
            "the table exists although its creation was refused"
            if appeared
            else "the table is gone"
            if vanished
            else None
        )
        ledger.judge("outcome.refused-changes-nothing", wrong)
        return
    changed = [
        name
        for name, old, new in (
            ("schema", before.schema, after.schema),
            ("partitioning", before.partition_by, after.partition_by),
            ("properties", dict(before.properties), dict(after.properties)),
            ("protocol", before.protocol, after.protocol),
        )
        if old != new
    ]
    if changed:
        wrong = f"changed: {', '.join(changed)}"
    elif before.version == after.version or set(before.live) == set(after.live):
        wrong = None
    else:
        wrong = difference(seen.reader.rows(before), seen.reader.rows(after))
    ledger.judge(
        "outcome.refused-changes-nothing", f"{_name(seen)} was refused, yet {wrong}" if wrong else None
    )


def same_outcome(allowed: Outcome, got: Outcome) -> bool:
    """Whether an outcome is the allowed one: its class, and for refusals the kind; words do not count."""
    if isinstance(allowed, Rejected) and isinstance(got, Rejected):
        return allowed.kind == got.kind
    return type(allowed) is type(got)


def describe(outcome: Outcome) -> str:
    """An outcome in a few words."""
    match outcome:
        case Committed():
            return "committed"
        case NoChange():
            return "nothing to do"
        case Rejected(kind=kind, message=message):
            return f"rejected ({kind})" + (f": {message}" if message else "")
        case Unsupported(reason=reason):
            return f"unsupported: {reason}"
        case Unknown(reason=reason):
            return f"unknown: {reason}"


def _name(seen: Observation) -> str:
    return name_of(seen.operation)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


CHECK = Check("outcomes", JUDGES, look)
