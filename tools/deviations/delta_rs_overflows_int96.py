"""deltalake rewrites a timestamp of 1582 that is stored as INT96, as Spark does. Needs deltalake and pyarrow."""

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
when = dt.datetime(1582, 10, 15, tzinfo=dt.UTC)
rows = pa.table({"id": [1, 2], "when": pa.array([when, when], pa.timestamp("us", "UTC"))})
deltalake.write_deltalake(str(folder), rows)
file = next(folder.glob("*.parquet"))
# As Spark writes it: Arrow's own schema in the footer would say that these are microseconds.
pq.write_table(rows, file, use_deprecated_int96_timestamps=True, store_schema=False)
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
table = deltalake.DeltaTable(str(folder))
query = deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t WHERE id = 2")
found = [pa.table(query)["when"].to_pylist()[0]]
table.delete("id = 1")  # the other row is copied
(path,) = table.file_uris()
found.append(pq.read_table(path)["when"].to_pylist()[0])
if found != [when, when]:
    read, left = found
    print(
        f"DEVIATION: the file holds {when}, deltalake {deltalake.__version__} reads {read}, and a delete leaves {left}"
    )
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
