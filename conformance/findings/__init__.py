"""Findings: violations of a requirement, kept so that anybody can see them again.

`fingerprint` says which violations are the same finding. `candidates` names the causes that may explain one, by what
they predict (`predictions`). `recorder` keeps the findings of a run; `storage` writes and reads the folder of one.
`text` and `readme` tell a person what happened, and `scripts` shows it on one engine without the harness.
"""

from __future__ import annotations

from conformance.findings.candidates import candidate_causes
from conformance.findings.fingerprint import FindingKey, key_of
from conformance.findings.recorder import keep_finding
from conformance.findings.storage import (
    BrokenPart,
    Collision,
    Finding,
    FindingError,
    MissingPart,
    NotAFinding,
    NotWritten,
    OtherFormat,
    WrongFingerprint,
    load_finding,
    write_finding,
)

__all__ = [
    "BrokenPart",
    "Collision",
    "Finding",
    "FindingError",
    "FindingKey",
    "MissingPart",
    "NotAFinding",
    "NotWritten",
    "OtherFormat",
    "WrongFingerprint",
    "candidate_causes",
    "keep_finding",
    "key_of",
    "load_finding",
    "write_finding",
]
