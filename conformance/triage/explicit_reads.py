"""Makes the reads that a run has added to a history steps of it.

Which reads are added follows from the seed and the number of a step. Once a step is dropped, others are made; so a
violation that such a read has shown would be lost with the first step that goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.execution.step_result import StepResult
from conformance.histories import History, Step
from conformance.triage.references import with_inserted
from conformance.triage.replayer import Playthrough
from delta_models.operations import QUERIES, Latest, Operation, Read
from delta_models.requirements import Violation

PLAIN = Read()


def explicit_forms(
    history: History, step_result: StepResult, violation: Violation, playthrough: Playthrough
) -> Iterator[History]:
    """The history without added reads: with the one that was answered wrongly, then with all reads of its last step.

    At last with all reads of all steps.
    """
    if history.explicit_reads:
        return
    observation = step_result.observation
    number = observation.step
    if violation.read is not None and _is_added(violation.read, history, number):
        yield _with_reads(history, {_place(history, observation.operation, number): [violation.read]})
    else:
        yield replace(history, explicit_reads=True)
    added: dict[int, list[Read]] = {}
    for result in playthrough.results:
        for look in result.observation.looks:
            read, step = look.operation, result.observation.step
            if isinstance(read, Read) and _is_added(read, history, step):
                reads = added.setdefault(_place(history, result.observation.operation, step), [])
                if read not in reads:
                    reads.append(read)
    last = {place: reads for place, reads in added.items() if place >= number}
    if last:
        yield _with_reads(history, last)
    if added and added != last:
        yield _with_reads(history, added)


def _is_added(read: Operation, history: History, number: int) -> bool:
    """Whether a read is none that is made after every step, or is a step itself."""
    if number >= len(history.steps) or history.steps[number].operation == read:
        return False
    return isinstance(read, Read) and read != PLAIN and _is_special(read)


def _is_special(read: Read) -> bool:
    return read.where is not None or read.columns is not None or not isinstance(read.at, Latest)


def _place(history: History, observed: Operation, number: int) -> int:
    """Before which step a read was made: before its own step if it was observed as a query there, else after it."""
    before = isinstance(observed, QUERIES) and history.steps[number].operation != observed
    return number if before else number + 1


def _with_reads(history: History, reads: dict[int, list[Read]]) -> History:
    inserted = {place: [Step(read) for read in these] for place, these in reads.items()}
    return replace(history, steps=with_inserted(history.steps, inserted), explicit_reads=True)
