"""The folder of a finding: written whole or not at all, and read with one exception for each fault.

findings/<fingerprint>/
    README.md            what happened, and how to see it again
    finding.json         the requirement, the engine, the step, what was expected and what was observed
    history.json         the steps as they were played, with a format version
    minimal.json         the smallest history that shows the same, once there is one
    table-before/        the table as it stood before the failing step, if it is small
    script_<engine>.py   the same history for one engine alone

A sighting has a folder of the same form below `sightings/`. Format 1 is from before sightings: the key alone gives the
fingerprint. Format 2 adds what triage found out.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.findings.fingerprint import FindingKey, sighting_id
from conformance.histories import History
from delta_models.codec import CodecError, decode, encode
from delta_models.operations import Read

FORMAT = 2
BEFORE_TRIAGE = 1
MINIMAL = "minimal.json"
FINDINGS, SIGHTINGS = "findings", "sightings"
STATES = ("new", "known", "unexplained", "unstable")
MOST_FILES = 400
MOST_BYTES = 4_000_000


class FindingError(Exception):
    """A finding could not be read or written."""


class NotAFinding(FindingError):
    """The path is not the folder of a finding."""


class MissingPart(FindingError):
    """A file of the finding's folder is missing."""


class BrokenPart(FindingError):
    """A file of the finding's folder can't be read or does not fit the format."""


class OtherFormat(FindingError):
    """The finding has a format that this version of the harness does not know."""


class WrongFingerprint(FindingError):
    """The finding's key does not give its fingerprint, so somebody changed one of them by hand."""


class Collision(FindingError):
    """Two different findings share a fingerprint."""


class NotWritten(FindingError):
    """The file system refused to store the finding: it is full or read-only, or something is in the way."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a requirement, with all that a replay needs.

    `step` is the number of the first divergent step and `action` describes it. `detail` says what was expected and what
    was observed. `slots` binds the slots of a shared history to engines. `look` is the read that was answered wrongly,
    if there is one. `versions` holds the version of the harness and the spec of each engine. `processes` says in how
    many processes the writers ran, and whether they took turns. Each line of `timeline` says which writer of a race
    passed which gate.

    What triage adds: `state` is one of `STATES`, or empty in a finding of format 1. `cause` names the cause that
    explains it. `requirements` are all that the minimal history violates. `minimal` is the minimal history, which fails
    at `minimal_step` with `minimal_detail`. `reproduced` is None as long as nobody played the history again. `sighting`
    is the id of the sighting that it was made of, and `candidates` are the causes that predict it. `told` are
    those of them whose exact predictions alone decide. Without a `fingerprint` the key's counts.
    """

    key: FindingKey
    strength: str
    engine: str
    role: str
    step: int
    action: str
    detail: str
    history: History
    where: str = ""
    known: bool = False
    slots: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    table_before: str = ""
    look: Read | None = None
    processes: str = "one"
    timeline: tuple[str, ...] = ()
    fingerprint: str = ""
    state: str = ""
    cause: str | None = None
    requirements: tuple[str, ...] = ()
    minimal: History | None = None
    minimal_step: int | None = None
    minimal_detail: str = ""
    reproduced: bool | None = None
    sighting: str = ""
    candidates: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Take the key's fingerprint if none is given."""
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", self.key.fingerprint)

    @property
    def folder(self) -> str:
        """Where a run keeps it, below its own folder. What has no name but its sighting's stays where that is."""
        return f"{SIGHTINGS if self.fingerprint == self.sighting else FINDINGS}/{self.fingerprint}"

    @property
    def suite(self) -> str:
        """The suite that drew the history."""
        return self.history.suite

    def to_json(self) -> dict[str, Any]:
        """The content of finding.json. The histories have files of their own."""
        form = {
            "format": FORMAT if self.state else BEFORE_TRIAGE,
            "fingerprint": self.fingerprint,
            "key": self.key.to_json(),
            "strength": self.strength,
            "engine": self.engine,
            "role": self.role,
            "suite": self.history.suite,
            "profile": self.history.profile,
            "chunk": self.history.chunk,
            "seed": self.history.seed,
            "step": self.step,
            "action": self.action,
            "detail": self.detail,
            "where": self.where,
            "known": self.known,
            "slots": dict(self.slots),
            "versions": dict(self.versions),
            "table_before": self.table_before,
            "look": encode(self.look),
            "processes": self.processes,
            "timeline": list(self.timeline),
        }
        if not self.state:
            return form
        return form | {
            "state": self.state,
            "cause": self.cause,
            "requirements": list(self.requirements),
            "minimal_step": self.minimal_step,
            "minimal_detail": self.minimal_detail,
            "reproduced": self.reproduced,
            "sighting": self.sighting,
            "candidates": list(self.candidates),
            "told": list(self.told),
        }

    @property
    def rank(self) -> tuple[bool, int, int]:
        """What decides which of two folders stays: new goes before known, then the shorter history."""
        return (self.known, self.step if self.minimal is None else len(self.minimal.steps), self.step)


def write_finding(
    root: Path,
    finding: Finding,
    parts: Mapping[str, str],
    table: Path | None = None,
    version: int | None = None,
) -> Path:
    """Write a finding's folder below `root` and return it. Raises NotWritten and Collision.

    `parts` are further files by name (scripts, README). `table` is the folder of the table after the step. `version` is
    the table's version before the step, None if there was no table. If the finding has a folder already, the shorter
    history stays; but a new finding replaces a known one.
    """
    target = root / finding.fingerprint
    try:
        root.mkdir(parents=True, exist_ok=True)
        if target.exists():
            present = load_finding(target)
            if _identity(present) != _identity(finding):
                message = (
                    f"{target}: {_identity(present)} and {_identity(finding)} share a fingerprint; report this to the "
                    "project"
                )
                raise Collision(message)
            if present.rank <= finding.rank:
                return target
        making = Path(tempfile.mkdtemp(prefix=f".{finding.fingerprint}-", dir=root))
        try:
            _fill(making, finding, parts, table, version)
            _put_in_place(making, target)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as error:
        message = f"finding {finding.fingerprint} could not be kept in {root}: {error.strerror or error}"
        raise NotWritten(message) from error
    return target


def update_finding(folder: Path, finding: Finding, parts: Mapping[str, str]) -> None:
    """Write a finding that was found out more about into the folder that it has, one whole file after another.

    The original history stays as it is, and `finding.json` comes last. Raises NotWritten.
    """
    texts = {**parts, **_texts(finding)}
    texts["finding.json"] = texts.pop("finding.json")
    del texts["history.json"]
    for name, text in texts.items():
        beside = folder / f".{name}.{os.getpid()}"
        try:
            beside.write_text(text, encoding="utf-8", errors="backslashreplace")
            beside.replace(folder / name)
        except OSError as error:
            message = f"{folder / name} could not be written: {error.strerror or error}"
            raise NotWritten(message) from error


def load_finding(path: Path) -> Finding:
    """Read the finding in a folder. Raises a subclass of FindingError that says what is wrong."""
    folder = path.parent if path.name in {"finding.json", "history.json"} else path
    if not folder.is_dir():
        message = f"{path}: no such folder; a finding is a folder such as findings/9f3c21aa"
        raise NotAFinding(message)
    if not (folder / "finding.json").exists() and not (folder / "history.json").exists():
        message = f"{path}: neither finding.json nor history.json in it, so it is no finding"
        raise NotAFinding(message)
    form = _read_json(folder / "finding.json")
    if form.get("format") not in {BEFORE_TRIAGE, FORMAT}:
        message = f"{folder}/finding.json: format {form.get('format')!r}, this version reads 1 and {FORMAT}"
        raise OtherFormat(message)
    history = _read_history(folder / "history.json")
    minimal = _read_history(folder / MINIMAL) if (folder / MINIMAL).exists() else None
    try:
        finding = _from_json(form, history, minimal)
    except (KeyError, TypeError, ValueError) as error:
        message = f"{folder}/finding.json: {type(error).__name__}: {error}"
        raise BrokenPart(message) from error
    if not finding.state and finding.fingerprint != finding.key.fingerprint:
        message = (
            f"{folder}/finding.json: its key gives {finding.key.fingerprint}, it says {finding.fingerprint}"
        )
        raise WrongFingerprint(message)
    sighting = sighting_id(finding.key, finding.engine, finding.candidates, finding.told)
    if finding.state in {"unexplained", "unstable"} and {finding.fingerprint, finding.sighting} != {sighting}:
        message = (
            f"{folder}/finding.json: its key gives the sighting {sighting}, it says {finding.fingerprint}"
        )
        raise WrongFingerprint(message)
    return finding


def _identity(finding: Finding) -> tuple[object, ...]:
    """What two folders of one fingerprint must have in common: the cause, the requirement, or what was sighted."""
    if finding.cause is not None:
        return (finding.key.engine, finding.cause)
    if finding.minimal is not None:
        return (finding.key.engine, finding.key.requirement)
    if finding.told:
        return (finding.key.engine, finding.key.requirement, finding.told)
    return (finding.key, finding.candidates)


def _read_history(path: Path) -> History:
    try:
        return History.from_json(_read_json(path))
    except CodecError as error:
        message = f"{path}: {error}"
        raise BrokenPart(message) from error


def _from_json(form: Mapping[str, Any], history: History, minimal: History | None) -> Finding:
    key = form["key"]
    state, reproduced, step = form.get("state", ""), form.get("reproduced"), form.get("minimal_step")
    if form["format"] == FORMAT and state not in STATES:
        message = f"state {state!r}; one of {', '.join(STATES)} was expected"
        raise ValueError(message)
    return Finding(
        key=FindingKey(
            requirement=str(key["requirement"]),
            engine=str(key["engine"]),
            operation=str(key["operation"]),
            options=tuple(key["options"]),
            features=tuple(key["features"]),
            types=tuple(key["types"]),
            outcome=str(key["outcome"]),
        ),
        strength=str(form["strength"]),
        engine=str(form["engine"]),
        role=str(form["role"]),
        step=int(form["step"]),
        action=str(form["action"]),
        detail=str(form["detail"]),
        history=history,
        where=str(form.get("where", "")),
        known=bool(form.get("known", False)),
        slots=dict(form.get("slots", {})),
        versions=dict(form.get("versions", {})),
        table_before=str(form.get("table_before", "")),
        look=decode(form["look"]) if form.get("look") is not None else None,
        processes=str(form.get("processes", "one")),
        timeline=tuple(form.get("timeline", ())),
        fingerprint=str(form["fingerprint"]),
        state=str(state),
        cause=None if form.get("cause") is None else str(form["cause"]),
        requirements=tuple(form.get("requirements", ())),
        minimal=minimal,
        minimal_step=None if step is None else int(step),
        minimal_detail=str(form.get("minimal_detail", "")),
        reproduced=None if reproduced is None else bool(reproduced),
        sighting=str(form.get("sighting", "")),
        candidates=tuple(form.get("candidates", ())),
        told=tuple(form.get("told", ())),
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        message = f"{path}: not there"
        raise MissingPart(message) from error
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: can't be read: {error}"
        raise BrokenPart(message) from error
    except json.JSONDecodeError as error:
        message = f"{path}: no JSON: {error}"
        raise BrokenPart(message) from error
    if not isinstance(form, dict):
        message = f"{path}: an object is expected, not {type(form).__name__}"
        raise BrokenPart(message)
    return form


def _fill(
    folder: Path, finding: Finding, parts: Mapping[str, str], table: Path | None, version: int | None
) -> None:
    kept = copy_table(table, version, folder / "table-before") if table is not None else ""
    finding = replace(finding, table_before=kept)
    for name, text in {**_texts(finding), **parts}.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    folder.chmod(0o755)


def _texts(finding: Finding) -> dict[str, str]:
    """The files that hold the finding itself."""
    texts = {
        "finding.json": json.dumps(finding.to_json(), indent=2) + "\n",
        "history.json": json.dumps(finding.history.to_json(), indent=1) + "\n",
    }
    if finding.minimal is not None:
        texts[MINIMAL] = json.dumps(finding.minimal.to_json(), indent=1) + "\n"
    return texts


def _put_in_place(making: Path, target: Path) -> None:
    """Rename into place; a longer history there is moved aside first, so that readers see one or the other."""
    if target.exists():
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
        target.rename(aside / "old")
        making.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
        return
    try:
        making.rename(target)
    except OSError:
        if not target.exists():
            raise  # not the loser of a race for the same finding


def copy_table(table: Path, version: int | None, target: Path) -> str:
    """Copy a table as of a version, without later files of the log; return what was copied, or why nothing was.

    Data files never change in place, so those that later versions added do no harm.
    """
    log = table / "_delta_log"
    if version is None:
        return "there was no table before the step"
    if not log.is_dir():
        return "not kept: the log is gone"
    files = sorted(path for path in table.rglob("*") if path.is_file() and not _later(path, log, version))
    total = sum(file.stat().st_size for file in files)
    if len(files) > MOST_FILES or total > MOST_BYTES:
        return f"not kept: {len(files)} files, {total} bytes"
    for file in files:
        copy = target / file.relative_to(table)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    return f"version {version}"


def _later(file: Path, log: Path, version: int) -> bool:
    if log not in file.parents:
        return False
    digits = file.name.lstrip(".").partition(".")[0]
    if digits.isdigit():
        return int(digits) > version
    if file.name.lstrip(".").startswith("_last_checkpoint"):
        return not _hint_within(log / "_last_checkpoint", version)
    return False


def _hint_within(hint: Path, version: int) -> bool:
    try:
        return int(json.loads(hint.read_text(encoding="utf-8"))["version"]) <= version
    except (OSError, ValueError, KeyError, TypeError):
        return True  # whatever it is, it was not written by a later step
