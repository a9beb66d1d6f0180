"""One adapter for many mutants: the folder above a table says which mutant plays it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from delta_adapters.contract import Answer, Identity, Query
from delta_adapters.reference import Reference
from delta_models.operations import Operation
from delta_models.outcomes import Outcome


class MutantByPath:
    """An adapter that passes everything to the mutant whose class name is a part of the table's path.

    So one host, which takes a while to start, plays all mutants.
    """

    mutants: ClassVar[Mapping[str, type[Reference]]]

    def __init__(self) -> None:
        self.engine = self.mutants["Honest"]()

    @property
    def identity(self) -> Identity:
        return Identity("mutant", "1.0", "https://example.org", "https://example.org/issues")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return Reference().capabilities

    def start(self, work: Path) -> None:
        pass

    def stop(self) -> None:
        pass

    def open(self, location: str) -> None:
        self.engine = next(self.mutants[part]() for part in Path(location).parts if part in self.mutants)
        self.engine.open(location)

    def execute(self, operation: Operation, tag: str) -> Outcome:
        return self.engine.execute(operation, tag)

    def read(self, read: Query) -> Answer | Outcome:
        return self.engine.read(read)
