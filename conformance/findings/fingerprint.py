"""The key and the fingerprint of a finding: two violations with one key are the same finding.

The key holds the requirement, the engine, the operation with its options, the table features, the types of the columns
involved and the class of the outcome. It holds no text and no number of a run, and there are no wildcards. The
fingerprint is the start of the key's hash; `storage.Collision` guards against two keys that share it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from delta_adapters import capabilities
from delta_adapters.engine_id import EngineId
from delta_models.expressions import columns_of
from delta_models.operations import Append, Merge, Operation, Overwrite, Update
from delta_models.outcomes import Outcome, Rejected
from delta_models.requirements import Violation
from delta_models.schema import Struct
from delta_models.wire_names import name_of

if TYPE_CHECKING:
    from conformance.observations.observation import Observation

DIGITS = 8


@dataclass(frozen=True, slots=True)
class FindingKey:
    """What distinguishes one finding from another."""

    requirement: str
    engine: str
    operation: str
    options: tuple[str, ...]
    features: tuple[str, ...]
    types: tuple[str, ...]
    outcome: str

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits, the same in every process and on every machine."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    def to_json(self) -> dict[str, str | list[str]]:
        """The JSON form, which the fingerprint hashes and finding.json holds."""
        return {
            "requirement": self.requirement,
            "engine": self.engine,
            "operation": self.operation,
            "options": list(self.options),
            "features": list(self.features),
            "types": list(self.types),
            "outcome": self.outcome,
        }


def sighting_id(key: FindingKey, engine: str, candidates: Sequence[str], told: Sequence[str] = ()) -> str:
    """Eight hexadecimal digits: the same for violations with one key, by one version, that the same causes predict.

    What is alike is explained once. Whether it is a finding of its own, triage decides. Of what exact predictions alone
    decide, by the causes that are `told`, no more than the requirement counts.
    """
    form: dict[str, Any] = {"key": key.to_json(), "engine": engine, "candidates": sorted(candidates)}
    if told:
        form = {"requirement": key.requirement, "engine": engine, "told": sorted(told)}
    return hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()[:DIGITS]


def key_of(observation: Observation, violation: Violation) -> FindingKey:
    """The key of a violation in a step. If a read was answered wrongly, that read is the key's operation."""
    snapshot = observation.after or observation.before
    schema = (
        observation.model.schema if observation.model.exists else snapshot.schema if snapshot else Struct()
    )
    partition_by = tuple(observation.model.partition_by) if observation.model.exists else ()
    operation: Operation = violation.read if violation.read is not None else observation.operation
    named = set(violation.columns) or columns_named(operation)
    if not named and isinstance(operation, Append | Overwrite):
        named = set(partition_by)  # the operation names no columns, and only these decide where its rows go
    return FindingKey(
        requirement=violation.requirement,
        engine=EngineId.parse(observation.engine).name,
        operation=name_of(operation),
        options=tuple(sorted((*options_of(operation), *_fault_options(observation)))),
        features=features_of(observation),
        types=types_of(named, schema, partition_by),
        outcome=outcome_class(observation.outcome) if violation.read is None else _answer_class(violation),
    )


def outcome_class(outcome: Outcome | None) -> str:
    """The class of an outcome, with the kind of a rejection, without its message."""
    if outcome is None:
        return "none"
    return f"Rejected({outcome.kind})" if isinstance(outcome, Rejected) else name_of(outcome)


def _answer_class(violation: Violation) -> str:
    return "refused" if violation.requirement == "read.succeeds" else "answered"


def options_of(operation: Operation) -> tuple[str, ...]:
    """The options of an operation, as capability documents name them, and whether it has a predicate."""
    options = set(capabilities.options_of(operation))
    if getattr(operation, "where", None) is not None:
        options.add("where")
    if isinstance(operation, Append | Overwrite) and not operation.rows.rows:
        options.add("no-rows")
    for name in ("feature", "role", "moment", "errno", "how"):
        if getattr(operation, name, None):
            options.add(f"{name}={getattr(operation, name)}")
    return tuple(sorted(options))


def _fault_options(observation: Observation) -> list[str]:
    """The injected fault, or the operations of a race. Which of several equal storage events was hit does not count."""
    if observation.race is not None:
        return [f"at-once={name_of(operation)}" for operation in observation.race.operations] + [
            f"overlap={observation.race.overlap}"
        ]
    fault = observation.fault_context.fault if observation.fault_context is not None else None
    return [] if fault is None else [f"fault={name_of(fault)}", *options_of(fault)]


def columns_named(operation: Operation) -> set[str]:
    """The table's columns that an operation names in predicates and assignments."""
    names: set[str] = set()
    for name in ("where", "on", "check"):
        names |= {column.path[-1] for column in columns_of(getattr(operation, name, None))}
    clauses = operation.clauses if isinstance(operation, Merge) else ()
    assignments = (
        [operation.assignments]
        if isinstance(operation, Update)
        else [clause.assignments for clause in clauses]
    )
    for column, value in (pair for assignment in assignments for pair in assignment):
        names |= {column, *(part.path[-1] for part in columns_of(value))}
    for clause in clauses:
        names |= {part.path[-1] for part in columns_of(clause.condition)}
    return names


def types_of(columns: Iterable[str], schema: Struct, partition_by: tuple[str, ...]) -> tuple[str, ...]:
    """The types of columns, without duplicates. A column that partitions the table is marked."""
    known = {field.name.casefold(): field for field in schema}
    partitioning = {column.casefold() for column in partition_by}
    types = set()
    for name in {column.casefold() for column in columns} & set(known):
        text = _coarse(str(known[name].type))
        types.add(f"{text} partition" if name in partitioning else text)
    return tuple(sorted(types))


def features_of(observation: Observation) -> tuple[str, ...]:
    """The names of the table features before the step, or after it if the step created the table."""
    snapshot = observation.before or observation.after
    if snapshot is None:
        return ()
    protocol = snapshot.protocol
    named = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    return tuple(sorted(named)) or (f"{protocol.min_reader}/{protocol.min_writer}",)


def _coarse(text: str) -> str:
    """The type without the precision of a decimal, so that all decimals are one type."""
    return "decimal" if text.startswith("decimal(") else text
