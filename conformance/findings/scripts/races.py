"""Races in a script: each writer has a handle of the version that it began from, and they commit in the race's order.

deltalake's handle is the snapshot that its writer works on. So the schedule's order of snapshots and commits can be
told by two handles, without threads. What a writer sees between these is not told, so a race with a vacuum or a reader
has no such script.
"""

from __future__ import annotations

from itertools import permutations

from conformance.findings.scripts.calls import Calls
from conformance.findings.scripts.case import Case
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.faults import indented
from conformance.findings.scripts.literals import NotPrintable
from conformance.findings.text import operation_text
from delta_models import operations as ops
from delta_models.outcomes import Rejected
from delta_models.table import ModelHistory, NotModelled
from delta_models.values import Rows

HANDLES = ("first", "second")
LEAST_TURNS = 3  # of a writer that ends within the schedule: it looks at the log, stages and publishes
NO_CONFLICT = {"race.appends-read-nothing", "race.conflicts-as-documented"}
BY_ROWS = {
    "race.no-lost-update", "race.no-doubled-rows", "race.no-resurrected-rows", "race.no-write-skew",
    "race.serializable", "race.told-truly", "race.all-acknowledged",
}  # fmt: skip


def race_lines(
    race: ops.Interleave, case: Case, model: ModelHistory, calls: Calls
) -> tuple[list[str], Ending | None]:
    """The lines of two writers at once, and the end for a requirement of races. Raises NotPrintable."""
    if len(race.operations) != 2 or set(race.owners) != {0, 1}:
        message = "more than two operations at once"
        raise NotPrintable(message)
    if any(isinstance(operation, (ops.Vacuum, *ops.QUERIES)) for operation in race.operations):
        message = "a vacuum or a reader beside a writer that has written half"
        raise NotPrintable(message)
    if calls.engine != "delta-rs":
        message = (
            f"{calls.package} has no handle that stays at a version, so who commits first cannot be told"
        )
        raise NotPrintable(message)
    order = _order(race, case)
    if case.kind == "race" and case.requirement not in NO_CONFLICT | BY_ROWS:
        message = f"what {case.requirement} is about"
        raise NotPrintable(message)
    schema = model.table.schema
    early, late = (race.operations[writer] for writer in order)
    lines = [
        f"# {model.step}. At once. First to commit: {operation_text(early)}"[:120],
        f"#    Begun from the same version: {operation_text(late)}"[:120],
        f"first, second = {calls.handle()}, {calls.handle()}",
        *calls.statements(early, schema, "first"),
        'refused = ""',
        "try:",
        *indented(calls.statements(late, schema, "second")),
        f"except {calls.refusals} as error:",
        '    refused = f"{type(error).__name__}: {str(error)[:300]}"',
    ]
    if case.requirement in NO_CONFLICT:
        told = 'wrong = refused and f"the second is refused, and nothing conflicts: {refused}"'
        return lines, Ending(lines=(told,), right="both are done")
    if case.kind != "race":
        return lines, None
    return lines, _about_rows(early, late, model, calls)


def _about_rows(early: ops.Operation, late: ops.Operation, model: ModelHistory, calls: Calls) -> Ending:
    """If both committed, the rows are those of one order of the two; else those of the first alone."""
    try:
        orders = [_after(model, pair) for pair in permutations((early, late))]
        alone = _after(model, (early,))
    except NotModelled as error:
        raise NotPrintable(str(error)) from error
    both = [after for after in orders if after is not None]
    if not both or alone is None:
        message = "operations that refuse each other"
        raise NotPrintable(message)
    found, wanted = calls.comparison()
    lines = [*calls.answer(ops.Read(), both[0].table.schema)]
    names = []
    tables = {after.table.rows: after for after in both}
    for number, after in enumerate(tables.values()):
        lines += [*calls.expected(Rows(after.table.schema, after.table.rows)), f"order_{number} = {wanted}"]
        names.append(f"order_{number}")
    lines += [*calls.expected(Rows(alone.table.schema, alone.table.rows)), f"alone = {wanted}"]
    lines += [
        f"found, right = {found}, [alone] if refused else [{', '.join(names)}]",
        'wrong = "" if found in right else f"the rows are {found}, they should be {\' or \'.join(map(str, right))}"',
    ]
    return Ending(lines=tuple(lines), right="the rows are {found} ({refused or 'both are done'})")


def _after(model: ModelHistory, operations: tuple[ops.Operation, ...]) -> ModelHistory | None:
    """The model after the operations, one after another; None if one of them is refused."""
    for operation in operations:
        if isinstance(model.expect(operation).ordinary.outcome, Rejected):
            return None
        model = model.after(operation)
    return model


def _order(race: ops.Interleave, case: Case) -> tuple[int, int]:
    """The writers in the order of their commits. Raises NotPrintable if one ended before the other began."""
    begun, ended = _from_timeline(case) or _from_schedule(race)
    order = (0, 1) if ended[0] < ended[1] else (1, 0)
    if begun[order[1]] > ended[order[0]]:
        message = "writers that do not overlap"
        raise NotPrintable(message)
    return order


def _from_timeline(case: Case) -> tuple[list[float], list[float]] | None:
    """When each writer looked at the log and published, if the race was recorded."""
    begun: list[float] = [float("inf")] * 2
    ended: list[float] = [float("inf")] * 2
    for moment, line in enumerate(case.timeline):
        words = line.split()
        if len(words) < 3 or words[0] not in "AB":
            return None
        writer = "AB".index(words[0])
        begun[writer] = min(begun[writer], moment)
        if words[-1] == "publish":
            ended[writer] = moment
    if not case.timeline or ended == [float("inf")] * 2:
        return None
    return begun, ended


def _from_schedule(race: ops.Interleave) -> tuple[list[float], list[float]]:
    begun, ended = [], []
    for writer in (0, 1):
        turns = [at for at, who in enumerate(race.schedule) if who == writer]
        begun.append(float(turns[0]) if turns else float(len(race.schedule) + writer))
        complete = len(turns) >= LEAST_TURNS
        ended.append(float(turns[-1]) if complete else float(len(race.schedule) + 2 + writer))
    return begun, ended
