"""Are the reported outcome and the number of new versions allowed, and did a refused operation change nothing?"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.formatting import difference
from conformance.checks.names import CheckName
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.operations import FAULTS, QUERIES
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.requirements import Checked, checked
from delta_models.table import AllowedOutcome
from delta_models.wire_names import name_of

JUDGES = judged_by(CheckName.OUTCOMES)


def check(observation: Observation, recorder: CheckRecorder) -> Iterator[Checked]:
    """Judge the outcome of the step. Queries and faults have none of their own."""
    if not observation.wrote or isinstance(observation.operation, (*QUERIES, *FAULTS)):
        return
    if isinstance(observation.outcome, Unsupported):
        problem = f"{_name(observation)} is claimed, but answered: {observation.outcome.reason}"
        yield checked("outcome.supported", problem)
        return
    yield checked("outcome.supported")
    if isinstance(observation.outcome, Rejected):
        unclassified = observation.outcome.kind == "unclassified"
        yield checked(
            "outcome.classified",
            f"{_name(observation)}: {observation.outcome.message}" if unclassified else None,
        )
        yield from _check_refusal_changed_nothing(observation)
    known = not isinstance(observation.outcome, Unknown)
    if known or not recorder.has("log.", "dv."):
        yield checked(
            "outcome.told", None if known else f"{_name(observation)}: {describe(observation.outcome)}"
        )
    if known:
        yield from _check_allowed(observation)


def _check_allowed(observation: Observation) -> Iterator[Checked]:
    allowed = [
        candidate
        for candidate in observation.expectation.allowed_outcomes
        if same_outcome(candidate.outcome, observation.outcome)
    ]
    if not allowed and _is_unclassified_refusal(observation):
        return
    if not allowed:
        possible = " or ".join(
            sorted({describe(candidate.outcome) for candidate in observation.expectation.allowed_outcomes})
        )
        rule = _refusal_rule(observation.expectation.ordinary) or "outcome.allowed"
        yield checked(
            rule, f"{_name(observation)} must end in {possible}, but {describe(observation.outcome)}"
        )
        return
    yield checked("outcome.allowed", None)
    refusal_rule = _refusal_rule(allowed[0])
    if refusal_rule is not None:
        yield checked(refusal_rule, None)
    yield from _check_softer_rules(observation)
    if observation.log_error is not None:
        return
    count = len(observation.commits)
    if any(low <= count <= high for low, high in (candidate.commits for candidate in allowed)):
        yield checked("outcome.commits", None)
        return
    ranges = " or ".join(sorted({_range(*candidate.commits) for candidate in allowed}))
    yield checked(
        "outcome.commits",
        f"{_name(observation)} ({describe(observation.outcome)}) adds {ranges} versions, but added {count}",
    )


def _refusal_rule(allowed: AllowedOutcome) -> str | None:
    """Return the rule that demands a refusal; None for a success, which `table_contents` judges."""
    return allowed.requirement if isinstance(allowed.outcome, Rejected) else None


def _check_softer_rules(observation: Observation) -> Iterator[Checked]:
    """Judge the rules of class *should* or *reference* that an allowed outcome may break."""
    broken = observation.branch.breaks if observation.branch is not None else None
    for rule in sorted(
        {allowed.breaks for allowed in observation.expectation.allowed_outcomes if allowed.breaks is not None}
    ):
        yield checked(
            rule,
            f"{_name(observation)} ended so: {describe(observation.outcome)}" if rule == broken else None,
        )


def _is_unclassified_refusal(observation: Observation) -> bool:
    unclassified = isinstance(observation.outcome, Rejected) and observation.outcome.kind == "unclassified"
    return unclassified and any(
        isinstance(allowed.outcome, Rejected) for allowed in observation.expectation.allowed_outcomes
    )


def _check_refusal_changed_nothing(observation: Observation) -> Iterator[Checked]:
    before, after = observation.before, observation.after
    if observation.log_error is not None:
        return
    if before is None or after is None:
        appeared = before is None and after is not None
        vanished = before is not None and after is None
        problem = (
            "the table exists although its creation was refused"
            if appeared
            else "the table is gone"
            if vanished
            else None
        )
        yield checked("outcome.refused-changes-nothing", problem)
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
        problem = f"changed: {', '.join(changed)}"
    elif before.version == after.version or set(before.live) == set(after.live):
        problem = None
    else:
        problem = difference(observation.reader.rows(before), observation.reader.rows(after))
    yield checked(
        "outcome.refused-changes-nothing",
        f"{_name(observation)} was refused, yet {problem}" if problem else None,
    )


def same_outcome(allowed: Outcome, got: Outcome) -> bool:
    """Return whether an outcome has the class of the allowed one and, if it is a refusal, its kind."""
    if isinstance(allowed, Rejected) and isinstance(got, Rejected):
        return allowed.kind == got.kind
    return type(allowed) is type(got)


def describe(outcome: Outcome) -> str:
    """Return an outcome in a few words."""
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


def _name(observation: Observation) -> str:
    return name_of(observation.operation)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


CHECK = Check(CheckName.OUTCOMES, JUDGES, check)
