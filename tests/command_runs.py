"""A run of the command line in this process, with its results read back."""

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
    """How a run ended, and what it left."""

    exit: int
    said: str
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        """The summary."""
        loaded: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())
        return loaded

    @property
    def events(self) -> list[dict[str, Any]]:
        """Everything that was recorded."""
        return [json.loads(line) for line in (self.folder / "events.jsonl").read_text().splitlines()]

    @property
    def broken(self) -> set[str]:
        """The requirements with findings."""
        return {each["requirement"] for each in self.summary["findings"]}


def engine(name: str) -> str:
    """What asks for one of the engines beside this file."""
    return f"{ENGINES}:{name}"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """`conformance run` with small numbers and a fixed seed, unless told otherwise."""

    def go(*words: str) -> Run:
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

    return go
