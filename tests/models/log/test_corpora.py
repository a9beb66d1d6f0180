"""The reader reads reference tables made by others; the tables that it cannot read have a reason here."""

from __future__ import annotations

import json
from datetime import UTC
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from delta_models.log import CorruptLog, LogError, LogReader, NoTable, UnsupportedFeature
from delta_models.log.parquet import arrow_to_rows
from delta_models.schema import Struct
from delta_models.values import Row, bag
from tests.corpora import corpus

ZONE = ZoneInfo("America/Los_Angeles")
# Defects of the collection itself: see the README beside the archives.
UNREADABLE = {
    "DV-009_table2_latest_v1": "its data file lies in a folder that is gone",
    "DV-017_full_table_count": "two files are missing",
    "dv_storage_type_i_read_after_inline_dv": "the inline vector holds the framing of a file",
}
# Logs that tell no state, each rightly refused; the others of the golden tables load.
REFUSED = {
    "data-reader-absolute-paths-escaped-chars": CorruptLog,  # no metadata
    "deltalog-invalid-protocol-version": UnsupportedFeature,
    "deltalog-state-reconstruction-without-metadata": CorruptLog,
    "deltalog-state-reconstruction-without-protocol": CorruptLog,
    "no-delta-log-folder": NoTable,
    "versions-not-contiguous": CorruptLog,
}


def written(folder, schema):
    """The expected rows, as they are stored."""
    rows: list[Row] = []
    for path in sorted(folder.glob("**/*.parquet")):
        rows += arrow_to_rows(pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read(), schema).rows
    return bag(schema, rows)


def test_dat_is_read_with_its_metadata():
    cases = 0
    for case in sorted(corpus("dat").iterdir()):
        for expected in sorted((case / "expected").iterdir()):
            metadata = json.loads((expected / "table_version_metadata.json").read_text())
            reader = LogReader(case / "delta")
            state = reader.snapshot(None if expected.name == "latest" else metadata["version"])
            where = f"{case.name} {expected.name}"
            assert (state.version, dict(state.properties)) == (metadata["version"], metadata["properties"]), (
                where
            )
            protocol = (state.protocol.min_reader, state.protocol.min_writer)
            assert protocol == (metadata["min_reader_version"], metadata["min_writer_version"]), where
            observed = bag(state.schema, reader.rows(state).rows)
            assert observed == written(expected / "table_content", state.schema), where
            cases += 1
    assert cases == 29


def unfiltered_reads():
    for case in sorted(corpus("acceptance").iterdir()):
        for path in sorted((case / "specs").glob("*.json")):
            spec = json.loads(path.read_text())
            if spec["type"] == "read" and not {"predicate", "timestamp", "error", "columns"} & spec.keys():
                yield case, path.stem, spec


def test_acceptance_tables_are_read_at_each_version():
    unreadable = {}
    readers: dict[str, LogReader] = {}
    reads = 0
    for case, name, spec in unfiltered_reads():
        reader = readers.setdefault(case.name, LogReader(case / "delta", zone=ZONE, copied=True))
        reads += 1
        try:
            state = reader.snapshot(spec.get("version"))
            rows = reader.rows(state).rows
        except LogError as error:
            unreadable[name] = str(error)
            continue
        assert len(rows) == spec["expected"]["rowCount"], name
        expected = case / "expected" / name / "expected_data"
        if any(expected.glob("*.parquet")):
            assert bag(state.schema, rows) == written(expected, state.schema), name
    assert sorted(unreadable) == sorted(UNREADABLE), unreadable
    assert reads > 400


def test_acceptance_change_feeds_are_those_of_the_log():
    feeds = 0
    for case in sorted(corpus("acceptance").iterdir()):
        for path in sorted((case / "specs").glob("*.json")):
            spec = json.loads(path.read_text())
            if spec["type"] != "cdf":
                continue
            reader = LogReader(case / "delta", zone=ZONE, copied=True)
            changes = reader.changes(spec["startVersion"], spec.get("endVersion"))
            expected = case / "expected" / path.stem / "expected_data"
            if any(
                expected.glob("*.parquet")
            ):  # the times of the commits are lost, so the last column is left out
                kept = Struct(changes.schema.fields[:-1])
                assert bag(kept, [row[:-1] for row in changes.rows]) == written(expected, kept), path.stem
            feeds += 1
    assert feeds == 31


@pytest.mark.parametrize("name", ("kernel-golden", "connectors-golden"))
def test_golden_logs_load_or_are_refused_for_the_right_reason(name):
    refused = {}
    for case in sorted(corpus(name).iterdir()):
        folder = case / "delta" if (case / "delta").is_dir() else case
        tables = sorted(folder.iterdir()) if case.name == "hive" else [folder]
        for table in tables:
            if case.name.startswith("log-store-") or case.name.startswith("data-reader-date-types-"):
                continue
            try:
                LogReader(table).snapshot()
            except LogError as error:
                refused[case.name] = type(error)
    assert refused == REFUSED


# Written in Los Angeles, and expected as if partition values without an offset belonged there; the others in UTC.
WRITTEN_ELSEWHERE = {"data-reader-partition-values": ZONE}


LARGE = "parquet-decimal-dictionaries"  # a million rows each


def judge(case):
    reader = LogReader(case / "delta", zone=WRITTEN_ELSEWHERE.get(case.name, UTC))
    state = reader.snapshot()
    assert bag(state.schema, reader.rows(state).rows) == written(case / "expected", state.schema), case.name


def golden():
    return [case for case in sorted(corpus("kernel-golden").iterdir()) if (case / "expected").is_dir()]


def test_kernel_golden_tables_hold_the_expected_rows():
    assert len(golden()) == 71  # the two large ones: tests/corpus/test_reference_tables.py
    for case in golden():
        if not case.name.startswith(LARGE):
            judge(case)
