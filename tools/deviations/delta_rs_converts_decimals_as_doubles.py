"""convert_to_deltalake writes a minimum that lies above the smallest decimal. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

folder = Path(tempfile.mkdtemp())
numbers = [Decimal("-99999999.99"), Decimal("0.01")]
pq.write_table(pa.table({"id": pa.array(numbers, pa.decimal128(10, 2))}), folder / "a.parquet")
deltalake.convert_to_deltalake(str(folder))
commit = folder / "_delta_log" / f"{0:020d}.json"
add = next(json.loads(line)["add"] for line in commit.read_text("utf-8").splitlines() if '"add"' in line)
said = json.loads(add["stats"], parse_float=Decimal)["minValues"]["id"]
if said != numbers[0]:
    print(f"DEVIATION: the minimum is {numbers[0]}, the statistics say {said}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
