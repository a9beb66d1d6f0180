import jsonschema
import pytest

from delta_adapters.capabilities import BadCapabilities, Capabilities, functions_of, options_of, schema
from delta_adapters.delta_rs import DeltaRs
from delta_models.expressions import And, Call, Column, Compare, Literal, Not
from delta_models.operations import (
    AddColumn,
    Append,
    AtState,
    AtTime,
    AtVersion,
    Create,
    Delete,
    Drop,
    EnableFeature,
    Merge,
    MergeClause,
    Overwrite,
    Read,
    Restore,
    SetProperties,
    Update,
    Vacuum,
)
from delta_models.schema import LONG, STRING, VARIANT, Array, DecimalType, Field, struct
from delta_models.values import Rows
from delta_models.wire_names import ALPHABET

DOCUMENT = {
    "format": 1,
    "operations": {
        "Create": {"options": ["if-not-exists"]},
        "Append": {"options": ["files"]},
        "Delete": {},
        "Merge": {"options": ["*"]},
        "Read": {"options": ["version"], "note": "SELECT"},
        "Vacuum": {"options": ["retention"]},
        "SetProperties": {},
        "AddColumn": {},
        "EnableFeature": {},
    },
    "types": {"data": ["long", "string", "decimal", "array"], "partition": ["string"]},
    "features": {"read": ["deletionVectors"], "write": []},
    "properties": ["delta.checkpointInterval"],
    "storages": ["local"],
    "guarantees": {"commits-of-several-processes-on-local-files": False},
}
SCHEMA = struct(("id", LONG), ("letter", STRING))
ROWS = Rows(SCHEMA, ())
ONE = Literal(LONG, 1)


@pytest.fixture
def claims():
    return Capabilities.validated(DOCUMENT)


def test_the_published_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    ("change", "complaint"),
    (
        ({"format": 2}, "at format: 1 was expected"),
        ({"operations": {"append": {}}}, "at operations"),
        ({"types": {"data": ["bigint"], "partition": []}}, "at types/data/0"),
        ({"storages": []}, "at storages"),
        ({"guarantees": {}}, "commits-of-several-processes-on-local-files"),
        ({"colour": "blue"}, "colour"),
    ),
)
def test_a_document_that_does_not_follow_the_schema_is_refused_with_the_place(change, complaint):
    with pytest.raises(BadCapabilities, match=complaint):
        Capabilities.validated({**DOCUMENT, **change})


@pytest.mark.parametrize(
    ("operation", "reason"),
    (
        (Append(ROWS), None),
        (Append(ROWS, files=3), None),
        (Append(ROWS, schema_mode="merge"), "does not claim Append with schema-merge"),
        (Append(ROWS, by_name=False), "does not claim Append with by-position"),
        (Append(Rows(struct(("v", VARIANT)), ())), "does not claim columns of type variant"),
        (SetProperties((("mine", "1"),)), None),
        (
            SetProperties((("delta.appendOnly", "true"),)),
            "does not claim the table property delta.appendOnly",
        ),
        (AddColumn(Field("v", VARIANT)), "does not claim columns of type variant"),
        (EnableFeature("deletionVectors"), "does not claim to write deletionVectors"),
        (Drop(), "does not claim Drop"),
        (Create(SCHEMA, ("letter",)), None),
        (Create(SCHEMA, ("id",)), "does not claim partition columns of type long"),
        (Create(SCHEMA, properties=(("delta.checkpointInterval", "3"), ("mine", "1"))), None),
        (
            Create(SCHEMA, properties=(("delta.enableDeletionVectors", "true"),)),
            "delta.enableDeletionVectors",
        ),
        (Create(struct(("a", Array(Array(LONG))))), "nested types"),
        (Create(struct(("d", DecimalType(38, 10)))), None),
        (Merge(ROWS, ONE, (MergeClause("not-matched-by-source", "delete"),)), None),
        (Read(), None),
        (Read(AtVersion(3)), None),
        (Read(AtState(3)), None),
        (Read(AtTime(3)), "does not claim Read with time"),
        (Read(where=Compare("=", Column(("id",)), ONE)), "does not claim Read with where"),
        (Vacuum(0.0), None),
        (Vacuum(dry_run=True), "does not claim Vacuum with dry-run"),
        (Delete(Not(Compare("=", Call("+", (ONE, ONE), LONG), ONE))), r"does not claim the function \+"),
    ),
    ids=str,
)
def test_an_operation_is_covered_if_all_that_it_asks_for_is_claimed(claims, operation, reason):
    answer = claims.covers(operation)
    if reason is None:
        assert answer is None
    else:
        with pytest.raises(AssertionError, match=reason):
            raise AssertionError(answer)


def test_features_are_claimed_for_reading_and_for_writing_apart(claims):
    assert claims.covers_features({"deletionVectors"}, writing=False) is None
    assert (
        claims.covers_features({"deletionVectors"}, writing=True) == "does not claim to write deletionVectors"
    )


def test_the_options_of_an_operation_have_names():
    merge = Merge(
        ROWS,
        ONE,
        (MergeClause("matched", "update", condition=ONE), MergeClause("matched", "delete")),
        schema_evolution=True,
    )
    assert options_of(merge) == {
        "matched.update", "matched.delete", "conditions", "several-clauses", "schema-evolution",
    }  # fmt: skip
    write = Overwrite(ROWS, where=ONE, files=2, schema_mode="overwrite", transaction=("app", 1))
    assert options_of(write) == {"where", "files", "schema-overwrite", "transaction"}
    assert options_of(Restore(AtState(1))) == {"version"}


def test_functions_are_found_at_any_depth():
    like = Call("like", (Call("upper", (Column(("letter",)),), STRING), Literal(STRING, "a%")), STRING)
    assert functions_of(Update((("letter", Literal(STRING, "")),), And((ONE, Not(like))))) == {
        "like",
        "upper",
    }


def test_delta_rs_claims_only_what_is_in_the_alphabet():
    claims = Capabilities.validated(DeltaRs().capabilities)
    assert set(claims.operations) <= set(ALPHABET)
