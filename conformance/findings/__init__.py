"""Findings: what makes two the same, the folder that keeps one, and scripts that show it without the harness."""

from __future__ import annotations

from conformance.findings.causes import known_deviation
from conformance.findings.fingerprint import Key, key_of
from conformance.findings.folder import (
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
from conformance.findings.keep import keep_finding

__all__ = [
    "BrokenPart",
    "Collision",
    "Finding",
    "FindingError",
    "Key",
    "MissingPart",
    "NotAFinding",
    "NotWritten",
    "OtherFormat",
    "WrongFingerprint",
    "keep_finding",
    "key_of",
    "known_deviation",
    "load_finding",
    "write_finding",
]
