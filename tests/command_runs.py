"""The fixture `run`: `conformance run` in this process, with its results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main

ENGINES = Path(__file__).parent / "bad_engines.py"


@dataclass(frozen=True, slots=True)
class Run:
    """The exit code, output and folder of a run."""

    exit: int
    output: str
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        loaded: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())
        return loaded

    @property
    def events(self) -> list[dict[str, Any]]:
        """The content of `events.jsonl`."""
        return [json.loads(line) for line in (self.folder / "events.jsonl").read_text().splitlines()]

    @property
    def violated(self) -> set[str]:
        """The requirements with findings."""
        return {finding["requirement"] for finding in self.summary["findings"]}


def engine(name: str) -> str:
    """Return the `--engine` argument of an engine in `bad_engines.py`."""
    return f"{ENGINES}:{name}"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs `conformance run`, with small numbers and a fixed seed by default."""

    def run_command(*words: str) -> Run:
        fixed = [
            "--profile",
            "dev",
            "--seed",
            "1",
            "--jobs",
            "1",
            "--format",
            "plain",
            "--out",
            str(tmp_path),
        ]
        small = [] if "--profile" in words else ["--suite", "lockstep", "--examples", "2", "--steps", "6"]
        code = main(["run", *fixed, *small, *words])
        captured = capsys.readouterr()
        return Run(code, captured.out + captured.err, (tmp_path / "latest").resolve())

    return run_command
