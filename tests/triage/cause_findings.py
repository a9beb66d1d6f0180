"""Findings made of the minimal histories of catalogued causes, as a run would keep them."""

from __future__ import annotations

from pathlib import Path

from conformance.findings.fingerprint import FindingKey
from conformance.findings.storage import Finding, write_finding
from conformance.histories import History
from delta_adapters.deviations import cause_named


def keep_finding_of(cause_id: str, root: Path, version: str = "1.6.6") -> Path:
    """Write the finding of a cause in a version of its engine, with its minimal history, and return its folder."""
    cause = cause_named(cause_id)
    history = History.from_json(cause.history)
    identity = f"{cause.engine}@{version}"
    finding = Finding(
        FindingKey(cause.requirement, cause.engine, "Append", (), (), (), "Committed"),
        "must",
        identity,
        "writer",
        len(history.steps) - 1,
        "",
        cause.summary,
        history,
        versions={identity: identity},
        state="known",
        cause=cause_id,
        requirements=(cause.requirement,),
        minimal=history,
    )
    return write_finding(root, finding, {})
