"""Parquet files of checkpoints, as old writers left them."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FAR_DAY = 3_663_382  # the first of January in the year 12000


@pytest.mark.parametrize("year", (1, 1582, 2262, 9999))
def test_a_checkpoint_with_old_spark_timestamps_of_any_year_in_its_statistics_is_read(table, year):
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    table.create(protocol)
    action = table.add()
    table.write(action)
    path = table.checkpoint({"protocol": protocol}, table.metadata(), action)
    held = pq.read_table(path)
    adds = held.column("add").combine_chunks()
    moment = pa.array([None, None, datetime(year, 7, 1, tzinfo=UTC)], pa.timestamp("us", tz="UTC"))
    day = pa.array([None, None, FAR_DAY], pa.int32()).cast(pa.date32())
    bounds = pa.StructArray.from_arrays([moment, day], ["when", "day"])
    stats = pa.StructArray.from_arrays([bounds], ["minValues"])
    fields = [(field.name, adds.field(index)) for index, field in enumerate(adds.type)]
    arrays, names = [*(field for _, field in fields), stats], [*(name for name, _ in fields), "stats_parsed"]
    grown = pa.StructArray.from_arrays(arrays, names, mask=adds.is_null())
    columns = {name: grown if name == "add" else held.column(name) for name in held.column_names}
    pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=True)
    assert not table.violations()
    (add,) = table.reader.replay_from(1, table.reader.starting_points(1)[0]).live.values()
    assert add.stats_parsed["minValues"] == {"when": f"{year:04}-07-01 00:00:00", "day": "+12000-01-01"}
