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
class Exclusions:
    """The reasons by corpus, case and spec, and the time zones of sessions by corpus and case."""

    reasons: Mapping[tuple[str, str, str], str]
    zones: Mapping[tuple[str, str], ZoneInfo]


@cache
def load_exclusions() -> Exclusions:
    """Load `exclusions.toml`."""
    form: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))
    reasons = {
        (case["corpus"], case["case"], case["spec"]): " ".join(str(case["why"]).split())
        for case in form.get("case", [])
    }
    zones = {(case["corpus"], case["case"]): ZoneInfo(case["zone"]) for case in form.get("session", [])}
    return Exclusions(reasons, zones)
