"""deltalake removes a file under another spelling of its path than that of the add. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = Path(tempfile.mkdtemp())
deltalake.write_deltalake(str(folder), pa.table({"id": [1], "part": ["a*b"]}), partition_by=["part"])
commit = folder / "_delta_log" / f"{0:020d}.json"
lines = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
added = next(line["add"] for line in lines if "add" in line)
file = folder / f"{deltalake.__version__}.parquet"
next(folder.glob("part=*/*.parquet")).rename(file)
(folder / "part=a*b").mkdir(exist_ok=True)
file.rename(folder / "part=a*b" / "f.parquet")
added["path"] = "part=a*b/f.parquet"  # as delta-spark spells it: RFC 2396 leaves * as it is
commit.write_text("\n".join(map(json.dumps, lines)), "utf-8")

table = deltalake.DeltaTable(str(folder))
table.delete("part = 'a*b'")
text = (folder / "_delta_log" / f"{1:020d}.json").read_text("utf-8")
removed = [json.loads(line)["remove"]["path"] for line in text.splitlines() if '"remove"' in line]
left = deltalake.DeltaTable(str(folder)).to_pyarrow_table().num_rows
if removed != [added["path"]] or left:
    print(f"DEVIATION: added {added['path']}, removed {removed}, {left} rows are left of none")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
