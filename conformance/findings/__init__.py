"""Findings: what makes two the same, the folder that keeps one, and scripts that show it without the harness."""

from __future__ import annotations

from conformance.findings.fingerprint import FindingKey, key_of
from conformance.findings.folder_writer import keep_finding
from conformance.findings.known_deviations import known_deviation
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
    "keep_finding",
    "key_of",
    "known_deviation",
    "load_finding",
    "write_finding",
]
