"""Keeps a finding: its folder with scripts and a text for people; and says whether it is a known deviation."""

from __future__ import annotations

from pathlib import Path

from conformance.findings.fingerprint import Key
from conformance.findings.folder import Finding, write_finding
from conformance.findings.readme import readme_of
from conformance.findings.scripts import scripts_for
from delta_adapters.deviations import known


def keep_finding(root: Path, finding: Finding, table: Path | None = None, version: int | None = None) -> Path:
    """Write a finding with everything that goes with it under `root`; see `folder.write_finding`."""
    scripts = scripts_for(finding)
    return write_finding(
        root, finding, {**scripts, "README.md": readme_of(finding, tuple(scripts))}, table, version
    )


def known_deviation(key: Key, version: str | None = None) -> str | None:
    """The name of the known deviation that a finding is, None if it is news. Without a version any version counts."""
    entry = known(key.fingerprint, key.engine, version, form=key.to_json())
    return None if entry is None else entry.name
