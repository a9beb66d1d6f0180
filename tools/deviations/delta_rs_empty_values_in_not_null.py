"""deltalake commits null in a NOT NULL partition column for an empty text. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from pathlib import Path

import deltalake
import pyarrow as pa

folder = tempfile.mkdtemp()
schema = pa.schema([pa.field("id", pa.int64()), pa.field("part", pa.string(), nullable=False)])
deltalake.DeltaTable.create(folder, schema, partition_by=["part"])
said = "nothing"
try:
    deltalake.write_deltalake(folder, pa.table({"id": [1], "part": [""]}, schema=schema), mode="append")
except (ValueError, deltalake.exceptions.DeltaError) as error:
    said = f"{type(error).__name__}: {error}"
commit = Path(folder, "_delta_log", f"{1:020}.json")
if not commit.exists():
    print(f"no deviation, it is refused: {said}")
    sys.exit(0)
adds = [json.loads(line)["add"] for line in commit.read_text().splitlines() if line.startswith('{"add"')]
values = [add["partitionValues"] for add in adds]
if values == [{"part": ""}]:
    print(f'DEVIATION: version 1 has the partition values {values}, and "" is null; the write said {said}')
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print(f"no deviation: {values}")
