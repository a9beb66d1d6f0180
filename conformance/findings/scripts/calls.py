"""What the API of an engine must offer to be written as a script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from delta_models import operations as ops
from delta_models.schema import Struct
from delta_models.values import Rows


def joined(before: str, lines: list[str], after: str = "") -> list[str]:
    """The lines of an expression, with text before the first and after the last."""
    if len(lines) == 1:
        return [f"{before}{lines[0]}{after}"]
    return [f"{before}{lines[0]}", *lines[1:-1], f"{lines[-1]}{after}"]


class Calls(ABC):
    """One engine's API. It keeps the schemas that a script has named, and the steps whose version or time it needs."""

    engine: ClassVar[str]
    package: ClassVar[str]
    imports: ClassVar[Sequence[tuple[str, tuple[str, ...]]]]
    refusals: ClassVar[str]  # the exception that all refusals are
    reads_after_commit: ClassVar[bool] = False  # so that it may fail after it has committed

    def __init__(self, *, has_vectors: bool = False, shares: bool = False) -> None:
        self.has_vectors = has_vectors
        self.shares = shares  # with another engine's calls, so that names must differ
        self.versions_needed: set[int] = set()
        self.times_needed: set[int] = set()
        self._schemas: dict[str, str] = {}
        self._new: list[str] = []

    def schema_name(self, schema: Struct) -> str:
        """The name of a schema in the script."""
        lines = self.schema_definition(schema)
        text = "\n".join(lines)
        name = self._schemas.get(text)
        if name is None:
            name = f"schema{len(self._schemas) + 1 if self._schemas else ''}"
            self._schemas[text] = name
            self._new += joined(f"{name} = ", lines)
        return name

    def new_definitions(self) -> list[str]:
        """The lines of the schemas that were named since the last call."""
        lines, self._new = self._new, []
        return lines

    def version_after(self, step: int) -> str:
        """The variable that holds the version after a step."""
        self.versions_needed.add(step)
        return f"version_{step}"

    def time_after(self, step: int) -> str:
        """The variable that holds the time after a step."""
        self.times_needed.add(step)
        return f"time_{step}"

    @abstractmethod
    def requirements(self, version: str | None) -> tuple[str, ...]:
        """The packages to install."""

    @abstractmethod
    def setup(self) -> list[str]:
        """The lines that start the engine."""

    @abstractmethod
    def version(self) -> str:
        """An expression of the newest version."""

    @abstractmethod
    def handle(self) -> str:
        """An expression of a handle of the table as it is now."""

    @abstractmethod
    def statements(self, operation: ops.Operation, schema: Struct, handle: str = ...) -> list[str]:
        """The lines that perform an operation on a table of this schema. Raises NotPrintable."""

    @abstractmethod
    def answer(self, read: ops.Read, schema: Struct) -> list[str]:
        """The lines that leave the answer to a read in `answer`."""

    @abstractmethod
    def names(self, read: ops.Read, schema: Struct) -> list[str]:
        """The lines that leave the names of the columns of an answer in `found`."""

    @abstractmethod
    def rows_of(self, schema: Struct) -> str:
        """The function `rows`, which makes rows comparable."""

    @abstractmethod
    def expected(self, rows: Rows) -> list[str]:
        """The lines that leave the rows which a read must return in `expected`."""

    @abstractmethod
    def comparison(self) -> tuple[str, str]:
        """Two expressions that are equal if the answer is right."""

    @abstractmethod
    def changes(self, query: ops.ReadChanges) -> list[str]:
        """The lines that leave a change feed as a list of dictionaries in `answer`."""

    @abstractmethod
    def history(self) -> list[str]:
        """The lines that leave the history as a list of dictionaries in `answer`."""

    @abstractmethod
    def schema_definition(self, schema: Struct) -> list[str]:
        """The lines of a schema."""
