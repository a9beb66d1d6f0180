"""deltalake differs from delta-spark where the protocol is silent. The rules of class reference report it as legal."""

from __future__ import annotations

from delta_adapters.delta_rs import DeltaRs
from delta_models import operations as ops
from delta_models.requirements import BY_ID
from delta_models.schema import LONG, STRING, struct
from delta_models.values import Rows
from tests.mutants.stage import ALWAYS, play

TWO = struct(("part", STRING), ("id", LONG))
MORE = struct(("part", STRING), ("id", LONG), ("more", LONG))
GROWN = ops.Append(Rows(MORE, (("a", 1, 2),)), schema_mode="merge")


def test_a_schema_that_grows_gets_its_partition_columns_moved(tmp_path):
    played = play(DeltaRs(), tmp_path / "table", (ops.Create(TWO, ("part",)), GROWN))
    assert played.broken == {"write.column-order"} | ALWAYS, played.describe()
    assert "id, part, more" in played.describe().replace("'", "")


def test_a_schema_that_grows_keeps_its_order_where_partition_columns_are_the_last(tmp_path):
    for at, by in enumerate(((), ("id",))):
        played = play(DeltaRs(), tmp_path / str(at), (ops.Create(TWO, by), GROWN))
        assert played.broken == ALWAYS, played.describe()
        assert played.evidence["write.column-order"] == 1


def test_a_transaction_that_was_seen_is_written_again(tmp_path):
    once = ops.Append(Rows(TWO, (("a", 1),)), transaction=("app", 1))
    later = ops.Append(Rows(TWO, (("a", 2),)), transaction=("app", 2))
    played = play(DeltaRs(), tmp_path / "again", (ops.Create(TWO), once, once))
    assert played.broken == {"outcome.repeated-transaction-skipped"} | ALWAYS, played.describe()
    assert play(DeltaRs(), tmp_path / "later", (ops.Create(TWO), once, later)).broken == ALWAYS


def test_these_rules_fail_no_engine_that_does_not_follow_delta_spark():
    rules = ("write.column-order", "outcome.repeated-transaction-skipped")
    assert {BY_ID[rule].strength for rule in rules} == {"reference"}
