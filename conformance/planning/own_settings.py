"""A project's own defaults for runs: the table `[tool.conformance]` of its pyproject.toml.

The paths in it are relative to its folder. What the command line says comes first.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.options import PROFILES, is_file
from conformance.planning.profile import PlanError

FILE, TABLE = "pyproject.toml", "[tool.conformance]"
KEYS = ("baseline", "deviations", "engines", "profile", "regressions")


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """What a project wants where the command line says nothing."""

    engines: tuple[str, ...] = ()
    profile: str | None = None
    baseline: Path | None = None
    deviations: Path | None = None
    regressions: Path | None = None


def own_settings(folder: Path) -> OwnSettings:
    """The settings of the project that a folder belongs to; none without such a table. Raises PlanError."""
    place = next((each for each in (folder, *folder.parents) if (each / FILE).is_file()), None)
    if place is None:
        return OwnSettings()
    path = place / FILE
    try:
        form = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("conformance", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path} can't be read: {error}") from error
    if unknown := sorted(set(form) - set(KEYS)):
        raise PlanError(f"{path}: {TABLE} has unknown {', '.join(unknown)}; it may have {', '.join(KEYS)}")
    return _settings(form, path)


def _settings(form: dict[str, Any], path: Path) -> OwnSettings:
    engines = form.get("engines", [])
    if not isinstance(engines, list) or not all(isinstance(engine, str) for engine in engines):
        raise PlanError(f"{path}: engines of {TABLE} is {engines!r}; a list of texts was expected")
    texts = {key: value for key, value in form.items() if key != "engines"}
    if wrong := [f"{key} is {value!r}" for key, value in texts.items() if not isinstance(value, str)]:
        raise PlanError(f"{path}: of {TABLE} {', '.join(wrong)}; a text was expected")
    profile = texts.get("profile")
    if profile is not None and is_file(profile):
        profile = str(path.parent / profile)
    elif profile is not None and profile not in PROFILES:
        known = ", ".join(PROFILES)
        raise PlanError(f"{path}: no profile {profile!r}; there are {known}, and files that end with .toml")
    paths = {
        key: path.parent / texts[key] for key in ("baseline", "deviations", "regressions") if key in texts
    }
    return OwnSettings(tuple(engines), profile, **paths)
