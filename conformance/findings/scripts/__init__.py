"""Stand-alone scripts: a history as a program for one engine alone, to run and to paste into an issue.

A script says what it does, repeats the history with the engine's public API, and ends with 1 if the deviation shows,
0 if it does not, 2 if a person has to judge, 3 if an earlier step did not do what it should.
"""

from __future__ import annotations

from textwrap import indent
from types import ModuleType

from conformance.findings.scripts import delta_rs, delta_spark
from conformance.findings.scripts.common import COMPARE, FRAME, REOPEN, NotPrintable, table_literal
from conformance.findings.scripts.log_assertions import symptom
from conformance.findings.storage import Finding
from conformance.findings.text import operation_text
from delta_adapters.dialects import Inexpressible
from delta_adapters.engine_id import EngineId
from delta_models import operations as ops
from delta_models.outcomes import Committed, NoChange, Rejected
from delta_models.requirements import BY_ID
from delta_models.table import AllowedOutcome, Expectation, ModelHistory, NotModelled
from delta_models.values import Rows

PRINTERS: tuple[ModuleType, ...] = (delta_rs, delta_spark)
LONGEST_TITLE = 200


def scripts_for(finding: Finding) -> dict[str, str]:
    """The scripts of a finding by file name: one for each engine that can express all its steps."""
    scripts = {}
    for printer in PRINTERS:
        try:
            scripts[f"script_{printer.NAME.replace('-', '_')}.py"] = script(finding, printer)
        except (NotPrintable, Inexpressible, NotModelled):
            continue
    return scripts


def script(finding: Finding, printer: ModuleType) -> str:
    """The script of a finding for one engine."""
    model_history = ModelHistory()
    lines = [_title(finding, printer), printer.PREAMBLE, FRAME, REOPEN]
    steps = [step.operation for step in finding.history.steps[: finding.step + 1]]
    expectation: Expectation | None = None
    for number, operation in enumerate(steps):
        is_last = number == finding.step
        text, expected = _step(number, operation, model_history, printer, is_last=is_last)
        lines.append(text)
        expectation = expected
        model_history = model_history.after(operation)
    lines.append(_question(finding, model_history, expectation, printer))
    return "\n\n\n".join(lines) + "\n"


def _step(
    number: int, operation: ops.Operation, model_history: ModelHistory, printer: ModuleType, *, is_last: bool
) -> tuple[str, Expectation | None]:
    title = operation_text(operation)
    title = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    if isinstance(operation, ops.Reopen):
        return (
            f"# {number}. Reopen\npath = reopened()\nversions[{number}] = max(log_versions(), default=None)",
            None,
        )
    if isinstance(operation, (*ops.QUERIES, ops.SwitchActor)):
        return f"# {number}. {title}\nversions[{number}] = max(log_versions(), default=None)", None
    expectation = model_history.expect(operation)
    body = indent("\n".join(printer.statements(operation, model_history.table.schema)), "    ")
    text = f"def step_{number}():\n{body}\n\n\noutcome = step({number}, {title!r}, step_{number})"
    if not is_last and (may := _may(expectation)) != {"refused", "succeeds"}:
        wanted = "refused" if may == {"refused"} else "done"
        test = 'outcome != "refused"' if may == {"refused"} else 'outcome == "refused"'
        text += f"\nif {test}:\n    print('   step {number} should have been {wanted}', flush=True)\n    os._exit(3)"
    return text, expectation


def _may(expectation: Expectation) -> set[str]:
    return {
        "refused" if isinstance(branch.outcome, Rejected) else "succeeds"
        for branch in expectation.allowed_outcomes
    }


def _question(
    finding: Finding, model_history: ModelHistory, expectation: Expectation | None, printer: ModuleType
) -> str:
    """The end of the script: does the deviation show?"""
    kind = finding.key.requirement.partition(".")[0]
    about_log = symptom(finding.key.requirement)
    if about_log is not None:
        rule = (
            BY_ID[finding.key.requirement].sentence
            if finding.key.requirement in BY_ID
            else finding.key.requirement
        )
        return f"REQUIREMENT = {finding.key.requirement!r}\nRULE = {rule!r}\nSEEN = {finding.detail!r}\n\n\n{about_log}"
    if kind == "outcome" and expectation is not None:
        return _about_the_end(finding, expectation)
    if kind in {"changes", "history", "detail", "stream"}:
        message = f"a script does not ask what {finding.key.requirement} is about"
        raise NotPrintable(message)
    read = finding.look if finding.look is not None else ops.Read()
    expected = model_history.expect_read(read)
    if expected.rows is None:
        return _must_be_refused(read, model_history, printer)
    lines = [
        f"# {operation_text(read)}",
        f"expected = {table_literal(Rows(expected.rows.schema, expected.rows.rows))}",
        *_guarded(printer.read_statements(read, model_history.table.schema)),
        COMPARE,
    ]
    return "\n".join(lines)


def _about_the_end(finding: Finding, expectation: Expectation) -> str:
    if finding.key.requirement == "outcome.commits":
        ranges = [branch.commits for branch in expectation.allowed_outcomes]
        return "\n".join(
            [
                f"added = versions[{finding.step}] - (versions.get({finding.step - 1}) if {finding.step} else -1)",
                f"allowed = {ranges!r}",
                "shows = not any(low <= added <= high for low, high in allowed)",
                'ended(shows, f"{added} versions added, allowed {allowed}")',
            ]
        )
    kept = [branch for branch in expectation.allowed_outcomes if branch.breaks != finding.key.requirement]
    allowed = sorted({name for branch in kept for name in _names(branch)})
    return f'ended(outcome not in {allowed!r}, f"the last step was {{outcome}}, allowed: {" or ".join(allowed)}")'


def _names(branch: AllowedOutcome) -> tuple[str, ...]:
    match branch.outcome:
        case Rejected():
            return ("refused",)
        case Committed() if branch.commits[0] == 0:
            return ("committed", "nothing to do")
        case NoChange():
            return ("nothing to do",)
    return ("committed",)


def _must_be_refused(read: ops.Read, model_history: ModelHistory, printer: ModuleType) -> str:
    body = indent("\n".join(printer.read_statements(read, model_history.table.schema)), "    ")
    return (
        f'try:\n{body}\nexcept Exception as error:\n    ended(False, f"refused: {{error}}")\n'
        'ended(True, f"{answer.num_rows} rows were read where there is nothing")'
    )


def _guarded(reading: list[str]) -> list[str]:
    body = indent("\n".join(reading), "    ")
    return [f'try:\n{body}\nexcept Exception as error:\n    ended(True, f"the read was refused: {{error}}")']


def _title(finding: Finding, printer: ModuleType) -> str:
    requirement = BY_ID.get(finding.key.requirement)
    sentence = requirement.sentence if requirement else finding.key.requirement
    version = EngineId.parse(finding.engine).version if finding.key.engine == printer.NAME else None
    packages = printer.PACKAGES.format(version=f"=={version}" if version else "")
    detail = finding.detail.replace("\\", "\\\\").replace('"""', "'''")
    lines = [
        f'"""Finding {finding.fingerprint}, {finding.key.requirement}: {sentence}',
        "",
        f"Seen with {finding.engine}: {detail}",
        "",
        f"    pip install {packages}",
        f"    python script_{printer.NAME.replace('-', '_')}.py",
        "",
        "It ends with 1 if the deviation shows, 0 if not, 2 if a person has to judge, 3 if an earlier step failed.",
        '"""',
    ]
    return "\n".join(lines)
