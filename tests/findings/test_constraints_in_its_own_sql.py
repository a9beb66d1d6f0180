"""Constraints in DataFusion's own SQL: each form is recognised, and a second fault beside it is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.findings import candidate_causes
from conformance.histories import History, Step
from delta_adapters.delta_rs import DeltaRs
from delta_adapters.deviations import all_causes
from delta_models.expressions import (
    And,
    Between,
    Column,
    Compare,
    Expression,
    In,
    IsNotNull,
    Literal,
    Not,
    Or,
)
from delta_models.operations import AddConstraint, Create, Operation
from delta_models.schema import BINARY, FLOAT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DecimalType, struct
from delta_models.values import Decimal
from tests.findings.second_faults import Form, Tampered
from tests.mutants.stage import play

CAUSE, REQUIREMENT = "delta-rs-constraints-in-its-own-sql", "write.constraint-understood"
MONEY = DecimalType(10, 2)
SCHEMA = struct(
    ("at", TIMESTAMP_NTZ), ("Up", TIMESTAMP), ("x y", LONG), ("b", BINARY), ("f", FLOAT), ("Money", MONEY),
    ("s", STRING),
)  # fmt: skip
AT, UP, BLANK, BYTES, FLOATS, AMOUNT, TEXT = (Column((name,)) for name in SCHEMA.names)
MOMENT, FIRST, LAST = 1_709_209_800_123_456, -62_135_596_800_000_000, 253_402_300_799_999_999
TENTH = 13421773 / 2**27  # the float nearest to 0.1


def of_ntz(micros: int | None) -> Literal:
    return Literal(TIMESTAMP_NTZ, micros)


def of_utc(micros: int | None) -> Literal:
    return Literal(TIMESTAMP, micros)


LATER = Compare(">=", AT, of_ntz(MOMENT))


class KeepsAnotherMoment(Tampered):
    """A constraint is added with a moment that is a microsecond off."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, AddConstraint):
            return replace(operation, check=Compare(">=", AT, of_ntz(MOMENT + 1)))
        return operation


class KeepsAnotherSign(Tampered):
    """A constraint is added with another comparison."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, AddConstraint):
            return replace(operation, check=Compare(">", AT, of_ntz(MOMENT)))
        return operation


class KeepsOneConditionMore(Tampered):
    """A constraint is added with a condition that nobody asked for."""

    def other(self, operation: Operation) -> Operation:
        if isinstance(operation, AddConstraint):
            return replace(operation, check=And((operation.check, Compare("=", TEXT, Literal(STRING, "")))))
        return operation


class WritesTexts(Tampered):
    """Changes the stored text of a constraint by `old` and `new`."""

    old, new = "", ""

    def commit(self, operation: Operation, forms: list[Form]) -> list[Form] | None:
        for form in forms if isinstance(operation, AddConstraint) else ():
            configuration = form.get("metaData", {}).get("configuration", {})
            for key, text in configuration.items():
                configuration[key] = text.replace(self.old, self.new)
        return forms


class CallsAFurtherFunction(WritesTexts):
    """A constraint is stored with another function of its own as well."""

    old, new = "at >=", "date_bin(at) >="


class KeepsAnotherZone(WritesTexts):
    """A moment without a zone is stored as one of UTC."""

    old, new = "Microsecond, None", 'Microsecond, Some("Asia/Tokyo")'


class SpellsTheCastOtherwise(WritesTexts):
    """The cast has another name."""

    old, new = "arrow_cast", "arrow_cast_2"


class CutsTheText(WritesTexts):
    """The text lacks its last bracket."""

    old, new = "None)')", "None)'"


def candidates(engine: DeltaRs, check: Expression, folder: Path) -> Sequence[tuple[str, ...]]:
    steps: list[Operation] = [Create(SCHEMA), AddConstraint("k", check)]
    history = History("lockstep", "dev", 0, 1, tuple(map(Step, steps)))
    played = play(engine, folder / "table", steps)
    assert played.faults == []
    return [
        candidate_causes(result.observation, violation, history, all_causes())
        for result in played.result
        for violation in result.violations
        if violation.requirement == REQUIREMENT
    ]


@pytest.mark.parametrize(
    "check",
    (
        LATER,
        Between(UP, of_utc(-5), of_utc(MOMENT)),
        Not(In(UP, (of_utc(FIRST), of_utc(None), of_utc(LAST)))),
        In(AT, tuple(map(of_ntz, range(5)))),
        Or((Compare("<", BLANK, Literal(LONG, 5)), Compare("=", BYTES, Literal(BINARY, b"\0\xff")))),
        And((Compare("!=", FLOATS, Literal(FLOAT, TENTH)), LATER)),
        And((Compare("<=", AMOUNT, Literal(MONEY, Decimal(150, 2))), IsNotNull(AT))),
        Or((Compare("=", TEXT, Literal(STRING, "it's \\ \"quoted\"")), LATER)),
        And((LATER, Between(UP, of_utc(0), of_utc(LAST)), Compare("!=", BLANK, Literal(LONG, 1)),
             Compare(">", BYTES, Literal(BINARY, b"")), Compare("<", TEXT, Literal(STRING, "z")))),
    ),
)  # fmt: skip
def test_a_constraint_in_its_own_sql_is_explained(check: Expression, tmp_path):
    assert candidates(DeltaRs(), check, tmp_path) == [(CAUSE,)]


@pytest.mark.parametrize(
    "check",
    (
        Compare("=", TEXT, Literal(STRING, 'arrow_cast("Up")')),
        Between(FLOATS, Literal(FLOAT, 0.5), Literal(FLOAT, 2.0)),
        Or((IsNotNull(AT), IsNotNull(BYTES))),
    ),
)
def test_a_constraint_that_others_read_is_no_deviation(check: Expression, tmp_path):
    assert candidates(DeltaRs(), check, tmp_path) == []


@pytest.mark.parametrize(
    "fault",
    (
        KeepsAnotherMoment, KeepsAnotherSign, KeepsOneConditionMore, CallsAFurtherFunction, KeepsAnotherZone,
        SpellsTheCastOtherwise, CutsTheText,
    ),
)  # fmt: skip
def test_a_second_fault_in_a_constraint_is_new(fault: type[Tampered], tmp_path):
    assert candidates(fault(), LATER, tmp_path) == [()]
