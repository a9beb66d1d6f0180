"""The identity of an engine: its name and its version, as events, findings and reports write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class EngineId:
    """An engine's name and version, written `delta-rs@1.6.6`; without a known version `delta-rs`."""

    name: str
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Split `name@version`; the version is None if the text has none."""
        name, _, version = text.partition("@")
        return cls(name, version or None)

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name
