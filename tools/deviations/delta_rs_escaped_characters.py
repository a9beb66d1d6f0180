"""deltalake reads U+20000 as U+10000 where a commit spells it in two escapes. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = Path(tempfile.mkdtemp())
deltalake.write_deltalake(str(folder), pa.table({"id": [1], "part": ["\U00020000"]}), partition_by=["part"])
commit = folder / "_delta_log" / f"{0:020d}.json"
lines = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
commit.write_text("\n".join(map(json.dumps, lines)), "utf-8")  # the same JSON, in US-ASCII

read = deltalake.DeltaTable(str(folder)).to_pyarrow_table()["part"].to_pylist()
if read != ["\U00020000"]:
    print(f"DEVIATION: the log says U+20000, deltalake {deltalake.__version__} reads U+{ord(read[0]):X}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
