"""Checkpoints that can't be read, since a removed file in them has a null partition value.

Of the map `remove.partitionValues`, an older deltalake says that no value of it is null. A null is then left out of the
values, and not of the keys, so that the column of values is shorter than that of the keys.
"""

from __future__ import annotations

import re

from conformance.findings.predictions.tables import is_unchanged, message_of
from conformance.observations.observation import Observation
from delta_models.log import Snapshot
from delta_models.log.actions import Remove
from delta_models.outcomes import Rejected
from delta_models.requirements import Violation

SHORTER = re.compile(r"Struct child array #1 has length smaller than expected for struct array \((\d+) < (\d+)\)")
UNMASKED = 'Found unmasked nulls for non-nullable StructArray field "value"'


def values_of_removes_are_short(observation: Observation, violation: Violation) -> bool:
    """The values of the map are as many as those of the removed files that are not null, the keys as many as all."""
    told = SHORTER.search(violation.detail)
    if told is None or observation.after is None:
        return False
    values = _values_of_removes(observation.after)
    held = sum(value is not None for value in values)
    return (int(told[1]), int(told[2])) == (held, len(values)) and held < len(values)


def refused_for_a_null_of_a_remove(observation: Observation, _: Violation) -> bool:
    """What reads the removed files is refused in these words, where one of them has a null partition value."""
    before = observation.before
    return (
        before is not None
        and isinstance(observation.outcome, Rejected)
        and UNMASKED in message_of(observation.outcome)
        and None in _values_of_removes(before)
        and is_unchanged(observation)
    )


def _values_of_removes(snapshot: Snapshot) -> list[str | None]:
    removes: list[Remove] = list(snapshot.tombstones.values())
    return [value for remove in removes for value in (remove.partition_values or {}).values()]
