"""What writing to tables with void columns means: void is always null and never in a file.

Some tables can therefore hold no rows at all.
"""

from __future__ import annotations

from functools import lru_cache

from delta_models.outcomes import Committed
from delta_models.schema import VOID, Array, DataType, Map, Struct
from delta_models.table.expectation import Expectation, expect_refusal
from delta_models.table.state import Table

REFUSALS = ("schema", "bad-argument", "unsupported-feature")


def refuse_void_rows(before: Table, expectation: Expectation) -> Expectation:
    """Return the outcomes of an operation, with a refusal if it would write rows to a table that can hold none."""
    after = expectation.ordinary.table
    if (
        not isinstance(expectation.ordinary.outcome, Committed)
        or _unwritable_reason(after.schema, after.partition_by) is None
    ):
        return expectation
    same = before.exists and before.schema == after.schema
    if not (after.bag - before.bag if same else after.rows):
        return expectation
    return expect_refusal(before, REFUSALS, "outcome.void-refused")


@lru_cache(maxsize=1024)
def _unwritable_reason(schema: Struct, partition_by: tuple[str, ...]) -> str | None:
    """Why a table can hold no rows: void is in an array or a map, or a struct or the table has nothing else."""
    partitioning = {column.casefold() for column in partition_by}
    inside = [field for field in schema if field.name.casefold() not in partitioning]
    if inside and all(column.type == VOID for column in inside):
        return "every column is void"
    return next((reason for column in inside if (reason := _void_inside(column.type))), None)


def _void_inside(data_type: DataType) -> str | None:
    match data_type:
        case Struct(fields=fields):
            if fields and all(field.type == VOID for field in fields):
                return "every field of a struct is void"
            return next((reason for field in fields if (reason := _void_inside(field.type))), None)
        case Array(element=element):
            return _contained(element, "an array")
        case Map(key=key, value=value):
            return _contained(key, "a map") or _contained(value, "a map")
    return None


def _contained(data_type: DataType, where: str) -> str | None:
    return f"{where} holds void" if data_type == VOID else _void_inside(data_type)
