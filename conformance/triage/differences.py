"""The class of a difference: what a smaller history must have in common with the one that it was made of.

The requirement alone is too little: a writer may break it in several ways, and a shrinker that knows no more slips from
one fault to another. The class also says who is charged, what kind of difference it is, and which types it concerns.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from conformance.execution.step_result import StepResult
from conformance.observations.observation import Observation
from delta_models.concurrency import ANOMALIES
from delta_models.operations import Operation
from delta_models.outcomes import Outcome, Rejected
from delta_models.requirements import BY_ID, Violation
from delta_models.schema import Array, DataType, DecimalType, Map, Primitive, Struct
from delta_models.wire_names import name_of

ROWS_MISSING = "rows missing"
ROWS_ADDED = "rows added"
ROWS_DIFFER = "other rows"
COLUMNS = "other columns"
TOO_LOW, TOO_HIGH = "too low", "too high"

_COUNT = re.compile(
    r"(?:^|: )(?P<got>\d+) rows(?: instead of (?P<wanted>\d+))?; (?P<rest>missing|not expected) "
)
_SAID = re.compile(r"is said to be (?P<said>.+), it is (?P<true>.+)$", re.DOTALL)
_NULLS = re.compile(r"nullCount is (?P<said>\d+).*there are (?P<true>\d+) nulls")
_RECORDS = re.compile(r"numRecords is (?P<said>\d+), the file has (?P<true>\d+) rows")
_VERSIONS = re.compile(r"adds (?P<wanted>\d+)(?: to \d+)?.* versions, but added (?P<got>\d+)$", re.DOTALL)
_CODE = re.compile(r"\[([A-Z][A-Z0-9_.]{5,})\]")
_DATA = re.compile(r"""["'`(\[{<=/%\d]""")
_FILE = re.compile(r"^.*\.(?:parquet|json|crc|bin): (?:[^:]*: )?(?=\w)")
_COLUMN = re.compile(r"^[^:]*: (?=the minimum|the maximum|nullCount|wide nullCount)")
_WORD = re.compile(r"[^\W\d_][\w.]*")
_WORDS = 6
_REFUSED_AT_ONCE = re.compile(r" was rejected \((?P<kind>[^)]*)\)")
_FAMILIES = {"byte": "whole number", "short": "whole number", "integer": "whole number", "long": "whole number",
             "float": "floating point", "double": "floating point"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DifferenceClass:
    """What the differences of one fault have in common.

    `types` are those of the columns that the violation names, coarsely. `race` says that the violation is of the rules
    on rows that concurrent writers leave, of which one stands for all.
    """

    requirement: str
    role: str
    kind: str
    types: frozenset[str] = frozenset()
    race: bool = False

    def covers(self, other: DifferenceClass) -> bool:
        """Whether a difference of a smaller history is of the same class. It may concern fewer types."""
        same = self.requirement == other.requirement or (self.race and other.race)
        fewer = other.types <= self.types and bool(other.types) == bool(self.types)
        return same and self.role == other.role and self.kind == other.kind and (fewer or self.race)


def class_of(step_result: StepResult, violation: Violation) -> DifferenceClass:
    """The class of a violation in a step. It depends on what was observed alone."""
    return class_of_observation(step_result.observation, violation)


def class_of_observation(observation: Observation, violation: Violation) -> DifferenceClass:
    """The same for an observation."""
    race = violation.requirement in ANOMALIES and observation.race is not None
    return DifferenceClass(
        violation.requirement,
        BY_ID[violation.requirement].role,
        "" if race else kind_of(observation, violation),
        _types(observation, violation.columns),
        race,
    )


def kind_of(observation: Observation, violation: Violation) -> str:
    """The kind of a difference in a few words, without any data of the history."""
    requirement = violation.requirement
    if requirement == "read.succeeds":
        return f"refused: {_refusal_of_read(observation, violation.read)}"
    if requirement.startswith("host."):
        return "lost"
    if requirement.startswith("race."):  # the rest of the detail names what raced, which may become less
        return race_kind(violation.detail)
    if requirement == "outcome.commits":
        return _compared(_VERSIONS.search(violation.detail), "got", "wanted") or "versions"
    if requirement.startswith("outcome.") or (
        requirement.startswith("row.") and isinstance(observation.outcome, Rejected)
    ):
        return outcome_kind(observation.outcome, _names(observation))
    rows = rows_kind(violation.detail)
    if rows:
        return rows
    for pattern in (_NULLS, _RECORDS):
        found = _compared(pattern.search(violation.detail), "said", "true")
        if found:
            return found
    return _said(observation, violation) or skeleton(violation.detail, _names(observation))


def race_kind(detail: str) -> str:
    """How operations at once were refused, if the detail says that they were."""
    return ", ".join(sorted({found["kind"] for found in _REFUSED_AT_ONCE.finditer(detail)}))


def rows_kind(detail: str) -> str:
    """Whether rows are missing, were added, or are others; empty if the detail compares no rows."""
    found = _COUNT.search(detail)
    if found is None:
        return COLUMNS if re.search(r"(?:^|: )(?:columns .+|\d+ columns .+) instead of ", detail) else ""
    if found["rest"] == "not expected":
        return ROWS_ADDED
    wanted, got = int(found["wanted"] or found["got"]), int(found["got"])
    return ROWS_MISSING if got < wanted and "; not expected (" not in detail else ROWS_DIFFER


def outcome_kind(outcome: Outcome | None, names: Collection[str] = ()) -> str:
    """The class of an outcome; a refusal with the beginning of its message."""
    if not isinstance(outcome, Rejected):
        return "none" if outcome is None else name_of(outcome)
    return f"Rejected({outcome.kind}) {skeleton(outcome.message, names)}".rstrip()


def skeleton(text: str, names: Collection[str] = ()) -> str:
    """The first words of a message, as far as they hold no data: no numbers, quotations or names of the table."""
    code = _CODE.search(text)
    if code:
        return code[1]
    line = _COLUMN.sub("", _FILE.sub("", text.strip().partition("\n")[0]))
    folded = {name.casefold() for name in names}
    words: list[str] = []
    for word in line.split():
        if _DATA.search(word) or len(words) == _WORDS:
            break
        plain = _WORD.search(word)
        if plain is not None:
            named = any(part in folded for part in plain[0].casefold().split("."))
            words.append("_" if named else plain[0].rstrip("."))
    return " ".join(words)


def _said(observation: Observation, violation: Violation) -> str:
    """Whether a value that was told is too low or too high, if both are numbers."""
    found = _SAID.search(violation.detail)
    if found is None:
        return ""
    what = skeleton(violation.detail, _names(observation))
    try:
        said, true = Decimal(found["said"]), Decimal(found["true"])
    except ArithmeticError:
        return what
    return f"{what}: {TOO_LOW if said < true else TOO_HIGH}"


def _compared(found: re.Match[str] | None, said: str, true: str) -> str:
    if found is None:
        return ""
    return TOO_LOW if int(found[said]) < int(found[true]) else TOO_HIGH


def _refusal_of_read(observation: Observation, read: Operation | None) -> str:
    for look in observation.looks:
        if look.operation == read and look.refused is not None:
            return outcome_kind(look.refused, _names(observation))
    return ""


def _names(observation: Observation) -> set[str]:
    """The names of the table's columns, with those of the fields in them, before and after the step."""
    schemas = [observation.model.schema] + [
        snapshot.schema for snapshot in (observation.before, observation.after) if snapshot is not None
    ]
    return {name for schema in schemas for name in _inner_names(schema)}


def _inner_names(data_type: DataType) -> set[str]:
    match data_type:
        case Struct():
            inner = {name for field in data_type for name in _inner_names(field.type)}
            return {*data_type.names, *inner}
        case Array(element=element):
            return _inner_names(element)
        case Map(key=key, value=value):
            return _inner_names(key) | _inner_names(value)
    return set()


def _types(observation: Observation, columns: Collection[str]) -> frozenset[str]:
    snapshot = observation.after or observation.before
    schema = observation.model.schema if observation.model.exists or snapshot is None else snapshot.schema
    types = {field.name.casefold(): field.type for field in schema}
    return frozenset(family(types[name.casefold()]) for name in columns if name.casefold() in types)


def family(data_type: DataType) -> str:
    """The kind of a type, without its parameters and sizes."""
    match data_type:
        case Primitive(name=name):
            return _FAMILIES.get(name, name)
        case DecimalType():
            return "decimal"
        case Array(element=element):
            return f"array of {family(element)}"
        case Map(key=key, value=value):
            return f"map of {family(key)} to {family(value)}"
        case Struct():
            return "struct"
