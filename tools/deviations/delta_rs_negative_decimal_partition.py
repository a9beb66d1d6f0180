"""deltalake cannot read a table after it has written -0.01 into a partition column. Needs deltalake and pyarrow."""

import json
import os
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa

folder = Path(tempfile.mkdtemp())
rows = pa.table({"id": [1], "part": pa.array([Decimal("-0.01")], pa.decimal128(10, 2))})
try:
    deltalake.write_deltalake(str(folder), rows, partition_by=["part"])
except Exception as error:  # noqa: BLE001 - it commits, and then cannot read what it wrote
    print(f"after the commit: {str(error).splitlines()[0]}")
commit = folder / "_delta_log" / f"{0:020d}.json"
add = next(json.loads(line)["add"] for line in commit.read_text("utf-8").splitlines() if '"add"' in line)
said = add["partitionValues"]["part"]
try:
    right = Decimal(said) == Decimal("-0.01")
except ArithmeticError:
    right = False
if not right:
    print(f"DEVIATION: -0.01 is written as {said}")
    sys.stdout.flush()
    os._exit(1)  # deltalake may abort while Python ends
print("no deviation")
