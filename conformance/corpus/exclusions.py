"""Corpus cases that are wrong or out of scope. `exclusions.toml` names each with its reason, never by pattern."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

FILE = Path(__file__).with_name("exclusions.toml")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What the file says: reasons by (corpus, case, spec), and zones of sessions by (corpus, case)."""

    reasons: Mapping[tuple[str, str, str], str]
    zones: Mapping[tuple[str, str], ZoneInfo]


@cache
def named() -> Exclusion:
    """The committed file."""
    form: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))
    reasons = {
        (each["corpus"], each["case"], each["spec"]): " ".join(str(each["why"]).split())
        for each in form.get("case", [])
    }
    zones = {(each["corpus"], each["case"]): ZoneInfo(each["zone"]) for each in form.get("session", [])}
    return Exclusion(reasons, zones)
