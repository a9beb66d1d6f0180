"""Record what checks judge: each violation, and how often each requirement was judged."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from conformance.observations.observation import Observation
from delta_models.log import CorruptLog
from delta_models.operations import Operation
from delta_models.requirements import BY_ID, CATALOGUE, Checked, Violation


@dataclass(slots=True)
class CheckRecorder:
    """Collects what checks yield about one observation: violations and evidence, and `faults` of checks that raised.

    `shared` holds judgements that several checks need. The first check that needs them makes them.
    """

    violations: list[Violation] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    shared: dict[str, list[Checked]] = field(default_factory=dict)

    def run(self, checks: Iterable[Check], observation: Observation) -> None:
        """Run the checks that apply, in order, and record each judgement before its check goes on.

        What a check yields before it raises stays recorded, and the next one runs. The walk of a step enters this
        module once for all checks, so the loop counts in place.
        """
        for check in [check for check in checks if check.applies(observation)]:
            try:
                for judgement in check.run(observation, self):
                    if judgement.requirement not in BY_ID:
                        message = f"a check judges {judgement.requirement!r}, which is not in the catalogue"
                        raise KeyError(message)  # noqa: TRY301 - a fault of the check, as all that it raises itself
                    self.evidence[judgement.requirement] += 1
                    if judgement.violation is not None:
                        self.violations.append(judgement.violation)
            except CorruptLog as error:  # a snapshot may load although its schema is corrupt
                self.evidence["log.loads"] += 1
                self.violations.append(Violation("log.loads", str(error)))
            except Exception:  # noqa: BLE001 - whatever a check raises says nothing of the engine, and must not end the run
                self.faults.append(
                    f"check {check.name} failed at step {observation.step}:\n{traceback.format_exc(limit=8)}"
                )

    def has(self, *prefixes: str) -> bool:
        """Return whether a violation of a requirement with one of these prefixes is recorded."""
        return any(violation.requirement.startswith(prefixes) for violation in self.violations)


def judged_by(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that the catalogue assigns to a check."""
    return tuple(rule.id for rule in CATALOGUE if name in rule.checks and rule.unobservable is None)


@dataclass(frozen=True, slots=True)
class Check:
    """One oracle: its name, the requirements that it judges, and the function that yields its judgements.

    The function reads the recorder, and leaves the recording to it. `operations` are the classes that the check judges,
    as the operation of the step or of one of its reads. Without any it judges all.
    """

    name: str
    judges: tuple[str, ...]
    run: Callable[[Observation, CheckRecorder], Iterator[Checked]]
    operations: tuple[type[Operation], ...] = ()

    def applies(self, observation: Observation) -> bool:
        """Return whether the step or one of its reads has an operation that the check judges."""
        return (
            not self.operations
            or isinstance(observation.operation, self.operations)
            or any(isinstance(read.operation, self.operations) for read in observation.looks)
        )
