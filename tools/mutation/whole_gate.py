"""Plays the gate on one mutant by the command that a user calls, from its first chunk to its verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.mutation import drawing
from tools.mutation.drawing import DrawnMutant
from tools.mutation.edits import Mutant
from tools.mutation.play import ENGINE

VIOLATED = 1


def run_gate(
    mutant: DrawnMutant | Mutant, package: Path, work: Path, parts: Sequence[str] = ()
) -> dict[str, Any]:
    """Run `conformance run --profile gate` on a mutant, and return what became of it: the exit code and its reasons."""
    folder = drawing.make(mutant, package, work.absolute() / "build")
    out = work.absolute() / "gate"
    shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    command = [
        sys.executable, "-m", "conformance", "run", "--engine", f"{ENGINE}@{folder}", "--profile", "gate",
        "--out", str(out),
        *(word for part in parts for word in ("--part", part)),
    ]  # fmt: skip
    code = subprocess.run(command, check=False, cwd=package.parent).returncode
    summary = out / "latest" / "summary.json"  # there is none if the command could not be run
    reasons = json.loads(summary.read_text("utf-8"))["reasons"] if summary.exists() else []
    return {
        "mutant": mutant.name, "parts": list(parts), "exit": code, "reasons": reasons[:10],
        "killed": code == VIOLATED and any(reason.startswith(f"{ENGINE}@") for reason in reasons),
        "seconds": round(time.monotonic() - began, 1), "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip
