"""The causes that a run knows: those of the project, and those of a user's own folder, which are checked here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.findings.candidates import triggers_of
from conformance.findings.predictions import DIFFERENCES
from conformance.histories import History
from delta_adapters.deviations import BadCause, Cause, Names, all_causes, load_causes
from delta_models.codec import CodecError
from delta_models.requirements import BY_ID

NAMES = Names(BY_ID, DIFFERENCES)


def catalogue(own: Path | None = None) -> tuple[Cause, ...]:
    """Return the causes of the project, and those of a folder of the user's own.

    Raises BadCause for the first that is malformed, names what there is not, or whose history does not set it off.
    """
    if own is not None:
        for cause in load_causes(own, NAMES):
            for fault in _faults(cause):
                raise BadCause(f"{own / cause.id}.history.json: {fault}")
    return all_causes(own)


def _faults(cause: Cause) -> Iterator[str]:
    try:
        history = History.from_json(cause.history)
    except CodecError as error:
        yield str(error)
        return
    if not history.steps:
        yield "a history without steps shows nothing"
    if cause.trigger is not None and cause.trigger not in triggers_of(history):
        yield f"none of its {len(history.steps)} steps sets off {cause.trigger}, the trigger of {cause.id}"
