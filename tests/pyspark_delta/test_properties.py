"""Known properties get the log's spelling, and bad values are refused."""

from __future__ import annotations

import pytest

from pyspark_delta.exceptions import InvalidArgument
from pyspark_delta.properties import checked_properties, refuse_engines_own, spelled_name


def test_names_are_known_whatever_their_case():
    properties = {"DELTA.appendonly": "TRUE", "delta.Feature.DELETIONVECTORS": "supported", "Mine.Own": "x"}
    assert checked_properties(properties) == {
        "delta.appendOnly": "TRUE",
        "delta.feature.deletionVectors": "supported",
        "Mine.Own": "x",
    }
    assert spelled_name("delta.nobodyKnows") == "delta.nobodyKnows"


@pytest.mark.parametrize(
    ("name", "value"),
    (
        ("delta.appendOnly", "yes"),
        ("delta.checkpointInterval", "0"),
        ("delta.checkpointInterval", "ten"),
        ("delta.dataSkippingNumIndexedCols", "-2"),
        ("delta.deletedFileRetentionDuration", "1 month"),
        ("delta.logRetentionDuration", "interval -1 days"),
        ("delta.isolationLevel", "SnapshotIsolation"),
        ("delta.checkpointPolicy", "v3"),
        ("delta.parquet.compression.codec", "zip"),
    ),
)
def test_a_value_without_a_meaning_is_refused_where_it_is_set(name, value):
    with pytest.raises(InvalidArgument, match=name) as refused:
        checked_properties({name.upper(): value})
    assert repr(value) in refused.value.cause


def test_a_name_in_two_spellings_is_refused():
    with pytest.raises(InvalidArgument, match="twice"):
        checked_properties({"delta.appendOnly": "true", "delta.appendonly": "false"})


@pytest.mark.parametrize(
    "name", ("delta.apendOnly", "delta.enableMaterializePartitionColumnsFeature", "DELTA.nosuch")
)
def test_an_unknown_reserved_name_is_refused(name):
    with pytest.raises(InvalidArgument, match=name):
        checked_properties({name: "true"})
    known = {
        "delta.constraints.positive": "id > 0",
        "delta.autoOptimize.autoCompact": "true",
        "deltaless": "x",
    }
    assert checked_properties(known) == known


@pytest.mark.parametrize(
    "name",
    (
        "delta.columnMapping.maxColumnId",
        "DELTA.columnmapping.MAXCOLUMNID",
        "delta.rowTracking.materializedRowIdColumnName",
        "delta.rowtracking.materializedrowcommitversioncolumnname",
    ),
)
def test_a_property_that_only_engines_maintain_is_refused(name):
    with pytest.raises(InvalidArgument, match="only engines maintain"):
        checked_properties({"mine": "x", name: "5"})
    with pytest.raises(InvalidArgument, match="only engines maintain"):
        refuse_engines_own(name)
    refuse_engines_own("delta.columnMapping.mode")
