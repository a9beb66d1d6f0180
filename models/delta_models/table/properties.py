"""What setting and unsetting table properties means."""

from __future__ import annotations

from dataclasses import replace

from delta_models.operations import SetProperties, UnsetProperties
from delta_models.table.expectation import Expectation, rewritten
from delta_models.table.state import Table


def set_properties(table: Table, operation: SetProperties) -> Expectation:
    """Properties get these values, the others stay."""
    properties = tuple(sorted({**dict(table.properties), **dict(operation.properties)}.items()))
    return rewritten(table, replace(table, properties=properties), "contents.set-properties")


def unset_properties(table: Table, operation: UnsetProperties) -> Expectation:
    """Properties lose their values; those that have none are ignored."""
    properties = tuple(each for each in table.properties if each[0] not in operation.keys)
    return rewritten(table, replace(table, properties=properties), "contents.unset-properties")
