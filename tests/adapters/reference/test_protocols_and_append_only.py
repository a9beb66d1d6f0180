"""The reference engine writes tables of every writer version, and takes no rows of append-only tables away."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from delta_adapters.delta_rs import DeltaRs
from delta_adapters.reference import Reference
from delta_models import operations as ops
from delta_models.expressions import Column, Compare, Literal
from delta_models.log import LogReader
from delta_models.outcomes import Committed, Rejected, Unsupported
from delta_models.schema import LONG, TIMESTAMP, struct
from delta_models.values import Rows

SCHEMA = struct(("id", LONG))
ONLY = (("delta.appendOnly", "true"),)


def rows(*values: int) -> Rows:
    return Rows(SCHEMA, tuple((value,) for value in values))


def engine_at(table: Path) -> Reference:
    engine = Reference()
    engine.open(str(table))
    return engine


def ids_of(table: Path) -> list[int]:
    return sorted(deltalake.DeltaTable(table).to_pyarrow_table()["id"].to_pylist())


def test_a_table_of_an_older_writer_version_is_written_under_it(tmp_path):
    deltalake.DeltaTable.create(
        tmp_path, pa.schema([("id", pa.int64())]), configuration={"delta.enableChangeDataFeed": "true"}
    )
    assert deltalake.DeltaTable(tmp_path).protocol().min_writer_version == 4
    assert engine_at(tmp_path).execute(ops.Append(rows(1, 2)), "") == Committed()
    assert ids_of(tmp_path) == [1, 2]
    assert LogReader(tmp_path).snapshot().protocol.min_writer == 4


def test_a_constraint_in_the_words_of_another_engine_is_told_as_not_supported(tmp_path):
    moments = struct(("at", TIMESTAMP))
    check = Compare("=", Column(("at",)), Literal(TIMESTAMP, 0))
    other = DeltaRs()
    other.open(str(tmp_path))
    assert other.execute(ops.Create(moments), "") == Committed()
    assert other.execute(ops.AddConstraint("known", check), "") == Committed()
    outcome = engine_at(tmp_path).execute(ops.Append(Rows(moments, ((0,),))), "")
    assert isinstance(outcome, Unsupported)
    assert "arrow_cast" in outcome.reason


def test_an_upgrade_to_table_features_names_all_that_the_version_implied(tmp_path):
    deltalake.DeltaTable.create(
        tmp_path, pa.schema([("id", pa.int64())]), configuration={"delta.enableChangeDataFeed": "true"}
    )
    assert engine_at(tmp_path).execute(ops.EnableFeature("domainMetadata"), "") == Committed()
    protocol = LogReader(tmp_path).snapshot().protocol
    assert protocol.min_writer == 7
    implied = {"appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"}
    assert set(protocol.writer_features or ()) == implied | {"domainMetadata"}


@pytest.mark.parametrize(
    "operation",
    (
        ops.Restore(ops.AtVersion(1)),
        ops.Replace(SCHEMA),
        ops.CreateAs(rows(1), replace=True),
    ),
    ids=("restore", "replace", "create as"),
)
def test_what_takes_rows_of_an_append_only_table_away_is_refused(tmp_path, operation):
    engine = engine_at(tmp_path)
    for step in (ops.Create(SCHEMA, properties=ONLY), ops.Append(rows(1)), ops.Append(rows(2))):
        assert engine.execute(step, "") == Committed()
    refused = engine.execute(operation, "")
    assert isinstance(refused, Rejected)
    assert refused.kind == "append-only"
    assert ids_of(tmp_path) == [1, 2]


def test_a_restore_that_takes_nothing_away_is_done(tmp_path):
    engine = engine_at(tmp_path)
    steps = (
        ops.Create(SCHEMA),
        ops.Append(rows(1)),
        ops.Append(rows(2)),
        ops.Delete(),
        ops.SetProperties(ONLY),
    )
    for step in steps:
        assert engine.execute(step, "") == Committed()
    assert engine.execute(ops.Restore(ops.AtVersion(2)), "") == Committed()
    assert ids_of(tmp_path) == [1, 2]
