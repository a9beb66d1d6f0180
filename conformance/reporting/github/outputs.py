"""The files that GitHub reads after a step: its outputs, and the summary of the job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.reporting.atomic_write import CannotWrite
from conformance.reporting.text import here, one_line

SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"  # where GitHub says which files it reads
LONGEST = 4096


def set_outputs(outputs: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Set the outputs of the step, one line each. Raises CannotWrite."""
    text = "".join(f"{name}={one_line(value, LONGEST)}\n" for name, value in outputs.items())
    _append(environment, OUTPUT, text)


def add_summary(text: str, environment: Mapping[str, str]) -> None:
    """Add Markdown to the summary of the job. Raises CannotWrite."""
    _append(environment, SUMMARY, text)


def _append(environment: Mapping[str, str], name: str, text: str) -> None:
    """Append to a file that GitHub reads; where there is none, nobody reads it."""
    path = environment.get(name)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        message = f"can't write to {here(Path(path))}, which {name} names: {error.strerror}. The verdict is in the log."
        raise CannotWrite(message) from error
