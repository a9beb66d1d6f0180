"""`events.jsonl`, the recording of a run: a header, a line for each event, a footer.

`EventLog` appends and flushes line by line, so that a killed run leaves what it recorded. `read` has one exception for
each fault of a file. A torn last line and a missing footer leave the file usable, so `read` returns them in
`Recording.problems`, for the caller to report.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from conformance.events import serialization
from conformance.events import types as events
from conformance.events.serialization import EventError, UnknownEvent
from conformance.events.types import Event, RunEnded, RunStarted
from conformance.reporting.atomic_write import CannotWrite

NAME = "events.jsonl"


class CannotRecord(CannotWrite):
    """Events can no longer be written: the disk is full, the folder went, or may not be written to.

    The caller of `Bus.emit` gets it once. What the file holds stays.
    """


class RecordingError(ValueError):
    """A recording that can't be read, or only in part. The message names the file, the cause and the cure."""


class NoRecording(RecordingError):
    """There is no such file."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: no recording of a run there. Give the folder of a run (with {NAME} in it); "
            "`conformance run` names it in its last lines."
        )


class NoHeader(RecordingError):
    """The file is empty, or its beginning was cut off."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: the header is missing: the run ended before it began, or the file was cut. Run again."
        )


class ForeignFile(RecordingError):
    """The file is no recording at all."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: not a recording of conformance ({why}). Give the folder of a run.")


class NewerFormat(RecordingError):
    """Written by a newer version of the harness."""

    def __init__(self, path: Path, version: object, harness: object) -> None:
        super().__init__(
            f"{path}: written in format {version} by delta-conformance {harness}, and this version reads format "
            f"{serialization.FORMAT}. Read it with that version or a newer one."
        )


class DamagedLine(RecordingError):
    """A line in the middle is no event: the file was edited, or two runs wrote into it."""

    def __init__(self, path: Path, number: int, why: str) -> None:
        super().__init__(f"{path}, line {number}: {why}. The file was changed after the run; run again.")


class TornLastLine(RecordingError):
    """The last line was cut off in mid-write: the run was killed, or the disk was full."""

    def __init__(self, path: Path, number: int) -> None:
        super().__init__(
            f"{path}: line {number}, the last, is torn: the run was killed or its disk was full."
        )


class NoFooter(RecordingError):
    """The run did not end: it was killed, or is still going on."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: the run is incomplete: its footer is missing. It was killed or is still going on."
        )


@dataclass(frozen=True, slots=True)
class Recording:
    """The events of a run, and the faults of their file that leave it usable."""

    path: Path
    events: tuple[Event, ...]
    problems: tuple[RecordingError, ...] = ()
    passed_over: int = 0

    @property
    def header(self) -> RunStarted:
        """The first event."""
        first = self.events[0]
        assert isinstance(first, RunStarted)  # noqa: S101 - `read` lets nothing else come first
        return first

    @property
    def complete(self) -> bool:
        """Whether the run ended and the file has all its events."""
        return not self.problems


class EventLog:
    """A listener that appends each event to a new file, with the seconds since it was opened as `at`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened = time.monotonic()
        try:
            self._file: TextIO | None = path.open("x", encoding="ascii")
        except OSError as error:
            raise _cannot_record(path, error) from error

    def __call__(self, event: Event) -> None:
        """Record the event, durably enough to survive the end of this process."""
        if self._file is None or events.is_transient(event):
            return
        form = serialization.to_json(event) | {"at": round(time.monotonic() - self._opened, 3)}
        try:
            self._file.write(json.dumps(form, separators=(",", ":")) + "\n")
            self._file.flush()
        except OSError as error:
            self.close()
            raise _cannot_record(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:
                # What could not be written has been reported by the write; closing tries it once more.
                return


def read(place: Path) -> Recording:
    """Read the recording at a path: the file itself or the folder of its run. Raises RecordingError."""
    path = place / NAME if place.is_dir() else place
    try:
        text = path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoRecording(path) from error
    except UnicodeDecodeError as error:
        raise ForeignFile(path, "it is not even text") from error
    except OSError as error:
        message = f"{path}: can't be read: {error.strerror}."
        raise RecordingError(message) from error
    lines = text.split("\n")
    torn = lines.pop() != ""
    if torn:
        return _read_lines(path, text.split("\n"), torn=True)
    return _read_lines(path, lines, torn=False)


def _read_lines(path: Path, lines: list[str], *, torn: bool) -> Recording:
    if not lines:
        raise NoHeader(path)
    recorded: list[Event] = [_header(path, lines[0])]
    problems: list[RecordingError] = []
    passed_over = 0
    for number, line in enumerate(lines[1:], start=2):
        try:
            recorded.append(serialization.from_line(line))
        except UnknownEvent:
            passed_over += 1
        except EventError as error:
            if not (torn and number == len(lines)):
                raise DamagedLine(path, number, str(error)) from error
            problems.append(TornLastLine(path, number))
    if not isinstance(recorded[-1], RunEnded):
        problems.append(NoFooter(path))
    return Recording(path, tuple(recorded), tuple(problems), passed_over)


def _header(path: Path, line: str) -> Event:
    try:
        form: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        if '{"event":"RunStarted"'.startswith(line[:20]) or line.startswith('{"event":"RunStarted"'):
            raise NoHeader(path) from error
        raise ForeignFile(path, "its first line is no JSON") from error
    kind = form.get("event") if isinstance(form, dict) else None
    if not isinstance(kind, str):
        raise ForeignFile(path, "its first line is no event")
    if kind != serialization.name_of(RunStarted):
        if kind in serialization.TYPES:
            raise NoHeader(path)
        raise ForeignFile(path, f"it begins with {kind[:40]!r}")
    if form.get("format") != serialization.FORMAT:
        raise NewerFormat(path, form.get("format"), form.get("harness"))
    try:
        return serialization.from_json(form)
    except EventError as error:
        raise DamagedLine(path, 1, str(error)) from error


def _cannot_record(path: Path, error: OSError) -> CannotRecord:
    return CannotRecord(
        f"can't write {path}: {error.strerror}. What was found until here is kept in that folder. "
        "Free some space, or give another folder with --out.",
    )
