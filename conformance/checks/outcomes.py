"""Is what an operation reported, and the number of versions it added, allowed; and did a refusal change nothing?"""

from __future__ import annotations

from conformance.checks.formatting import difference
from conformance.checks.recorder import Check, CheckRecorder, judged_by
from conformance.observations.observation import Observation
from delta_models.operations import FAULTS, QUERIES
from delta_models.outcomes import Committed, NoChange, Outcome, Rejected, Unknown, Unsupported
from delta_models.table import AllowedOutcome
from delta_models.wire_names import name_of

JUDGES = judged_by("outcomes")


def check(observation: Observation, recorder: CheckRecorder) -> None:
    """Judge the outcome of the step; looks and faults have none of their own."""
    if not observation.wrote or isinstance(observation.operation, (*QUERIES, *FAULTS)):
        return
    supported = recorder.judge(
        "outcome.supported",
        f"{_name(observation)} is claimed, but answered: {observation.outcome.reason}"
        if isinstance(observation.outcome, Unsupported)
        else None,
    )
    if not supported:
        return
    if isinstance(observation.outcome, Rejected):
        unclassified = observation.outcome.kind == "unclassified"
        recorder.judge(
            "outcome.classified",
            f"{_name(observation)}: {observation.outcome.message}" if unclassified else None,
        )
        _refusal_changed_nothing(observation, recorder)
    told = not isinstance(observation.outcome, Unknown)
    if told or not recorder.has("log.", "dv."):
        recorder.judge(
            "outcome.told", None if told else f"{_name(observation)}: {describe(observation.outcome)}"
        )
    if told:
        _allowed(observation, recorder)


def _allowed(observation: Observation, recorder: CheckRecorder) -> None:
    allowed = [
        branch
        for branch in observation.expectation.allowed_outcomes
        if same_outcome(branch.outcome, observation.outcome)
    ]
    if not allowed and _only_the_kind_is_open(observation):
        return
    if not allowed:
        possible = " or ".join(
            sorted({describe(branch.outcome) for branch in observation.expectation.allowed_outcomes})
        )
        broken = _refusal_rule(observation.expectation.ordinary) or "outcome.allowed"
        recorder.judge(
            broken, f"{_name(observation)} must end in {possible}, but {describe(observation.outcome)}"
        )
        return
    recorder.judge("outcome.allowed", None)
    rule = _refusal_rule(allowed[0])
    if rule is not None:
        recorder.judge(rule, None)
    _softer_rules(observation, recorder)
    if observation.log_error is not None:
        return
    count = len(observation.commits)
    if any(low <= count <= high for low, high in (each.commits for each in allowed)):
        recorder.judge("outcome.commits", None)
        return
    ranges = " or ".join(sorted({_range(*each.commits) for each in allowed}))
    recorder.judge(
        "outcome.commits",
        f"{_name(observation)} ({describe(observation.outcome)}) adds {ranges} versions, but added {count}",
    )


def _refusal_rule(branch: AllowedOutcome) -> str | None:
    """The rule by which an operation must be refused; what it does when it succeeds is judged by `contents`."""
    return branch.requirement if isinstance(branch.outcome, Rejected) else None


def _softer_rules(observation: Observation, recorder: CheckRecorder) -> None:
    """Rules of class should or reference that a legal end may still break."""
    broken = observation.branch.breaks if observation.branch is not None else None
    for rule in sorted(
        {branch.breaks for branch in observation.expectation.allowed_outcomes if branch.breaks is not None}
    ):
        recorder.judge(
            rule,
            f"{_name(observation)} ended so: {describe(observation.outcome)}" if rule == broken else None,
        )


def _only_the_kind_is_open(observation: Observation) -> bool:
    unclassified = isinstance(observation.outcome, Rejected) and observation.outcome.kind == "unclassified"
    return unclassified and any(
        isinstance(branch.outcome, Rejected) for branch in observation.expectation.allowed_outcomes
    )


def _refusal_changed_nothing(observation: Observation, recorder: CheckRecorder) -> None:
    before, after = observation.before, observation.after
    if observation.log_error is not None:
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
        recorder.judge("outcome.refused-changes-nothing", wrong)
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
        wrong = difference(observation.reader.rows(before), observation.reader.rows(after))
    recorder.judge(
        "outcome.refused-changes-nothing", f"{_name(observation)} was refused, yet {wrong}" if wrong else None
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


def _name(observation: Observation) -> str:
    return name_of(observation.operation)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


CHECK = Check("outcomes", JUDGES, check)
