"""Sessions of pytest as a user has them: a process in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delta_adapters.smoke import TIMEOUT_VARIABLE

SMALL = (
    "--conformance-profile=dev", "--conformance-suite=lockstep", "--conformance-examples=2", "--conformance-steps=6",
    "--conformance-seed=1", "--conformance-jobs=1",
)  # fmt: skip

PATIENT = {TIMEOUT_VARIABLE: "600"}  # a busy machine is no defect of an engine


@dataclass(frozen=True, slots=True)
class Session:
    """What a session of pytest left."""

    exit: int
    output: str
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        """The `summary.json` of its campaign."""
        path = self.folder / "conformance-results" / "latest" / "summary.json"
        form: dict[str, Any] = json.loads(path.read_text())
        return form

    @property
    def outcomes(self) -> dict[str, str]:
        """How each test ended, by its name with that of its engine: passed, failed or skipped."""
        ended = {}
        for case in ET.parse(self.folder / "junit.xml").iter("testcase"):
            _, found, place = case.get("classname", "").rpartition("campaign")
            place = place.lstrip(".") if found else ""
            kinds = {"failure": "failed", "error": "error", "skipped": "skipped"}
            outcome = next((kinds[child.tag] for child in case if child.tag in kinds), "passed")
            ended[f"{place}::{case.get('name')}" if place else str(case.get("name"))] = outcome
        return ended

    @property
    def outcomes_of_own(self) -> dict[str, str]:
        """How each test ended that is none of the campaign."""
        return {
            name: ended
            for name, ended in self.outcomes.items()
            if name.rpartition("::")[2].startswith("test_")
        }

    def tests(self, outcome: str) -> set[str]:
        """The tests that ended so."""
        return {name for name, ended in self.outcomes.items() if ended == outcome}


def campaign(folder: Path, *words: str, limit: float = 600) -> Session:
    """A session of the campaign alone."""
    return pytest_in(folder, "--pyargs", "conformance.suites", *words, limit=limit)


def pytest_in(folder: Path, *words: str, limit: float = 600) -> Session:
    """A session of pytest in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--junitxml=junit.xml", "-p", "no:randomly", *words],
        cwd=folder,
        env={**os.environ, **PATIENT},
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    return Session(done.returncode, done.stdout + done.stderr, folder)
