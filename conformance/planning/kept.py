"""The chunks of kept histories, which come before those of the profile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.histories import REGRESSIONS, Chunk
from conformance.planning.profile import PlanError
from conformance.suites.kept_histories import BadRegression, KeptHistory, read_kept

DEFAULT_FOLDER = Path("regressions")


def kept_folder(given: Path | None) -> Path | None:
    """The folder of kept histories: the one that was given, or that of the current folder if there is one."""
    return DEFAULT_FOLDER if given is None and DEFAULT_FOLDER.is_dir() else given


def kept_histories(folder: Path | None) -> tuple[KeptHistory, ...]:
    """The histories that a folder keeps; none without a folder. Raises PlanError."""
    if folder is None:
        return ()
    try:
        return read_kept(folder)
    except BadRegression as error:
        raise PlanError(str(error)) from error


def kept_chunks(kept: Sequence[KeptHistory], profile: str, engines: int) -> Iterator[Chunk]:
    """A chunk for each kept history. On a shared table each of the engines takes each slot once."""
    for number, one in enumerate(kept):
        courses = engines if one.kind == "shared" else 1
        yield Chunk(
            REGRESSIONS, profile, number, one.history.seed, courses, len(one.history.steps), tuple(range(courses)),
            table=one.kind,
        )  # fmt: skip
