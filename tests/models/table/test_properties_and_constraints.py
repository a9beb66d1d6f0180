"""What operations on properties, constraints and table features mean."""

from __future__ import annotations

from delta_models import operations as ops
from delta_models.expressions import Column, IsNotNull, Literal
from delta_models.outcomes import Committed
from delta_models.schema import (
    INTEGER,
)  # fmt: skip
from delta_models.values import Rows
from tests.models.table.nested_rows import (
    DEFAULTS,
    SCHEMA,
    kinds,
    model_history,
    positive,
)


class TestRules:
    def test_a_constraint_must_hold_for_the_rows_that_there_are_and_for_new_ones(self) -> None:
        assert kinds(model_history(), ops.AddConstraint("c", IsNotNull(Column(("part",))))) == {"constraint"}
        now = model_history(ops.AddConstraint("positive", positive()))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((0, None, None),)))) == {"constraint"}
        assert kinds(now, ops.Update((("id", Literal(INTEGER, -1)),))) == {"constraint"}
        assert "Committed" not in kinds(now, ops.AddConstraint("POSITIVE", positive()))

    def test_unknown_breaks_a_constraint(self) -> None:
        now = model_history(ops.AddConstraint("positive", positive()))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((None, None, None),)))) == {"constraint"}

    def test_a_dropped_constraint_no_longer_binds(self) -> None:
        now = model_history(ops.AddConstraint("positive", positive()), ops.DropConstraint("Positive"))
        assert kinds(now, ops.Append(Rows(SCHEMA, ((0, None, None),)))) == {"Committed"}
        assert kinds(now, ops.DropConstraint("positive")) == {"NoChange", "Committed"}
        assert "Committed" not in kinds(now, ops.DropConstraint("positive", if_exists=False))

    def test_features_are_named_once(self) -> None:
        now = model_history(ops.EnableFeature("deletionVectors"))
        assert now.table.supports("deletionVectors")
        assert kinds(now, ops.EnableFeature("deletionVectors")) == {"NoChange", "Committed"}
        assert "Committed" not in kinds(now, ops.EnableFeature("noSuchThing"))
        assert not now.after(ops.DropFeature("deletionVectors")).table.supports("deletionVectors")

    def test_a_feature_that_a_property_brought_may_be_there_already(self) -> None:
        on, off = (
            ops.SetProperties((("delta.enableInCommitTimestamps", value),)) for value in ("true", "false")
        )
        enable = ops.EnableFeature("inCommitTimestamp")
        assert "NoChange" not in kinds(model_history(), enable)
        assert "NoChange" in kinds(model_history(on), enable)
        assert "NoChange" in kinds(
            model_history(on, off, ops.UnsetProperties(("delta.enableInCommitTimestamps",))), enable
        )

    def test_row_tracking_brings_domains(self) -> None:
        assert "NoChange" in kinds(
            model_history(ops.EnableFeature("rowTracking")), ops.EnableFeature("domainMetadata")
        )

    def test_row_tracking_that_is_switched_on_may_take_several_commits_and_leaves_the_rows(self) -> None:
        on = ops.SetProperties((("delta.enableRowTracking", "true"),))
        ends = model_history().expect(on)
        assert ends.fitting_outcomes(Committed(), 3)
        assert not ends.fitting_outcomes(Committed(), 0)
        assert ends.ordinary.table.rows == model_history().table.rows
        assert not model_history(on).expect(on).fitting_outcomes(Committed(), 3)

    def test_a_dropped_feature_takes_the_property_that_asked_for_it(self) -> None:
        table = model_history(
            ops.DropFeature("allowColumnDefaults"), properties=(*DEFAULTS, ("other", "kept"))
        ).table
        assert table.properties == (("other", "kept"),)

    def test_clustering_and_partitioning_exclude_each_other(self) -> None:
        assert model_history(ops.Cluster(("id",))).table.cluster_by == ("id",)
        assert "Committed" not in kinds(model_history(partition_by=("part",)), ops.Cluster(("id",)))
