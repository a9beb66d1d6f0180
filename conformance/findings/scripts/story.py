"""The steps of a script, one block each, and the choice of the end that decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conformance.findings.scripts import faults, races
from conformance.findings.scripts.calls import Calls
from conformance.findings.scripts.case import Case, Moment, following
from conformance.findings.scripts.checks_answers import (
    about_changes,
    about_history,
    about_outcome,
    about_rows,
)
from conformance.findings.scripts.checks_checkpoints import about_checkpoints
from conformance.findings.scripts.checks_files import about_files
from conformance.findings.scripts.checks_log import about_log
from conformance.findings.scripts.checks_state import about_state, about_what_stays
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.faults import indented
from conformance.findings.scripts.literals import NotPrintable
from conformance.findings.scripts.undecided import person_needed
from conformance.findings.text import operation_text
from conformance.histories import Step
from delta_models import operations as ops
from delta_models.outcomes import Rejected
from delta_models.table import Expectation, ModelHistory, NotModelled

LONGEST_COMMENT = 100
ROWS_TOO = ("write.nan-order", "write.beyond-core", "write.data-change-false-keeps-rows")  # its rows show it
ROWS_OF = ("contents", "read", "metamorphic", "example", "dv")
REFUSED = '    refused = f"{type(error).__name__}: {str(error)[:300]}"'


class Story:
    """The blocks of the steps so far, the model, and what is known of the end."""

    def __init__(self, case: Case, apis: Mapping[str, Calls]) -> None:
        self.blocks: list[tuple[int, list[str]]] = []
        self.in_a_child: list[str] = []
        self._case = case
        self._apis = apis
        self._calls = apis[case.engine.name]
        self._moves = any(name != "delta-rs" for name in apis)  # Spark remembers tables by their path
        self._model = ModelHistory()
        self._moment: Moment | None = None  # the last step that acted
        self._fault: ops.Operation | None = None  # it strikes the next operation
        self._struck: tuple[ModelHistory, ModelHistory] | None = None  # before the operation and after it
        self._goes_on = False  # after the last fault came another operation
        self._ending: Ending | None = None
        self._has_refused = False

    def tell(self, number: int, step: Step, *, is_last: bool) -> None:
        """Add the block of a step. Raises NotPrintable."""
        operation = step.operation
        self._calls = self._apis.get(self._case.engine_of(step).name, self._calls)
        before, self._model = self._model, following(self._model, operation)
        if isinstance(operation, ops.STORAGE_FAULTS):
            self._fault = operation
            self.blocks.append((number, []))
            return
        fault, self._fault = self._fault, None
        lines = self._lines(operation, fault, before, is_last=is_last)
        if lines and not isinstance(operation, ops.Interleave):
            lines = [*_comment(number, operation, fault), *lines]
        self.blocks.append((number, lines))

    def _lines(
        self, operation: ops.Operation, fault: ops.Operation | None, before: ModelHistory, *, is_last: bool
    ) -> list[str]:
        match operation:
            case ops.Interleave():
                if not is_last:
                    message = "steps after a race"
                    raise NotPrintable(message)
                lines, self._ending = races.race_lines(operation, self._case, before, self._calls)
                if self._ending is None and self._case.kind in (*ROWS_OF, "outcome"):
                    message = f"{self._case.requirement} after a race"
                    raise NotPrintable(message)
                self._moment = Moment(operation.operations[-1], before, self._model, None)
                return lines
            case ops.DamageFile():
                return faults.damage(operation, moves=self._moves)
            case ops.AdvanceClock(hours=hours):
                if any(isinstance(step.operation, ops.Checkpoint) for step in self._case.steps):
                    message = "a checkpoint that is made older"
                    raise NotPrintable(message)
                return [f"age({hours})"]
            case ops.Reopen():
                return ['path = shutil.move(path, path + "-moved")'] if self._moves else []
            case ops.SwitchActor():
                return []
            case _ if isinstance(operation, ops.QUERIES):
                if isinstance(operation, ops.ReadStream):
                    message = "a reader that follows the table"
                    raise NotPrintable(message)
                return []
        if fault is not None:
            return self._with_fault(operation, fault, before, is_last=is_last)
        self._moment = Moment(operation, before, self._model, _expect(before, operation))
        self._goes_on = True
        if not is_last:
            return _step(self._calls, operation, before)
        self._ending = _ending(self._case, self._moment, self._asked)
        statements = self._calls.statements(operation, before.table.schema)
        return [*self._ending.before, *_last(statements, self._ending, self._calls)]

    def _with_fault(
        self, operation: ops.Operation, fault: ops.Operation, before: ModelHistory, *, is_last: bool
    ) -> list[str]:
        self._struck, self._goes_on = (before, self._model), False
        self._moment = Moment(operation, before, self._model, None)
        if isinstance(fault, ops.KillAt | ops.DeadTableAt):
            statements = self._calls.statements(operation, before.table.schema)
            if fault_took(fault):
                self._model = before.after(ops.Reopen())
            return faults.cut(fault, statements, moves=self._moves)
        if self._moves or self.in_a_child:
            message = "a call of the storage that fails, or whose reply is lost"
            raise NotPrintable(message)
        self._has_refused = asks = is_last and self._case.requirement != "crash.once"
        if isinstance(fault, ops.FailAt):
            self._model = before.after(ops.Reopen())
        statements = self._calls.statements(operation, before.table.schema)
        self.in_a_child = [
            "if len(sys.argv) > 1:  # the process in which the fault strikes",
            "    path = sys.argv[1]",
        ]
        self.in_a_child += [*indented([*([faults.TOLD] if asks else []), *statements]), '    end(0, "done")']
        version = sum(1 for state in before.states if state.commits[0] > 0)
        return faults.with_library(fault, version, asks=asks)

    @property
    def _asked(self) -> Calls:
        """The API of the engine that is charged, and that answers at the end."""
        return self._apis[self._case.engine.name]

    def ending(self) -> Ending:
        """The end of the script. Raises NotPrintable."""
        if self._ending is not None:
            return self._ending
        if self._moment is None:
            message = "a history without an operation"
            raise NotPrintable(message)
        if self._case.requirement == "crash.told-truly" and not self._has_refused:
            message = "what a process that dies says of its operation"
            raise NotPrintable(message)
        if self._struck is not None and self._case.kind == "crash":
            if self._goes_on:
                message = f"{self._case.requirement} of an operation before the last"
                raise NotPrintable(message)
            return faults.about_crash(self._case.requirement, *self._struck, self._asked)
        expectation = self._moment.expectation if self._has_refused else None
        moment = Moment(self._moment.operation, self._moment.before, self._model, expectation)
        ending = _ending(self._case, moment, self._asked)
        if self._has_refused:
            return ending
        if ending.before or self._case.kind == "outcome":
            message = f"{self._case.requirement} of a step before the last"
            raise NotPrintable(message)
        return replace(ending, tried=False, needs_success=False)  # the last step is no call that could fail


def fault_took(fault: ops.KillAt | ops.DeadTableAt) -> bool:
    """Whether the fault struck before the commit, so that the table is as it was."""
    return fault.role not in faults.AFTER_THE_COMMIT and (fault.role, fault.moment) != ("commit", "after")


def in_another_process(case: Case, calls: Calls) -> list[str]:
    """The steps as a program of their own: the engine must not end its process."""
    model = ModelHistory()
    lines = []
    for number, step in enumerate(case.steps):
        if not isinstance(step.operation, ops.QUERIES):
            lines += [
                *_comment(number, step.operation, None),
                *calls.statements(step.operation, model.table.schema),
            ]
        model = following(model, step.operation)
    if isinstance(case.look, ops.Read):
        lines += calls.answer(case.look, model.table.schema)
    return [
        "if len(sys.argv) > 1:  # the other process",
        "    path = sys.argv[1]",
        *indented([*calls.new_definitions(), *lines]),
        '    end(0, "done")',
        "",
        "child = subprocess.run([sys.executable, __file__, path], capture_output=True, text=True)",
        "if child.returncode < 0:",
        '    end(1, f"DEVIATION: the process was ended by signal {-child.returncode}: {child.stderr[:400]}")',
        'end(0 if child.returncode == 0 else 2, f"the process lives: {child.stdout}{child.stderr}")',
    ]


def _expect(model: ModelHistory, operation: ops.Operation) -> Expectation | None:
    try:
        return model.expect(operation)
    except NotModelled:
        return None


def _ending(case: Case, moment: Moment, calls: Calls) -> Ending:
    """The end for the case's requirement. Raises NotPrintable."""
    if case.kind in {"outcome", "host"} or case.requirement == "crash.next-writer":
        return about_outcome(case, moment, calls)
    if case.kind == "changes":
        return about_changes(case, moment, calls)
    if case.kind == "history":
        return about_history(case, calls)
    found = (
        about_log(case, moment)
        or about_files(case, moment)
        or about_state(case.requirement, moment)
        or about_checkpoints(case.requirement)
        or about_what_stays(case.requirement)
    )
    if found is not None:
        return replace(found, tried=True, needs_success=True) if _may_fail(case, calls) else found
    if case.kind in ROWS_OF or case.requirement in ROWS_TOO:
        return about_rows(case, moment, calls)
    return Ending(
        lines=(
            'for line in max(Path(path, "_delta_log").glob("?" * 20 + ".json")).read_text().splitlines():',
            "    print(line)",
        ),
        unjudged=person_needed(case.requirement),
    )


def _may_fail(case: Case, calls: Calls) -> bool:
    """Whether the last step may have ended in an error although it committed."""
    return case.outcome.startswith(("Rejected", "Unknown")) or (not case.outcome and calls.reads_after_commit)


def _step(calls: Calls, operation: ops.Operation, before: ModelHistory) -> list[str]:
    """A step before the last one. If it must be refused, that it is not ends the script."""
    try:
        statements = calls.statements(operation, before.table.schema)
    except NotPrintable as problem:
        if isinstance(operation, ops.Optimize):  # without it the rows are the same
            return [f"# Left out: {problem}."]
        raise
    expectation = _expect(before, operation)
    outcomes = expectation.allowed_outcomes if expectation is not None else ()
    refusals = [branch for branch in outcomes if isinstance(branch.outcome, Rejected)]
    if not refusals:
        return statements
    lines = ["try:", *indented(statements), f"except {calls.refusals} as error:"]
    lines.append('    print("refused:", error)')
    if len(refusals) == len(outcomes):
        lines += ["else:", '    end(2, "can\'t tell: this step should have been refused")']
    return lines


def _last(statements: list[str], ending: Ending, calls: Calls) -> list[str]:
    if not ending.tried:
        return statements
    return ['refused = ""', "try:", *indented(statements), f"except {calls.refusals} as error:", REFUSED]


def tail(ending: Ending) -> list[str]:
    """The lines of the end."""
    lines = ["", *ending.lines]
    if ending.unjudged:
        why = f"can't tell: {ending.unjudged}"
        return [*lines, f"end(2, {why!r})"]
    right = f'f"no deviation: {ending.right}"' if "{" in ending.right else f'"no deviation: {ending.right}"'
    undecided = []
    if ending.needs_success:
        undecided = [
            "if refused and not wrong:",
            '    end(2, f"can\'t tell: the last step is refused: {refused}")',
        ]
    if ending.unsure:
        why = f"can't tell: nothing is wrong as far as the script looks. {ending.unsure}"
        return [*lines, *undecided, 'end(1, f"DEVIATION: {wrong}") if wrong else ' + f"end(2, {why!r})"]
    return [*lines, *undecided, 'end(1, f"DEVIATION: {wrong}") if wrong else ' + f"end(0, {right})"]


def _comment(number: int, operation: ops.Operation, fault: ops.Operation | None) -> list[str]:
    text = operation_text(operation)
    if fault is not None:
        text = f"{operation_text(fault)}: {text}"
    text = "".join(c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text)
    text = " ".join(text.split())
    return [f"# {number}. {text if len(text) <= LONGEST_COMMENT else text[: LONGEST_COMMENT - 3] + '...'}"]
