"""Run commands and compare their output with snapshots that are stored beside the tests.

Set CONFORMANCE_WRITE_SNAPSHOTS=1 to write them anew, and read what changed before you commit it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.cli import main

SNAPSHOTS = Path(__file__).parent / "snapshots"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command printed, and its exit code."""

    out: str
    err: str
    exit: int


class Conversation:
    """Runs commands in this process, in its own folder, and records their output."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self._output: list[str] = []

    def ask(self, *words: object) -> Answer:
        """Run one command and return its answer."""
        argv = [str(word) for word in words]
        code = main(argv)
        captured = self._capsys.readouterr()
        self._output.append(f"$ conformance {shlex.join(argv)}\n{captured.out}{captured.err}[exit {code}]\n")
        return Answer(captured.out, captured.err, code)

    def matches(self, name: str) -> None:
        """Assert that all recorded output equals the snapshot."""
        output = "\n".join(self._output).replace(str(self.folder), "FOLDER")
        path = SNAPSHOTS / f"{name}.txt"
        if os.environ.get("CONFORMANCE_WRITE_SNAPSHOTS"):
            path.write_text(output, encoding="utf-8")
        assert output == path.read_text(encoding="utf-8")


def run_command(
    words: Sequence[object], cwd: Path, *, env: dict[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command in its own process, as a user's shell does."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, words)],
        cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def path_without(*programs: str, folder: Path) -> str:
    """Return a PATH with all programs of the current one, except some."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in sorted(Path(place).glob("*")) if Path(place).is_dir() else ():
            if program.name not in programs and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    assert all(shutil.which(program, path=str(folder)) is None for program in programs)
    return str(folder)
