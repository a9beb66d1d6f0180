"""Reruns: what the last campaign found is replayed, in place of a campaign, where only tests that failed are run again.

pytest's cache remembers the last campaign: what it was asked for, and which findings each of its tests failed by.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.pytest_suites.planned import KEPT, Campaign
from conformance.pytest_suites.played import Played
from conformance.reporting.requirement_verdicts import fails_run, requirement_verdict
from conformance.reporting.text import here

REMEMBERED = "conformance/last-campaign"
FIXED, FAILS = 0, 1


@dataclass(frozen=True, slots=True)
class Replays:
    """The findings of the last campaign, in `folder`, by the names of the tests that are run again."""

    folder: Path
    findings: Mapping[str, tuple[Path, ...]]

    @property
    def announcement(self) -> str:
        """What the terminal says of it."""
        return (
            f"conformance: replaying what the campaign in {here(self.folder)} found, without a campaign;"
            " --cache-clear has it played"
        )

    def play(self, name: str) -> str:
        """Replay the findings of a test; say what is wrong, and nothing if all of them are fixed."""
        done = subprocess.run(
            [sys.executable, "-m", "conformance", "replay", *map(str, self.findings[name])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        said = f"{done.stdout}{done.stderr}".strip()
        if done.returncode == FIXED:
            return ""
        what = "replayed, and it still fails" if done.returncode == FAILS else "could not be replayed"
        return f"{name}: {what}\n{said}"


def remembered(campaign: Campaign, played: Played) -> dict[str, Any]:
    """What pytest's cache keeps of a campaign."""
    return {
        "key": campaign.key,
        "folder": str(played.folder),
        "failed": {name: list(map(str, folders)) for name, folders in _failed(campaign, played)},
    }


def replays_of(campaign: Campaign, cached: Any, selected: Collection[str]) -> Replays | None:
    """The replays that answer the selected tests; None if a campaign must be played.

    That is so if all tests are selected, if one did not fail in the last campaign, if that was asked for otherwise, or
    if its findings are gone.
    """
    if not isinstance(cached, dict) or cached.get("key") != campaign.key:
        return None
    if not selected or set(selected) == campaign.names:
        return None
    failed = {name: tuple(map(Path, folders)) for name, folders in cached.get("failed", {}).items()}
    if not all(failed.get(name) for name in selected):
        return None
    findings = {name: failed[name] for name in selected}
    if not all(folder.is_dir() for folders in findings.values() for folder in folders):
        return None
    return Replays(Path(cached["folder"]), findings)


def _failed(campaign: Campaign, played: Played) -> Iterator[tuple[str, list[Path]]]:
    """Yield the tests that fail by the campaign, each with the folders of its findings."""
    results = played.results
    if results is None:
        return
    for engine in campaign.engines:
        label = played.label_of(engine.spec)
        for requirement, of in results.outcome.failing:
            if of == label:
                verdict = requirement_verdict(results, requirement, of)
                yield f"{engine.name}::{requirement}", [finding.folder for finding in verdict.findings]
    for number, name in enumerate(campaign.kept):
        broken = {(event.requirement, event.engine) for event in played.kept(number)[1]}
        folders = [
            finding.folder
            for finding in results.findings
            if fails_run(finding, results)
            and any((rule, finding.event.engine) in broken for rule in finding.requirements)
        ]
        if folders:
            yield f"{KEPT}::{name}", folders
