"""A compaction of the log by deltalake leaves null partition values out. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = Path(tempfile.mkdtemp())
schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
for number in (1, 2):
    rows = pa.table({"id": [number], "name": [None]}, schema)
    deltalake.write_deltalake(str(folder), rows, partition_by=["name"], mode="append")
deltalake.DeltaTable(str(folder)).compact_logs(starting_version=0, ending_version=1)
compaction = next((folder / "_delta_log").glob("*.compacted.json"))
adds = [json.loads(line)["add"] for line in compaction.read_text("utf-8").splitlines() if '"add"' in line]
said = [add["partitionValues"] for add in adds]
if any("name" not in each for each in said):
    print(f"DEVIATION: the table is partitioned by name, {compaction.name} has the partition values {said}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
