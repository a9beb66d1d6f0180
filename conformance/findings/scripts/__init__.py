"""Stand-alone scripts: a history as a program for one engine alone, to run and to paste into an issue."""

from __future__ import annotations

from conformance.findings.folder import Finding


def scripts_for(finding: Finding) -> dict[str, str]:
    """The scripts of a finding by file name."""
    return {}
