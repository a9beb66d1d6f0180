"""Adapters that claim little, to test that they are asked for no more."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from delta_adapters.contract import Answer, Identity, Query
from delta_adapters.reference import Reference
from delta_models.operations import Append, Create, Operation, Read
from delta_models.outcomes import Outcome


class OnlyAppends(Reference):
    """Creates, appends and reads whole tables; whatever else it is asked is an error."""

    CLAIMED: ClassVar[Mapping[str, Any]] = {
        "format": 1,
        "operations": {"Create": {}, "Append": {}, "Read": {}},
        "types": {"data": ["long"], "partition": []},
        "features": {"read": [], "write": []},
        "storages": ["local"],
        "guarantees": {"commits-of-several-processes-on-local-files": False},
    }

    @property
    def identity(self) -> Identity:
        return Identity("small", "1.0", "https://example.org", "https://example.org/issues")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self.CLAIMED

    def execute(self, operation: Operation, tag: str) -> Outcome:
        if not isinstance(operation, Create | Append):
            raise NotImplementedError(type(operation).__name__)
        return super().execute(operation, tag)

    def read(self, read: Query) -> Answer | Outcome:
        if read != Read():
            raise NotImplementedError(repr(read))
        return super().read(read)


class NeverCreates(OnlyAppends):
    """Claims to append to tables that others make."""

    CLAIMED: ClassVar[Mapping[str, Any]] = {**OnlyAppends.CLAIMED, "operations": {"Append": {}, "Read": {}}}


class MisreadsAll(OnlyAppends):
    """Reads other rows than were appended."""

    def read(self, read: Query) -> Answer | Outcome:
        return Answer(pa.table({"id": pa.array([7]), "amount": pa.array([7])}), 1)


class ClaimsFilters(OnlyAppends):
    """Claims filters, and reads the whole table."""

    CLAIMED: ClassVar[Mapping[str, Any]] = {
        **OnlyAppends.CLAIMED,
        "operations": {**OnlyAppends.CLAIMED["operations"], "Read": {"options": ["where"]}},
    }

    def read(self, read: Query) -> Answer | Outcome:
        return super().read(Read())
