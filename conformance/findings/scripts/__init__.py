"""Stand-alone scripts and issue texts: a finding as a short program for its engine alone, to run and to paste.

A script repeats the history with the engine's public API. It ends with 1 only where the deviation shows, with 0 where
it does not, and with 2 where it can't run or a person must judge. `program` puts it together of the calls of an API
(`deltalake_calls`, `spark_calls`) and an end that decides (`checks_*`, `faults`, `races`).
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.findings.scripts.case import case_of
from conformance.findings.scripts.issue import issue_for
from conformance.findings.scripts.literals import NotPrintable
from conformance.findings.scripts.program import program, unprintable
from conformance.findings.storage import Finding
from delta_adapters.deviations import Cause
from delta_adapters.dialects import Inexpressible
from delta_models.table import NotModelled


def scripts_for(finding: Finding, causes: Sequence[Cause] | None = None) -> dict[str, str]:
    """The script of a finding by its file name. Where no program can be written, it says why and ends with 2.

    `causes` are those that a run knows, by default the project's.
    """
    case = case_of(finding, causes)
    name = f"script_{case.engine.name.replace('-', '_')}.py"
    try:
        return {name: program(case, name)}
    except (NotPrintable, Inexpressible, NotModelled) as problem:
        return {name: unprintable(case, str(problem))}


__all__ = ["issue_for", "scripts_for"]
