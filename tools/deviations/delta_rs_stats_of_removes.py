"""deltalake copies the statistics of a remove, legal in a commit, into its checkpoint. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

folder = Path(tempfile.mkdtemp())
deltalake.write_deltalake(str(folder), pa.table({"id": [1, 2]}))
deltalake.DeltaTable(str(folder)).delete()
commit = folder / "_delta_log" / f"{1:020d}.json"
lines = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
for line in lines:
    if "remove" in line:
        line["remove"]["stats"] = '{"numRecords":2}'  # as delta-spark writes it
commit.write_text("\n".join(map(json.dumps, lines)), "utf-8")

deltalake.DeltaTable(str(folder)).create_checkpoint()
held = pq.read_table(folder / "_delta_log" / f"{1:020d}.checkpoint.parquet")["remove"].to_pylist()
stats = [each["stats"] for each in held if each and each.get("stats") is not None]
if stats:
    print(f"DEVIATION: a remove in the checkpoint has the stats {stats[0]}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
