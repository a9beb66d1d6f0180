"""Read the `summary.json` of an earlier run back into values: what a baseline and a comparison need of it.

Older versions wrote fewer members, so each of these has a default. What is damaged raises SummaryError, whose message
says what was found, what was expected and what to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delta_adapters.engine_id import EngineId

FORMAT = 1
NAME = "summary.json"
IDENTIFIED = (
    "new",
    "known",
)  # the states in which a finding's fingerprint is that of its cause or minimal history
GIVE = f"Give the folder of a run, or its {NAME}."


class SummaryError(ValueError):
    """The file is not a summary that this version can read. The message says why."""


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """An engine of the run; `status` is tested or unavailable. `build` is a hash of its content, if one was taken."""

    name: str
    version: str | None
    status: str
    why: str = ""
    build: str = ""

    @property
    def label(self) -> str:
        """The name, with the version if it is known."""
        return str(EngineId(self.name, self.version))


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """A suite of the run, and how much of it was played."""

    name: str
    histories: int
    steps: int
    complete: bool


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """The setting of a claim without versions: what is the same in two runs of two versions of one engine."""

    requirement: str
    role: str
    with_engines: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    processes: str = "one"


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """A claim about the engine of a label, with its evidence. `findings` holds fingerprints."""

    engine: str
    setting: Setting
    strength: str
    verdict: str
    core: bool
    checks: int
    histories: int
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingEntry:
    """A finding as the summary lists it.

    `engine` is the label, with the version. `requirements` are all that it violates, `requirement` is the first of
    them. `histories` counts those in which it occurred. Summaries without that count say 1. `state` is empty in
    summaries of version 0.1.0, whose fingerprints identify no cause.
    """

    fingerprint: str
    engine: str
    requirement: str
    requirements: tuple[str, ...]
    strength: str
    suite: str
    state: str = ""
    cause: str | None = None
    known: bool = False
    promised: bool = True
    reproduced: bool | None = None
    steps: int = 0
    minimal_steps: int | None = None
    times: int = 1
    histories: int = 1
    detail: str = ""
    folder: Path = Path()

    @property
    def engine_name(self) -> str:
        """The name of the engine without its version."""
        return EngineId.parse(self.engine).name

    @property
    def identified(self) -> bool:
        """Whether its cause or its minimal history is known, so that it can be told apart from others."""
        return self.cause is not None or self.state in IDENTIFIED


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The summary of a run, or of several that were merged. `path` is the file that it was read from."""

    path: Path
    harness: str
    profile: str
    seed: int
    storage: str
    runs: int
    verdict: str
    exit: int
    incomplete: tuple[str, ...]
    engines: tuple[EngineEntry, ...]
    suites: tuple[SuiteEntry, ...]
    claims: tuple[ClaimEntry, ...]
    findings: tuple[FindingEntry, ...]


def read_summary(place: Path) -> RunSummary:
    """Read the summary at a path: the file itself, or the folder of its run. Raises SummaryError."""
    path = place / NAME if place.is_dir() else place
    form = _read_json(path)
    found = form.get("format") if isinstance(form, dict) else None
    if not isinstance(form, dict) or "format" not in form or "findings" not in form:
        message = f"{path}: no {NAME} of a run. {GIVE}"
        raise SummaryError(message)
    if found != FORMAT:
        message = f"{path}: format {found!r}, and this version reads {FORMAT}. Use the version that wrote it."
        raise SummaryError(message)
    try:
        return _summary(path, form)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        message = f"{path}: a damaged {NAME}: {what}. Write it again: conformance report {path.parent}"
        raise SummaryError(message) from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        message = f"{path}: no such file. {GIVE}"
        raise SummaryError(message) from error
    except OSError as error:
        message = f"{path}: can't be read: {error.strerror}. {GIVE}"
        raise SummaryError(message) from error
    except (ValueError, RecursionError) as error:
        message = f"{path}: no JSON, so it is cut or no {NAME}. {GIVE}"
        raise SummaryError(message) from error


def _summary(path: Path, form: Mapping[str, Any]) -> RunSummary:
    return RunSummary(
        path=path,
        harness=str(form["harness"]),
        profile=str(form["profile"]),
        seed=int(form["seed"]),
        storage=str(form["storage"]),
        runs=int(form.get("runs", 1)),
        verdict=str(form["verdict"]),
        exit=int(form["exit"]),
        incomplete=_texts(form.get("incomplete", ())),
        engines=tuple(map(_engine, form["engines"])),
        suites=tuple(map(_suite, form["suites"])),
        claims=tuple(map(_claim, form["claims"])),
        findings=tuple(_finding(entry, path.parent) for entry in form["findings"]),
    )


def _engine(form: Mapping[str, Any]) -> EngineEntry:
    version = form.get("version")
    return EngineEntry(
        name=str(form["name"]),
        version=None if version is None else str(version),
        status=str(form["status"]),
        why=str(form.get("why") or ""),
        build=str(form.get("build") or ""),
    )


def _suite(form: Mapping[str, Any]) -> SuiteEntry:
    return SuiteEntry(
        str(form["name"]), int(form["histories"]), int(form["steps"]), bool(form.get("complete", True))
    )


def _claim(form: Mapping[str, Any]) -> ClaimEntry:
    setting = Setting(
        requirement=str(form["requirement"]),
        role=str(form["role"]),
        with_engines=tuple(sorted(EngineId.parse(engine).name for engine in _texts(form.get("with", ())))),
        features=_texts(form.get("features", ())),
        processes=str(form.get("processes", "one")),
    )
    evidence = form["evidence"]
    return ClaimEntry(
        engine=str(form["engine"]),
        setting=setting,
        strength=str(form["class"]),
        verdict=str(form["verdict"]),
        core=bool(form.get("core", False)),
        checks=int(evidence["checks"]),
        histories=int(evidence["histories"]),
        findings=_texts(form.get("findings", ())),
    )


def _finding(form: Mapping[str, Any], home: Path) -> FindingEntry:
    fingerprint, requirement = str(form["fingerprint"]), str(form["requirement"])
    cause = form.get("cause", form.get("deviation"))
    reproduced, minimal = form.get("reproduced"), form.get("minimal_steps")
    return FindingEntry(
        fingerprint=fingerprint,
        engine=str(form["engine"]),
        requirement=requirement,
        requirements=tuple(dict.fromkeys((requirement, *_texts(form.get("requirements", ()))))),
        strength=str(form["class"]),
        suite=str(form.get("suite", "")),
        state=str(form.get("state") or ""),
        cause=None if cause is None else str(cause),
        known=bool(form.get("known", False)),
        promised=bool(form.get("promised", True)),
        reproduced=None if reproduced is None else bool(reproduced),
        steps=int(form.get("steps", 0)),
        minimal_steps=None if minimal is None else int(minimal),
        times=int(form.get("times", 1)),
        histories=int(form.get("histories", 1)),
        detail=str(form.get("detail", "")),
        folder=home / str(form.get("folder") or f"findings/{fingerprint}"),
    )


def _texts(form: Any) -> tuple[str, ...]:
    if not isinstance(form, list | tuple):
        message = f"a list of texts was expected, not {form!r}"
        raise TypeError(message)
    return tuple(map(str, form))
