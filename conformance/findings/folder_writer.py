"""Keeps a finding: its folder, with scripts and a text for people."""

from __future__ import annotations

from pathlib import Path

from conformance.findings.readme import readme_of
from conformance.findings.scripts import scripts_for
from conformance.findings.storage import Finding, write_finding


def keep_finding(root: Path, finding: Finding, table: Path | None = None, version: int | None = None) -> Path:
    """Write a finding with everything that goes with it under `root`; see `folder.write_finding`."""
    scripts = scripts_for(finding)
    return write_finding(
        root, finding, {**scripts, "README.md": readme_of(finding, tuple(scripts))}, table, version
    )
