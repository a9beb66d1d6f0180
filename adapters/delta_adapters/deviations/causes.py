"""Load causes: what released engines do wrong. Each is a TOML file, with its minimal history as `<id>.history.json`.

engine = "delta-rs"
summary = "A filter does not see NaN."  # one plain sentence for somebody who has never heard of it
requirement = "read.filter"  # what the minimal history violates
trigger = "nan"  # of `triggers`: without it the cause explains nothing
issue = "https://..."  # or "not reported"
cause = "..."  # prose: what happens, and why as far as that is known
slots = { A = "delta-spark", B = "delta-rs" }  # who sits at the table of its minimal history, if that is shared
shown_in = "1.5.0"  # a released version that shows it, if the installed one does not; it decides nothing in a run
unsteady = true  # a clock, or an order that varies, decides whether it shows; false if left out

[[predictions]]  # the violations that it explains, and no others
requirements = ["read.filter"]
difference = "nan-read-as-the-bound"  # the wrong answer itself, of `conformance.findings.predictions`

docs/writing-a-cause.md says how to write one.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from delta_adapters.deviations.triggers import TRIGGERS

FOLDER = Path(__file__).parent / "known"
NOT_REPORTED = "not reported"
_TEXTS = ("engine", "summary", "requirement", "issue", "cause")
_KEYS = (*_TEXTS, "trigger", "slots", "shown_in", "unsteady", "predictions")
_PREDICTION_KEYS = ("requirements", "difference")
_VERSION = re.compile(r"\d+(\.\d+)+")
_REQUIREMENT = re.compile(r"[a-z]+(\.[a-z0-9-]+)+")


class BadCause(ValueError):
    """The file of a cause is malformed. The message names the file, the fault and what was meant."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a cause predicts: that one of these requirements is violated, by this difference if one is named."""

    requirements: tuple[str, ...]
    difference: str | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """What an engine does wrong. `id` is the name of its file, `history` its minimal history as JSON.

    `requirement` is what the minimal history violates. If that is on a shared table, `slots` says which engine has
    which slot. If the cause is `unsteady`, a clock or an order that varies decides whether it shows. `shown_in` is a
    released version that shows it, if the installed one does not: for the doctor and for tests, never for a verdict.
    """

    id: str
    engine: str
    summary: str
    cause: str
    issue: str
    requirement: str
    predictions: tuple[Prediction, ...]
    history: Mapping[str, Any]
    trigger: str | None = None
    unsteady: bool = False
    slots: Mapping[str, str] = field(default_factory=dict)
    shown_in: str = ""

    @property
    def spec(self) -> str:
        """The text that names a build which shows it: the installed engine, or the version `shown_in`."""
        return f"{self.engine}@{self.shown_in}" if self.shown_in else self.engine

    @property
    def requirements(self) -> tuple[str, ...]:
        """All requirements that it predicts to be violated, in order."""
        return tuple(
            dict.fromkeys(name for prediction in self.predictions for name in prediction.requirements)
        )


@dataclass(frozen=True, slots=True)
class Names:
    """The requirements and differences that there are. The harness knows them; a cause may use no others."""

    requirements: Collection[str]
    differences: Collection[str]


@functools.cache
def all_causes(folder: Path | None = None) -> tuple[Cause, ...]:
    """Return the causes that come with the project, and those of a folder of the user's own. Raises BadCause."""
    own = () if folder is None else load_causes(folder)
    known = load_causes(FOLDER)
    twice = sorted({cause.id for cause in known} & {cause.id for cause in own})
    if twice:
        message = f"{folder}/{twice[0]}.toml: a cause of this name comes with the project; give yours another"
        raise BadCause(message)
    return (*known, *own)


def cause_named(name: str, folder: Path | None = None) -> Cause | None:
    """Return the cause of a name; None if there is none."""
    return next((cause for cause in all_causes(folder) if cause.id == name), None)


def load_causes(folder: Path, names: Names | None = None) -> tuple[Cause, ...]:
    """Return every cause of a folder, sorted by name. Raises BadCause for the first malformed one.

    With `names`, its requirements and differences must be among them.
    """
    if not folder.is_dir():
        message = (
            f"{folder}: no such folder; one with files of causes (NAME.toml, NAME.history.json) is expected"
        )
        raise BadCause(message)
    return tuple(_load(path, names) for path in sorted(folder.glob("*.toml")))


def _load(path: Path, names: Names | None) -> Cause:
    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path}: {error}"
        raise BadCause(message) from error
    fault = next(_faults(form, names), None)
    if fault is not None:
        message = f"{path}: {fault}"
        raise BadCause(message)
    return Cause(
        id=path.stem,
        engine=form["engine"],
        summary=_one_line(form["summary"]),
        cause=_one_line(form["cause"]),
        issue=form["issue"],
        requirement=form["requirement"],
        predictions=tuple(
            Prediction(tuple(part["requirements"]), part.get("difference")) for part in form["predictions"]
        ),
        history=_history(path.with_suffix(".history.json")),
        trigger=form.get("trigger"),
        unsteady=form.get("unsteady", False),
        slots=form.get("slots", {}),
        shown_in=form.get("shown_in", ""),
    )


def _history(path: Path) -> Mapping[str, Any]:
    try:
        history = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        message = (
            f"{path}: not there; a cause needs its minimal history, such as the history.json of a finding"
        )
        raise BadCause(message) from error
    except (OSError, ValueError) as error:
        message = f"{path}: {error}"
        raise BadCause(message) from error
    if not isinstance(history, dict):
        message = f"{path}: an object is expected, not {type(history).__name__}"
        raise BadCause(message)
    return history


def _faults(form: Mapping[str, Any], names: Names | None) -> Iterator[str]:
    """Yield what is wrong with the form of a cause."""
    yield from (_unknown("key", key, _KEYS) for key in form if key not in _KEYS)
    for key in _TEXTS:
        if not isinstance(form.get(key), str) or not form[key].strip():
            yield f"{key} is missing or no text"
    if form["issue"] != NOT_REPORTED and not form["issue"].startswith("https://"):
        yield f"issue is {form['issue']!r}; a link (https://...) or {NOT_REPORTED!r} is expected"
    trigger = form.get("trigger")
    if trigger is not None and trigger not in TRIGGERS:
        yield _unknown("trigger", trigger, TRIGGERS)
    if not isinstance(form.get("unsteady", False), bool):
        yield f"unsteady is {form['unsteady']!r}; true or false is expected"
    version = form.get("shown_in", "1.0")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        yield f"shown_in is {version!r}; a version such as 1.5.0 is expected"
    slots = form.get("slots", {})
    if not isinstance(slots, dict) or not all(isinstance(engine, str) for engine in slots.values()):
        yield f"slots are {slots!r}; a table of slots and engines is expected"
    elif slots and form["engine"] not in slots.values():
        yield f"slots are {slots!r}; {form['engine']} has none of them"
    yield from _requirement_faults([form["requirement"]], names)
    predictions = form.get("predictions")
    if not isinstance(predictions, list) or not predictions:
        yield "predictions are missing; at least one [[predictions]] with requirements is expected"
        return
    for prediction in predictions:
        yield from _prediction_faults(prediction, names)
    if not any(form["requirement"] in prediction["requirements"] for prediction in predictions):
        yield f"no prediction names {form['requirement']}, which its minimal history violates"


def _prediction_faults(prediction: Any, names: Names | None) -> Iterator[str]:
    if not isinstance(prediction, dict):
        yield f"a prediction is a table ([[predictions]]), not {prediction!r}"
        return
    yield from (
        _unknown("key of a prediction", key, _PREDICTION_KEYS)
        for key in prediction
        if key not in _PREDICTION_KEYS
    )
    requirements = prediction.get("requirements")
    if not isinstance(requirements, list) or not requirements:
        yield "a prediction without requirements; a list of them is expected"
        return
    yield from _requirement_faults(requirements, names)
    difference = prediction.get("difference")
    if difference is not None and not isinstance(difference, str):
        yield f"difference is {difference!r}; the name of one is expected"
    if isinstance(difference, str) and names is not None and difference not in names.differences:
        yield _unknown("difference", difference, names.differences)


def _requirement_faults(requirements: Iterable[Any], names: Names | None) -> Iterator[str]:
    for requirement in requirements:
        if not isinstance(requirement, str) or not _REQUIREMENT.fullmatch(requirement):
            yield f"{requirement!r} is no requirement; one such as read.filter is expected"
        elif names is not None and requirement not in names.requirements:
            yield _unknown("requirement", requirement, names.requirements)


def _unknown(kind: str, name: Any, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name), list(known), n=1)
    meant = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(sorted(known))}"
    return f"unknown {kind} {name!r}{meant}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
