"""Ends of scripts about what the engine answers: refusals, rows, change feeds and the history."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.findings.scripts.calls import Calls
from conformance.findings.scripts.case import Case, Moment
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.literals import (
    NotPrintable,
    bracketed,
    holds_moments,
    quoted,
    value_literal,
)
from delta_models import operations as ops
from delta_models.outcomes import NoChange, Rejected
from delta_models.table import AllowedOutcome, Table
from delta_models.values import Rows

COUNTED = 'len(list(Path(path, "_delta_log").glob("?" * 20 + ".json")))'
VERSIONS = 'versions = sorted(int(file.stem) for file in Path(path, "_delta_log").glob("?" * 20 + ".json"))'
FEED_TIMES = """
wrong = []
for change in answer:
    commit = f"{path}/_delta_log/{change['_commit_version']:020}.json"
    info = json.loads(open(commit).readline()).get("commitInfo", {})
    right = info.get("inCommitTimestamp") or int(os.path.getmtime(commit) * 1000)
    told = change["_commit_timestamp"]
    told = told.timestamp() * 1000 if hasattr(told, "timestamp") else told
    if abs(told - right) >= 1:
        wrong.append(f"version {change['_commit_version']}: {told:.0f}, the commit has {right}")
""".strip().splitlines()
HISTORY_TIMES = """
wrong = []
for entry in answer:
    with open(f"{path}/_delta_log/{entry['version']:020}.json") as commit:
        right = json.loads(commit.readline()).get("commitInfo", {}).get("inCommitTimestamp")
    told = entry["timestamp"]
    if right is not None and told != right:
        wrong.append(f"version {entry['version']}: {told}, its in-commit timestamp is {right}")
""".strip().splitlines()


def about_outcome(case: Case, moment: Moment, calls: Calls) -> Ending:
    """The last step must be refused, or must succeed, or add so many versions."""
    expectation = moment.expectation
    if expectation is None:
        return Ending(
            tried=True, lines=("print(refused or 'done')",), unjudged="the operation is not modelled"
        )
    if case.requirement == "outcome.commits":
        return _about_commits(expectation.allowed_outcomes)
    if case.requirement == "outcome.refused-changes-nothing":
        return _about_what_a_refusal_left(moment, calls)
    kept = [branch for branch in expectation.allowed_outcomes if branch.breaks != case.requirement]
    refusals = [branch for branch in kept if isinstance(branch.outcome, Rejected)]
    if not refusals:
        skipped = all(branch.commits == (0, 0) for branch in kept)
        is_softer = len(kept) < len(expectation.allowed_outcomes)
        return _about_commits(kept) if skipped and is_softer else _about_success(case, kept)
    if len(refusals) == len(kept):
        return Ending(
            tried=True,
            lines=('wrong = "" if refused else "it is done, and must be refused"',),
            right="it is refused: {refused}",
        )
    return Ending(
        tried=True,
        lines=('print("refused:", refused) if refused else print("done")',),
        unjudged="the operation may be done or refused, and a person must say whether this refusal is right",
    )


def about_rows(case: Case, moment: Moment, calls: Calls) -> Ending:
    """The rows that the engine reads are those that the model expects."""
    read = case.look if isinstance(case.look, ops.Read) else ops.Read()
    expected = moment.after.expect_read(read)
    schema = moment.table.schema
    if case.requirement == "read.columns" and expected.rows is not None:
        return _about_names(calls.names(read, schema), [field.name for field in expected.rows.schema])
    reading = calls.answer(read, schema)
    is_read = case.kind in {"read", "metamorphic"}
    if expected.rows is None:
        lines = [
            *_guarded(
                reading, calls, 'refused = f"{type(error).__name__}: {str(error)[:300]}"', "refused = ''"
            )
        ]
        return Ending(
            lines=(*lines, 'wrong = "" if refused else "the read is answered, and must be refused"'),
            right="the read is refused",
        )
    rows = Rows(expected.rows.schema, expected.rows.rows)
    found, wanted = calls.comparison()
    if is_read:
        reading = _guarded(reading, calls, 'end(1, f"DEVIATION: the read is refused: {error}")')
    lines = [
        *reading,
        *calls.expected(rows),
        f"found, expected = {found}, {wanted}",
        'wrong = "" if found == expected else f"the rows are {found}, they should be {expected}"',
    ]
    may_be_refused = _may_be_refused(moment)
    if may_be_refused and not is_read:
        lines = [
            "if refused:",
            '    end(0, f"no deviation: the last step may be refused, and is: {refused}")',
            *lines,
        ]
    late = is_read and calls.reads_after_commit
    tried = may_be_refused or late
    return Ending(
        lines=tuple(lines), right="the rows are {found}", tried=tried, needs_success=tried and is_read
    )


def _about_names(reading: list[str], names: list[str]) -> Ending:
    lines = (
        *reading,
        f"expected = {names!r}",
        'wrong = "" if found == expected else f"the columns are {found}, they should be {expected}"',
    )
    return Ending(lines=lines, right="the columns are {found}")


def about_changes(case: Case, moment: Moment, calls: Calls) -> Ending:
    """The change feed is answered, and tells what the model expects."""
    if not isinstance(case.look, ops.ReadChanges):
        message = f"{case.requirement} without a query of the change feed"
        raise NotPrintable(message)
    reading = calls.changes(case.look)
    if case.requirement == "changes.told":
        lines = _guarded(reading, calls, 'end(1, f"DEVIATION: the change feed is refused: {error}")')
        return Ending(lines=(*lines, 'wrong = ""'), right="{len(answer)} changes are told")
    if case.requirement == "changes.refused-where-not-recorded":
        lines = _guarded(reading, calls, 'end(0, f"it is refused, as it should be: {error}")')
        return Ending(lines=(*lines, 'wrong = "it is answered, and must be refused"'))
    if case.requirement == "changes.commit-timestamps":
        return Ending(lines=(*reading, *FEED_TIMES), right="each change has the time of its commit")
    if case.requirement == "changes.rows":
        return _about_change_rows(case.look, moment, reading)
    return Ending(
        lines=(*reading, "for change in answer:", "    print(change)"),
        unjudged="a person must compare the change feed above with the log",
    )


def about_history(case: Case, calls: Calls) -> Ending:
    """The history is told, with the times of its commits."""
    reading = calls.history()
    match case.requirement:
        case "history.told":
            lines = _guarded(reading, calls, 'end(1, f"DEVIATION: the history is refused: {error}")')
            return Ending(lines=(*lines, 'wrong = ""'))
        case "history.timestamps":
            return Ending(lines=(*reading, *HISTORY_TIMES), right="each version has its own time")
        case "history.versions":
            told = 'told = [entry["version"] for entry in answer]'
            test = 'wrong = "" if told == versions[::-1] else f"told are {told}, there are {versions}"'
            return Ending(lines=(*reading, VERSIONS, told, test), right="told are {told}")
    return Ending(
        lines=(*reading, "for entry in answer:", "    print(entry)"),
        unjudged="a person must compare the history above with the log",
    )


def _about_success(case: Case, allowed: Sequence[AllowedOutcome]) -> Ending:
    """The last step succeeds; if nothing was done by an operation that must commit, that is looked at too."""
    refused = 'f"it is refused, and is legal: {refused}"'
    if (
        case.outcome not in {"", "NoChange"}
        or case.suite == "crashes"
        or any(branch.commits[0] == 0 for branch in allowed)
    ):
        return Ending(tried=True, lines=(f"wrong = refused and {refused}",), right="it is done")
    lines = (
        f"added = {COUNTED} - before",
        f'wrong = {refused} if refused else "" if added else "it says that it is done, and adds no version"',
    )
    return Ending(
        before=(f"before = {COUNTED}",),
        lines=lines,
        tried=True,
        right="it is done, {added} versions are added",
    )


def _about_commits(allowed: Sequence[AllowedOutcome]) -> Ending:
    ranges = sorted({branch.commits for branch in allowed})
    lines = (
        f"added = {COUNTED} - before",
        f'wrong = "" if any(low <= added <= high for low, high in {ranges!r}) else f"{{added}} versions are added"',
    )
    return Ending(
        before=(f"before = {COUNTED}",), lines=lines, tried=True, right="{added} versions are added"
    )


def _about_what_a_refusal_left(moment: Moment, calls: Calls) -> Ending:
    """The rows are those of before, if the last step was refused."""
    kept = moment.before.expect_read(ops.Read()).rows
    if kept is None:
        message = "what a refused operation left where there was no table"
        raise NotPrintable(message)
    found, wanted = calls.comparison()
    reading = calls.answer(ops.Read(), moment.before.table.schema)
    unread = (
        'end(1 if refused else 2, f"DEVIATION: refused ({refused}), and the table cannot be read: {error}")'
    )
    lines = (
        *_guarded(reading, calls, unread),
        *calls.expected(Rows(kept.schema, kept.rows)),
        f"found, expected = {found}, {wanted}",
        'wrong = "" if found == expected or not refused else f"refused ({refused}), and the rows are {found}"',
    )
    right = "{refused or 'done'}, the rows are {found}"
    return Ending(before=tuple(reading), tried=True, lines=lines, right=right)


def net_changes(before: Table, after: Table) -> list[str]:
    """The lines that add the changes in `answer` to the rows before, and compare with the rows after."""
    return [
        *bracketed("net = Counter(map(repr, [", _dictionaries(before), "]))"),
        "for change in answer:",
        f"    row = repr({{name: change[name] for name in {[field.name for field in after.schema]!r}}})",
        '    net[row] += 1 if change["_change_type"] in ("insert", "update_postimage") else -1',
        *bracketed("net.subtract(Counter(map(repr, [", _dictionaries(after), "])))"),
        'told = ((row, "often" if count > 0 else "rarely", abs(count)) for row, count in net.items() if count)',
        'wrong = "; ".join(f"{row} is told {count} times too {how}" for row, how, count in told)',
    ]


def _dictionaries(table: Table) -> list[str]:
    if holds_moments(table.schema):
        message = "changes of dates and timestamps"
        raise NotPrintable(message)
    return [
        "{"
        + ", ".join(
            f"{quoted(field.name)}: {value_literal(field.type, value)}"
            for field, value in zip(table.schema, row, strict=True)
        )
        + "}"
        for row in table.rows
    ]


def _about_change_rows(query: ops.ReadChanges, moment: Moment, reading: list[str]) -> Ending:
    first = query.first.step if isinstance(query.first, ops.AtState) else None
    last = query.last.step if isinstance(query.last, ops.AtState) else moment.before.step - 1
    if first is None:
        message = "a change feed between times"
        raise NotPrintable(message)
    before = moment.after.state(first - 1) if first else Table()
    lines = (*reading, *net_changes(before, moment.after.state(last)))
    return Ending(lines=lines, right="the changes add up")


def _may_be_refused(moment: Moment) -> bool:
    expectation = moment.expectation
    return (
        expectation is not None
        and any(isinstance(branch.outcome, Rejected) for branch in expectation.allowed_outcomes)
        and not all(isinstance(branch.outcome, NoChange) for branch in expectation.allowed_outcomes)
    )


def _guarded(reading: list[str], calls: Calls, otherwise: str, first: str = "") -> list[str]:
    return [
        *([first] if first else []),
        "try:",
        *(f"    {line}" for line in reading),
        f"except {calls.refusals} as error:",
        f"    {otherwise}",
    ]
