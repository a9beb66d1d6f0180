"""Load the entries of known deviations. Each is a TOML file, with its smallest history as `<name>.history.json`.

requirement = "read.filter"
engine = "delta-rs"
versions = ">=1.6.0,<=1.6.6"
fingerprints = ["9f3c21aa"]  # of its smallest history, and of odd ones
cause = "..."  # prose: what happens, and why as far as that is known
issue = "https://..."  # or "not reported"
expires = 2027-06-30  # from then on it fails runs again, so that a maintainer checks it
trigger = "empty-partition-text"  # of `triggers`: the entry covers only findings in whose history it occurred

[[forms]]  # the other finding keys that it has, each part spelt out: a finite set, no wildcards
requirements = ["read.filter"]
operations = { Read = ["where", "columns"], Delete = [] }  # with any of these options
features = ["1/2", "deletionVectors"]  # any of these
types = ["string partition"]  # all of these
other_types = ["long", "date"]  # and any of these
outcomes = ["answered"]
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "known"
_FINGERPRINT = re.compile(r"[0-9a-f]{8}")
_BOUND = re.compile(r"\s*(>=|<=|==|<|>)\s*(\d+(?:\.\d+)*)\s*")
_TEXTS = ("requirement", "engine", "versions", "cause", "issue")
_KEYS = {*_TEXTS, "fingerprints", "expires", "trigger", "forms"}


class BadDeviation(ValueError):
    """An entry is malformed. The message names the file and the fault."""


@dataclass(frozen=True, slots=True)
class DeviationForm:
    """A finite set of finding keys that a deviation has, with each part spelt out."""

    requirements: tuple[str, ...]
    operations: Mapping[str, frozenset[str]]
    features: frozenset[str]
    types: frozenset[str]
    other_types: frozenset[str]
    outcomes: tuple[str, ...]

    def holds(self, key: Mapping[str, Any]) -> bool:
        """Whether the key of a finding, as JSON, is in this set."""
        types = set(key["types"])
        return (
            key["requirement"] in self.requirements
            and key["operation"] in self.operations
            and set(key["options"]) <= self.operations[key["operation"]]
            and set(key["features"]) <= self.features
            and self.types <= types <= self.types | self.other_types
            and key["outcome"] in self.outcomes
        )


@dataclass(frozen=True, slots=True)
class Deviation:
    """One known deviation, named like its file. `history` is its smallest history, as JSON."""

    name: str
    fingerprints: tuple[str, ...]
    requirement: str
    engine: str
    versions: str
    cause: str
    issue: str
    expires: date
    history: Mapping[str, Any]
    trigger: str | None = None
    forms: tuple[DeviationForm, ...] = ()

    def covers(self, version: str) -> bool:
        """Whether an engine's version lies in the range."""
        return all(_holds(version, *bound) for bound in _bounds(self.versions))

    def expired(self, today: date | None = None) -> bool:
        """Whether it has expired, so that a maintainer must check it again."""
        return (today or datetime.now(UTC).date()) >= self.expires


def load_deviations(folder: Path = FOLDER) -> tuple[Deviation, ...]:
    """Return every entry of a folder, sorted by name. Raises BadDeviation for the first malformed entry."""
    entries = tuple(_load(path) for path in sorted(folder.glob("*.toml")))
    by_key: dict[tuple[str, str, str | None], Deviation] = {}
    for entry in entries:
        for fingerprint in entry.fingerprints:
            other = by_key.setdefault((fingerprint, entry.engine, entry.trigger), entry)
            if other is not entry and other.versions == entry.versions:
                message = f"{entry.name}: {fingerprint} stands in {other.name} as well"
                raise BadDeviation(message)
    return entries


@functools.cache
def all_deviations() -> tuple[Deviation, ...]:
    """Return the entries that come with the project."""
    return load_deviations()


def deviation_named(name: str) -> Deviation | None:
    """Return the entry of a name, even if it has expired. None if there is none."""
    return next((deviation for deviation in all_deviations() if deviation.name == name), None)


def covering_deviation(  # noqa: PLR0917 - the parts of a finding
    fingerprint: str,
    engine: str,
    version: str | None = None,
    today: date | None = None,
    form: Mapping[str, Any] | None = None,
    triggers: Container[str] | None = None,
) -> Deviation | None:
    """Return the entry that covers a finding in a version of an engine, by fingerprint or by key (`form`).

    `triggers` are those that occurred in the finding's history; an entry with another trigger does not cover it. Give
    None if the history is not at hand. Expired entries cover nothing.
    """
    for deviation in all_deviations():
        if deviation.engine != engine:
            continue
        if not (
            fingerprint in deviation.fingerprints
            or (form is not None and any(known_form.holds(form) for known_form in deviation.forms))
        ):
            continue
        if deviation.expired(today) or not (version is None or deviation.covers(version)):
            continue
        if deviation.trigger is None or triggers is None or deviation.trigger in triggers:
            return deviation
    return None


def _load(path: Path) -> Deviation:
    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path}: {error}"
        raise BadDeviation(message) from error
    fault = _fault(form)
    if fault is not None:
        message = f"{path}: {fault}"
        raise BadDeviation(message)
    history_path = path.with_suffix(".history.json")
    try:
        history = json.loads(history_path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{history_path}: {error}"
        raise BadDeviation(message) from error
    return Deviation(
        name=path.stem,
        fingerprints=tuple(form["fingerprints"]),
        requirement=form["requirement"],
        engine=form["engine"],
        versions=form["versions"],
        cause=" ".join(form["cause"].split()),
        issue=form["issue"],
        expires=form["expires"],
        history=history,
        trigger=form.get("trigger"),
        forms=tuple(map(_form, form.get("forms", ()))),
    )


def _form(form: Mapping[str, Any]) -> DeviationForm:
    return DeviationForm(
        requirements=tuple(form["requirements"]),
        operations={name: frozenset(options) for name, options in form["operations"].items()},
        features=frozenset(form["features"]),
        types=frozenset(form["types"]),
        other_types=frozenset(form.get("other_types", ())),
        outcomes=tuple(form["outcomes"]),
    )


def _fault(form: Mapping[str, Any]) -> str | None:
    unknown = sorted(set(form) - _KEYS)
    if unknown:
        return f"unknown keys {', '.join(unknown)}"
    for key in _TEXTS:
        if not isinstance(form.get(key), str) or not form[key].strip():
            return f"{key} is missing or no text"
    if (fault := _fingerprints_fault(form.get("fingerprints"))) is not None:
        return fault
    expires = form.get("expires")
    if not isinstance(expires, date) or isinstance(expires, datetime):
        return "expires is missing or no date"
    if form["issue"] != "not reported" and not form["issue"].startswith("https://"):
        return "issue is a link, or 'not reported'"
    if not isinstance(form.get("trigger", ""), str):
        return "trigger is no text"
    for other_form in form.get("forms", ()):
        if (fault := _form_fault(other_form)) is not None:
            return fault
    try:
        _bounds(form["versions"])
    except ValueError as error:
        return str(error)
    return None


def _fingerprints_fault(fingerprints: Any) -> str | None:
    if not isinstance(fingerprints, list) or not fingerprints:
        return "fingerprints is missing or empty"
    for fingerprint in fingerprints:
        if not isinstance(fingerprint, str) or not _FINGERPRINT.fullmatch(fingerprint):
            return f"{fingerprint!r} is no fingerprint of eight hexadecimal digits"
    if len(set(fingerprints)) != len(fingerprints):
        return "a fingerprint stands there twice"
    return None


def _form_fault(form: Any) -> str | None:
    needed = {"requirements": list, "operations": dict, "features": list, "types": list, "outcomes": list}
    if not isinstance(form, dict):
        return "a form is a table"
    unknown = sorted(set(form) - {*needed, "other_types"})
    if unknown:
        return f"a form with unknown keys {', '.join(unknown)}"
    for key, kind in needed.items():
        if not isinstance(form.get(key), kind):
            return f"a form without {key}"
    not_lists = [options for options in form["operations"].values() if not isinstance(options, list)]
    return f"options are a list, not {not_lists[0]!r}" if not_lists else None


@functools.cache
def _bounds(text: str) -> list[tuple[str, tuple[int, ...]]]:
    bounds = []
    for part in text.split(","):
        match = _BOUND.fullmatch(part)
        if match is None:
            message = f"versions {text!r}: bounds such as >=1.6.0,<1.7 were expected"
            raise ValueError(message)
        bounds.append((match[1], _numbers(match[2])))
    return bounds


def _holds(version: str, operator: str, bound: tuple[int, ...]) -> bool:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    if leading is None:
        return False
    numbers = _numbers(leading[0])
    width = max(len(numbers), len(bound))
    left = numbers + (0,) * (width - len(numbers))
    right = bound + (0,) * (width - len(bound))
    return {
        ">=": left >= right, "<=": left <= right, "==": left == right, "<": left < right, ">": left > right,
    }[operator]  # fmt: skip


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
