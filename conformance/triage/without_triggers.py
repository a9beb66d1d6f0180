"""Takes what sets the candidates of a finding off out of its history, before it is made smaller.

A second fault may have the requirement, the difference and the history of a known one. If it shows without the trigger,
it is made smaller without it. With the trigger its history could become that of the known fault on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.findings.candidates import candidate_causes, needs_counterfactual
from conformance.findings.fingerprint import key_of
from conformance.findings.storage import Finding
from conformance.histories import History
from conformance.triage.counterfactuals import counterfactual_of
from conformance.triage.replayer import Replayer, Setup
from delta_adapters.deviations import Cause


def without_triggers(finding: Finding, causes: Sequence[Cause], replayer: Replayer) -> Finding:
    """The finding in its history without the triggers of its candidates, if it shows there and no cause predicts it.

    Then it has no candidates any more: they are other causes to it. Else it is returned as it is. Raises CannotRun.
    """
    told = [cause for cause in causes if cause.id in finding.candidates and needs_counterfactual(cause)]
    history = counterfactual_of(told, up_to(finding)) if told else None
    if history is None:
        return finding
    last = len(history.steps) - 1
    for step_result, violation in replayer.play(history, Setup.of(finding)).violations(finding.key.engine):
        observation = step_result.observation
        if observation.step != last or violation.requirement != finding.key.requirement:
            continue
        if candidate_causes(observation, violation, history, causes):
            return finding
        return replace(
            finding,
            key=key_of(observation, violation),
            history=history,
            step=last,
            detail=violation.detail,
            look=violation.read,
            candidates=(),
        )
    return finding


def up_to(finding: Finding) -> History:
    """The history of a finding up to its step."""
    return replace(finding.history, steps=finding.history.steps[: finding.step + 1])
