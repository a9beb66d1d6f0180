"""Commands with what they answer, as texts that are kept beside the tests and compared as a whole.

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
    """Asks in this process, from a folder of its own, and writes down what was said."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self._said: list[str] = []

    def ask(self, *words: object) -> Answer:
        """One command."""
        argv = [str(word) for word in words]
        code = main(argv)
        captured = self._capsys.readouterr()
        self._said.append(f"$ conformance {shlex.join(argv)}\n{captured.out}{captured.err}[exit {code}]\n")
        return Answer(captured.out, captured.err, code)

    def matches(self, name: str) -> None:
        """Whether all that was said is what the snapshot says."""
        said = "\n".join(self._said).replace(str(self.folder), "FOLDER")
        path = SNAPSHOTS / f"{name}.txt"
        if os.environ.get("CONFORMANCE_WRITE_SNAPSHOTS"):
            path.write_text(said, encoding="utf-8")
        assert said == path.read_text(encoding="utf-8")


def run_command(
    words: Sequence[object], cwd: Path, *, env: dict[str, str] | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, as a user's shell starts it."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, words)],
        cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def path_without(*programs: str, folder: Path) -> str:
    """A PATH with everything that this one has, but for some programs."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in sorted(Path(place).glob("*")) if Path(place).is_dir() else ():
            if program.name not in programs and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    assert all(shutil.which(each, path=str(folder)) is None for each in programs)
    return str(folder)
