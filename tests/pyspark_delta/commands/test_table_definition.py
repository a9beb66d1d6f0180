"""Create, name and alter tables; unsupported definitions are refused by name."""

from __future__ import annotations

import pytest

from pyspark_delta import DeltaTable, write
from pyspark_delta.commands import alter
from pyspark_delta.exceptions import (
    AppendOnlyTable,
    ConstraintViolated,
    DeltaAnalysisError,
    InvalidArgument,
    NotADeltaTable,
    TableExists,
    UnsupportedTableFeature,
)
from pyspark_delta.log.delta_log import DeltaLog
from tests.pyspark_delta.small_tables import actions, ids, numbers, several

pytestmark = pytest.mark.slow

VECTORS = {"delta.enableDeletionVectors": "true"}


def test_a_builder_creates_and_replaces(spark, table):
    builder = (
        DeltaTable.create(spark)
        .location(table)
        .comment("numbers")
        .addColumn("id", "bigint", nullable=False, comment="the number")
        .addColumn("p", "string")
        .partitionedBy("p")
        .property("owner", "me")
    )
    created = builder.execute()
    assert created.toDF().schema.simpleString() == "struct<id:bigint,p:string>"
    detail = created.detail().collect()[0]
    assert (detail["description"], detail["partitionColumns"], detail["properties"]) == (
        "numbers", ["p"], {"owner": "me"},
    )  # fmt: skip
    with pytest.raises(TableExists):
        builder.execute()
    DeltaTable.createIfNotExists(spark).location(table).addColumn("x", "int").execute()
    assert created.toDF().columns == ["id", "p"]
    with pytest.raises(ConstraintViolated):
        write(spark.sql("select cast(null as bigint) id, 'x' p"), table, mode="append")
    DeltaTable.createOrReplace(spark).location(table).addColumn("x", "decimal(3,1)").execute()
    assert created.toDF().schema.simpleString() == "struct<x:decimal(3,1)>"
    with pytest.raises(NotADeltaTable):
        DeltaTable.replace(spark).location(table + "2").addColumn("x", "int").execute()


def test_a_table_can_have_a_name_in_the_catalogue(spark, table):
    DeltaTable.create(spark).tableName("named").location(table).addColumn("x", "int").execute()
    DeltaTable.createIfNotExists(spark).tableName("managed").addColumn("x", "int").execute()
    write(spark.sql("select 1 x"), table, mode="append")
    assert DeltaTable.forName(spark, "default.named").toDF().collect() == [(1,)]
    assert DeltaTable.forName(spark, "managed").count() == 0
    assert DeltaTable.forName(spark, f"delta.`{table}`").count() == 1
    with pytest.raises(NotADeltaTable, match="no table nobody"):
        DeltaTable.forName(spark, "nobody")


def test_what_the_engine_can_not_write_is_refused_by_name(spark, table):
    with pytest.raises(UnsupportedTableFeature, match="clustering"):
        DeltaTable.create(spark).location(table).addColumn("x", "int").clusterBy("x")
    with pytest.raises(UnsupportedTableFeature, match="generatedColumns"):
        DeltaTable.create(spark).addColumn("x", "int", generatedAlwaysAs="1")
    target = several(spark, table, (1,))
    with pytest.raises(UnsupportedTableFeature, match="rowTracking"):
        target.addFeatureSupport("rowTracking")
    target.addFeatureSupport("deletionVectors")
    with pytest.raises(UnsupportedTableFeature, match="deletionVectors"):
        target.dropFeatureSupport("deletionVectors")


def test_a_feature_of_writers_is_dropped_once_nothing_uses_it(spark, table):
    target = several(spark, table, (1,))
    alter.add_constraint(spark, DeltaLog.for_path(table), "small", "id < 10")
    with pytest.raises(DeltaAnalysisError, match="the constraint small"):
        target.dropFeatureSupport("checkConstraints")
    target.dropConstraint("small")
    with pytest.raises(InvalidArgument, match="writers only"):
        target.dropFeatureSupport("checkConstraints", True)
    target.dropFeatureSupport("CheckConstraints")
    with pytest.raises(DeltaAnalysisError, match="no feature checkConstraints"):
        target.dropFeatureSupport("checkConstraints")
    detail = target.detail().collect()[0]
    assert (detail["minReaderVersion"], detail["minWriterVersion"]) == (1, 2)
    assert target.history(1).collect()[0]["operation"] == "DROP FEATURE"
    target.addFeatureSupport("domainMetadata")
    target.addFeatureSupport("deletionVectors")
    target.dropFeatureSupport("domainMetadata")
    kept = ["appendOnly", "deletionVectors", "invariants"]
    assert sorted(target.detail().collect()[0]["tableFeatures"]) == kept
    assert ids(spark, table) == [1]


def test_the_protocol_is_raised_and_never_lowered(spark, table):
    target = several(spark, table, (1,))
    target.upgradeTableProtocol(1, 3)
    assert target.detail().collect()[0]["minWriterVersion"] == 3
    target.addFeatureSupport("deletionVectors")
    for versions in ((1, 2), (3, 7)):
        target.upgradeTableProtocol(*versions)
        detail = target.detail().collect()[0]
        assert (detail["minReaderVersion"], detail["minWriterVersion"]) == (3, 7)
        assert sorted(detail["tableFeatures"]) == [
            "appendOnly",
            "checkConstraints",
            "deletionVectors",
            "invariants",
        ]
    for versions in ((3, 5), (1, 8), (0, 2)):
        with pytest.raises(InvalidArgument):
            target.upgradeTableProtocol(*versions)
    assert ids(spark, table) == [1]


def test_properties_columns_and_constraints_change_no_data(spark, table):
    target = several(spark, table, (1, 2))
    log = DeltaLog.for_path(table)
    alter.set_properties(spark, log, VECTORS)
    target.delete("id = 1")
    assert actions(table, "add")[0]["deletionVector"]
    alter.add_constraint(spark, log, "Small", "id < 10")
    with pytest.raises(ConstraintViolated):
        alter.add_constraint(spark, log, "none", "id > 10")
    with pytest.raises(ConstraintViolated):
        write(numbers(spark, 11), table, mode="append")
    alter.drop_constraint(spark, log, "small")
    alter.set_properties(spark, log, {"delta.appendOnly": "true"})
    with pytest.raises(AppendOnlyTable):
        target.delete()
    alter.unset_properties(spark, log, ["delta.appendOnly"])
    target.delete()
    assert target.count() == 0


@pytest.mark.parametrize(
    "name", ("delta.columnMapping.maxColumnId", "delta.rowTracking.materializedRowIdColumnName")
)
def test_nobody_sets_or_unsets_a_property_that_only_engines_maintain(spark, table, name):
    write(numbers(spark, 1), table)
    log = DeltaLog.for_path(table, spark)
    own = {name: "5"}
    replacing = DeltaTable.replace(spark).location(table).addColumn("id", "bigint").property(name, "5")
    for attempt in (
        lambda: alter.set_properties(spark, log, {"mine": "x", **own}),
        lambda: alter.unset_properties(spark, log, ["mine", name.upper()], if_exists=True),
        lambda: alter.unset_properties(spark, log, [name]),
        replacing.execute,
        lambda: (
            DeltaTable.create(spark)
            .location(f"{table}2")
            .addColumn("id", "bigint")
            .property(name, "5")
            .execute()
        ),
        lambda: write(numbers(spark, 1), f"{table}2", properties=own),
        lambda: write(numbers(spark, 1), table, mode="overwrite", overwrite_schema=True, properties=own),
        lambda: DeltaTable.forPath(spark, table).clone(f"{table}2", isShallow=True, properties=own),
    ):
        with pytest.raises(InvalidArgument, match="only engines maintain"):
            attempt()
    assert (log.update().version, dict(log.update().properties)) == (0, {})
    assert not DeltaLog.for_path(f"{table}2", spark).exists()
