"""Findings: violations of a requirement, kept so that anybody can see them again.

`fingerprint` says which violations are the same finding. `candidates` names the causes that may explain one, by what
they predict (`predictions`). `recorder` keeps the findings of a run; `storage` writes and reads the folder of one.
`text` and `readme` tell a person what happened, and `scripts` shows it on one engine without the harness.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from conformance.findings.fingerprint import FindingKey, key_of
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

if TYPE_CHECKING:
    from conformance.findings.candidates import candidate_causes
    from conformance.findings.recorder import keep_finding
else:
    _HOMES = {"candidate_causes": "candidates", "keep_finding": "recorder"}

    def __getattr__(name: str) -> Any:
        """Load what judges violations at its first use: who reads findings does not need all the checks for it."""
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


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
