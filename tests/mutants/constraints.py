"""Mutants that store constraints in SQL of their own."""

from __future__ import annotations

import re

from delta_adapters.reference import Reference, actions
from delta_models import operations as ops
from delta_models.expressions import Column
from delta_models.expressions import Literal as Constant
from delta_models.schema import BINARY, TIMESTAMP, struct
from tests.mutants import stories
from tests.mutants.registry import trips

SCHEMA = struct(("at", TIMESTAMP), ("bytes", BINARY))
OF_TIME = (
    ops.Create(SCHEMA),
    ops.AddConstraint("young", stories.compare(Column(("at",)), ">", Constant(TIMESTAMP, 0))),
)
OF_BYTES = (
    ops.Create(SCHEMA),
    ops.AddConstraint("one", stories.compare(Column(("bytes",)), "=", Constant(BINARY, b"\x00\xff"))),
)


class WritesConstraints(Reference):
    """Changes the texts of constraints by `written`, which a mutant defines."""

    def publish(self, version: int, forms: list[actions.Form]) -> None:
        for form in forms:
            configuration = form.get("metaData", {}).get("configuration", {})
            for key in [key for key in configuration if key.startswith("delta.constraints.")]:
                configuration[key] = self.written(configuration[key])
        super().publish(version, forms)

    def written(self, text: str) -> str:
        raise NotImplementedError


@trips("write.constraint-understood", OF_TIME)
class CastsByItsOwnFunction(WritesConstraints):
    """A constraint is stored with a function that no other engine knows."""

    def written(self, text: str) -> str:
        return re.sub(r"CAST\(('[^']*') AS (\w+)\)", r"own_cast(\1, '\2')", text)


@trips("write.constraint-understood", OF_BYTES)
class DecodesFromHex(WritesConstraints):
    """A constraint is stored with a charset that no other engine knows."""

    def written(self, text: str) -> str:
        return re.sub(r"X'([0-9a-f]*)'", r"decode('\1', 'hex')", text)


@trips("write.constraint-understood", OF_TIME)
class NamesColumnsInDoubleQuotes(WritesConstraints):
    """A constraint is stored with columns in double quotes, which other engines take for texts."""

    def written(self, text: str) -> str:
        return text.replace("`", '"')
