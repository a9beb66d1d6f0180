"""deltalake cannot read a timestamp of 1582 that is stored as INT96, as Spark does. Needs deltalake and pyarrow."""

import datetime as dt
import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

folder = Path(tempfile.mkdtemp())
when = dt.datetime(1582, 10, 4, tzinfo=dt.UTC)
rows = pa.table({"when": pa.array([when], pa.timestamp("us", "UTC"))})
deltalake.write_deltalake(str(folder), rows)
file = next(folder.glob("*.parquet"))
pq.write_table(rows, file, use_deprecated_int96_timestamps=True)
commit = folder / "_delta_log" / f"{0:020d}.json"
lines = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
for line in lines:
    if "add" in line:
        line["add"]["size"] = file.stat().st_size
commit.write_text("\n".join(map(json.dumps, lines)), "utf-8")

right = pq.read_table(file, coerce_int96_timestamp_unit="us")["when"].to_pylist()[0]
if right.replace(tzinfo=dt.UTC) != when:
    print(f"pyarrow itself reads {right}")
    sys.exit(3)
try:
    found = str(deltalake.DeltaTable(str(folder)).to_pyarrow_table()["when"].to_pylist()[0])
except Exception as error:  # noqa: BLE001 - whatever it raises, the read has failed
    found = f"{type(error).__name__}: {str(error).splitlines()[0]}"
if not found.startswith("1582-10-04"):
    print(f"DEVIATION: the file holds {when}, deltalake {deltalake.__version__} reads {found}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
